"""The pass `env`: the profile's variables first, then the user's in their order, then OMP_NUM_THREADS."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.env import env
from ptcompile.ir.job import Launch
from tests import making

OMP = {"name": "OMP_NUM_THREADS", "value": "1"}
ONE = making.LAUNCH._replace(nproc_per_node=1)
NVIDIA = "nvidia.com/gpu"


def run(
    own: list[dict[str, Any]], launch: Launch | None, defaults: dict[str, str], **limits: str
) -> list[Any]:
    named = {NVIDIA if name == "gpu" else name: amount for name, amount in limits.items()}
    before = making.job(making.template(limits=named, main={"env": tuple(own)}), launch=launch)
    where = making.context(making.profile({"defaults": {"env": defaults}}))
    after = env(before, where)
    assert env(after, where) == after
    return list(after.roles[0].template.main.env)


def test_the_user_s_order_is_kept() -> None:
    own = [{"name": name, "value": ""} for name in ("Z", "A", "M", "B")]
    assert run(own, ONE, {}) == own


def test_the_profile_s_variables_come_first_for_references() -> None:
    own = [{"name": "CACHE", "value": "$(SCRATCH)/cache"}]
    wanted = [{"name": "SCRATCH", "value": "/scratch"}, {"name": "REGION", "value": "eu"}, *own]
    assert run(own, ONE, {"SCRATCH": "/scratch", "REGION": "eu"}) == wanted


@pytest.mark.parametrize(
    "mine",
    [
        {"name": "REGION", "value": "us"},
        {"name": "REGION", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ],
)
def test_the_user_overrides_the_profile(mine: dict[str, Any]) -> None:
    """In Flyte, the platform overrides the user: docs/facts/flyte.md#defects 11."""
    assert run([mine], ONE, {"REGION": "eu"}) == [mine]


@pytest.mark.parametrize(
    ("nproc", "gpus", "added"),
    [
        (1, None, False),  # flytekit issue 2569: only with more than one process
        (2, None, True),
        (8, "8", True),
        # auto counts the accelerators, if any: one GPU, one process
        # (docs/facts/torchrun.md#options-and-variables)
        ("auto", "1", False),
        ("auto", "2", True),
        ("auto", None, True),  # without a GPU, auto counts the host's cores
        ("gpu", "1", False),
        ("gpu", "4", True),
        ("cpu", "1", True),  # cpu counts the cores and ignores GPUs
        ("cpu", None, True),
    ],
)
def test_one_thread_if_processes_share_a_node(
    nproc: int | str, gpus: str | None, added: bool
) -> None:
    limits = {"gpu": gpus} if gpus else {}
    assert run([], making.LAUNCH._replace(nproc_per_node=nproc), {}, **limits) == (
        [OMP] if added else []
    )


@pytest.mark.parametrize(
    ("own", "defaults", "value"),
    [
        ([{"name": "OMP_NUM_THREADS", "value": "42"}], {}, "42"),  # docs/facts/flyte.md#cases 14
        ([], {"OMP_NUM_THREADS": "4"}, "4"),
        ([{"name": "OMP_NUM_THREADS", "value": "42"}], {"OMP_NUM_THREADS": "4"}, "42"),
        ([{"name": "OMP_NUM_THREADS", "value": ""}], {}, ""),
    ],
)
def test_an_explicit_number_of_threads_is_unchanged(
    own: list[dict[str, Any]], defaults: dict[str, str], value: str
) -> None:
    assert run(own, making.LAUNCH, defaults) == [{"name": "OMP_NUM_THREADS", "value": value}]


def test_a_plain_command_gets_no_number_of_threads() -> None:
    assert run([], None, {}, gpu="8") == []


def test_threads_come_last() -> None:
    own = [{"name": "B", "value": "1"}, {"name": "A", "value": "2"}]
    assert run(own, making.LAUNCH, {"C": "3"}) == [{"name": "C", "value": "3"}, *own, OMP]
