"""What flytekit 1.16 itself says: that our words are its words, and that it does what the table says it does."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import pytest

from ptcompile import flyte

pytest.importorskip("flytekit")
plugin = pytest.importorskip("flytekitplugins.kfpytorch")


@pytest.mark.parametrize("name", ["PyTorch", "Master", "Worker", "RunPolicy", "Elastic"])
def test_our_words_have_their_fields_and_defaults(name: str) -> None:
    ours, theirs = getattr(flyte, name)(), getattr(plugin, name)()
    assert _plain(ours) == _plain(theirs)
    assert [one.name for one in dataclasses.fields(ours)] == [one.name for one in dataclasses.fields(theirs)]


@pytest.mark.parametrize("name", ["RestartPolicy", "CleanPodPolicy"])
def test_our_enums_have_their_members(name: str) -> None:
    ours, theirs = getattr(flyte, name), getattr(plugin, name)
    assert [one.name for one in ours] == [one.name for one in theirs]
    # the defect that makes us go by the name
    first, *others = theirs
    assert all(first == one for one in others)


def test_resources_have_their_fields() -> None:
    from flytekit import Resources

    assert _plain(flyte.Resources()) == {one.name: None for one in dataclasses.fields(Resources)}


def test_what_flytekit_loses() -> None:
    zeros = plugin.RunPolicy(plugin.CleanPodPolicy.ALL, 0, None, 0)
    custom = _custom(plugin.Elastic(nnodes=2, monitor_interval=9, run_policy=zeros))
    assert custom["runPolicy"] == {"cleanPodPolicy": "CLEANPOD_POLICY_ALL"}
    assert "monitorInterval" not in str(custom)
    assert _custom(plugin.Elastic(nnodes=1, run_policy=zeros)) in (None, {})
    assert _custom(plugin.Elastic(nnodes="1"))["elasticConfig"]["maxReplicas"] == 1


def test_secrets_have_the_names_that_flytekit_looks_up() -> None:
    from flytekit import Secret, current_context

    looked_up = current_context().secrets.get_secrets_env_var("g", "k", "v1")
    one = Secret(group="g", key="k", group_version="v1", mount_requirement=Secret.MountType.ENV_VAR)
    spec = flyte.task(name="job", image="i", task_config=plugin.Elastic(), script="t.py", secret_requests=[one])
    assert [*spec.spec.env] == [looked_up]


def _custom(config: Any) -> Any:
    import flytekit
    from flytekit.configuration import Image, ImageConfig, SerializationSettings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = flytekit.task(task_config=config)(_function)
    image = Image(name="i", fqn="i", tag="1")
    settings = SerializationSettings(image_config=ImageConfig(image, [image]), project="p", domain="d", version="1")
    return made.get_custom(settings)


def _function() -> None:
    """Stand for a task's function."""


def _plain(value: Any) -> Any:
    return {one.name: _nested(getattr(value, one.name)) for one in dataclasses.fields(value)}


def _nested(value: Any) -> Any:
    return _plain(value) if dataclasses.is_dataclass(value) else value
