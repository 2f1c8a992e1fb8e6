"""The behavior of flytekit 1.16: it has the same classes as ptcompile.flyte and matches the compatibility table."""

from __future__ import annotations

import dataclasses
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile import flyte
from ptcompile.flyte import run

flytekit = pytest.importorskip("flytekit")
plugin = pytest.importorskip("flytekitplugins.kfpytorch")


@pytest.mark.parametrize("name", ["PyTorch", "Master", "Worker", "RunPolicy", "Elastic"])
def test_our_classes_have_the_fields_and_defaults_of_flytekit(name: str) -> None:
    ours, theirs = getattr(flyte, name)(), getattr(plugin, name)()
    assert _plain(ours) == _plain(theirs)
    assert [field.name for field in dataclasses.fields(ours)] == [
        field.name for field in dataclasses.fields(theirs)
    ]


@pytest.mark.parametrize("name", ["RestartPolicy", "CleanPodPolicy"])
def test_our_enums_have_the_members_of_flytekit(name: str) -> None:
    ours, theirs = getattr(flyte, name), getattr(plugin, name)
    assert [one.name for one in ours] == [one.name for one in theirs]
    # the defect that makes ptcompile compare names
    first, *others = theirs
    assert all(first == other for other in others)


def test_resources_have_the_fields_of_flytekit() -> None:
    assert _plain(flyte.Resources()) == {
        field.name: None for field in dataclasses.fields(flytekit.Resources)
    }


def test_flytekit_loses_zeros_and_minimums() -> None:
    pytest.importorskip("torch")
    zeros = plugin.RunPolicy(plugin.CleanPodPolicy.ALL, 0, None, 0)
    custom = _custom(plugin.Elastic(nnodes=2, monitor_interval=9, run_policy=zeros))
    assert custom["runPolicy"] == {"cleanPodPolicy": "CLEANPOD_POLICY_ALL"}
    assert "monitorInterval" not in str(custom)
    assert _custom(plugin.Elastic(nnodes=1, run_policy=zeros)) in (None, {})
    assert _custom(plugin.Elastic(nnodes="1"))["elasticConfig"]["maxReplicas"] == 1


def test_secrets_have_the_names_that_flytekit_looks_up() -> None:
    secret = flytekit.Secret
    looked_up = flytekit.current_context().secrets.get_secrets_env_var("g", "k", "v1")
    flyte_secret = secret(
        group="g", key="k", group_version="v1", mount_requirement=secret.MountType.ENV_VAR
    )
    spec = flyte.task(
        name="job",
        image="i",
        task_config=plugin.Elastic(),
        script="t.py",
        secret_requests=[flyte_secret],
    )
    assert [*spec.spec.env] == [looked_up]


def _custom(config: Any) -> Any:
    config_of = pytest.importorskip("flytekit.configuration")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = flytekit.task(task_config=config)(_function)
    image = config_of.Image(name="i", fqn="i", tag="1")
    images = config_of.ImageConfig(image, [image])
    settings = config_of.SerializationSettings(
        image_config=images, project="p", domain="d", version="1"
    )
    return made.get_custom(settings)


def _function() -> None:
    """Stand in for a task's function."""


def _plain(value: Any) -> Any:
    return {field.name: _nested(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _nested(value: Any) -> Any:
    return _plain(value) if dataclasses.is_dataclass(value) else value


def test_an_unchanged_flytekit_task_is_compiled() -> None:
    pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = flytekit.task(
            task_config=plugin.Elastic(nnodes="2:4", nproc_per_node=1),
            requests=flytekit.Resources(cpu="1", gpu="1"),
            environment={"A": "1"},
            retries=3,
            timeout=60,
            interruptible=True,
            container_image="a/b:1",
            secret_requests=[flytekit.Secret(group="g", key="k")],
            labels={"x": "y"},
            cache=True,
            cache_version="1",
        )(_function)
    converted = flyte.from_task(made, script="t.py").convert("job")
    lost = {problem.path for problem in converted.problems if problem.severity != "note"}
    assert lost == {("cache",), ("cache_version",)}
    spec = converted.document["spec"]
    assert spec["resources"] == {"cpu": 1, "gpu": 1}
    assert spec["runPolicy"] == {
        "cleanPodPolicy": "None",
        "backoffLimit": 3,
        "activeDeadlineSeconds": 60,
    }
    assert spec["image"] == "a/b:1"
    assert spec["spot"] is True
    assert spec["podLabels"] == {"x": "y"}
    assert spec["volumeMounts"][0]["mountPath"] == "/etc/flyte/secrets/g"
    anywhere = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": {"spot": {}}}
    manifest = ptcompile.compile(converted.document, cluster=anywhere).unwrap()[0]
    volumes = manifest["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["volumes"]
    # the plugin has added its volume to the template, so ptcompile adds none
    assert [volume["name"] for volume in volumes] == ["secret-0", "shm"]


def test_times_are_those_of_pyflyte_run() -> None:
    click_types = pytest.importorskip("flytekit.interaction.click_types")
    for text in (
        "1:24",
        ":22",
        "10 days",
        "1h30m",
        "1.5 hours",
        "1w3d2h32m",
        "2 days, 3:04:05",
        "5 hr, 10 mins",
        "-1:10",
    ):
        assert run.value_of(text, timedelta) == click_types.DurationParamType().convert(
            text, None, None
        )
    for text in ("2026-05-01", "2026-05-01T12:00:00", "2026-05-01 12:00:00", "2026-05-04 - 3 days"):
        read = click_types.DateTimeType().convert(text, None, None)
        assert run.value_of(text, datetime) == read.replace(tzinfo=UTC)


def test_the_pod_reads_files_and_folders_as_flytekit_does(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("digits")
    file = run.load_stored(run.value_of(str(tmp_path / "x.txt"), flytekit.FlyteFile))
    assert isinstance(file, flytekit.FlyteFile)
    assert Path(file).read_text() == "digits"
    folder = run.load_stored(run.value_of(str(tmp_path), flytekit.FlyteDirectory))
    assert [Path(item).name for item in Path(folder).iterdir()] == ["x.txt"]
    remote = run.load_stored(run.value_of("s3://bucket/x", flytekit.FlyteFile))
    assert (remote.remote_source, run.plain_data(remote)) == ("s3://bucket/x", "s3://bucket/x")
    table = run.load_stored(run.value_of("s3://bucket/table", flytekit.StructuredDataset))
    assert table.literal.uri == "s3://bucket/table"
