"""`rehearse`: the job that it finds, and what it hands to the rehearsal."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ptcompile
from ptcompile import rehearsal
from ptcompile.api.rehearse import only_job
from ptcompile.rehearsal import RehearsalError
from ptcompile.simulator.faults import Fault
from tests.making import smallest

TWO = smallest("nodes: 2")


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Replace the rehearsal itself; return what it gets."""
    calls: list[Any] = []
    monkeypatch.setattr(
        rehearsal, "rehearse", lambda *args, **kwargs: calls.append((*args, kwargs))
    )
    return calls


def test_rehearse_passes_the_defaults_on(handed: list[Any]) -> None:
    ptcompile.rehearse(TWO, target="job")
    ((job, faults, options),) = handed
    assert (job.title, job.target, faults, options["max_processes"]) == ("Job/train", "job", [], 2)
    settings = options["settings"]
    assert settings.scale == 1.0
    assert settings.limit == 600.0
    assert not settings.own_command
    assert settings.restarts
    assert (settings.python, settings.image, settings.script, settings.keep_logs) == (
        None,
        None,
        None,
        None,
    )
    assert settings.mounts == {}


def test_options_are_handed_over(handed: list[Any]) -> None:
    ptcompile.rehearse(
        TWO, target="jobset", faults=["kill 1@10s,back=20s", "late 0=150s"], scale=10, limit=90, restarts=False,
        max_processes=1, own_command=True, keep_logs=Path("logs"), mounts={"data": Path("/d")}, image="i:1",
    )  # fmt: skip
    ((job, faults, options),) = handed
    settings = options["settings"]
    assert job.target == "jobset"
    assert faults == [Fault("kill", 1, 10, 20), Fault("late", 0, 150)]
    assert settings.scale == 10
    assert settings.limit == 90
    assert not settings.restarts
    assert options["max_processes"] == 1
    assert settings.own_command
    assert settings.keep_logs == "logs"
    assert settings.mounts == {"data": "/d"}
    assert settings.image == "i:1"


def test_the_limit_grows_with_the_faults(handed: list[Any]) -> None:
    ptcompile.rehearse(TWO, target="job", faults=["kill 1@100s,back=20s"], scale=10)
    assert handed[0][2]["settings"].limit == 600 + (100 + 20) / 10


def test_one_job_is_rehearsed_at_a_time() -> None:
    with pytest.raises(RehearsalError, match="one job at a time: found Pod/a, Pod/b"):
        ptcompile.rehearse(smallest("", "a") + "---\n" + smallest("", "b"), target="pod")
    with pytest.raises(RehearsalError, match="no object here creates pods"):
        ptcompile.rehearse("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert only_job(ptcompile.simulate(TWO, target="job")).title == "Job/train"


def test_a_spec_with_a_mistake_is_a_compile_error() -> None:
    with pytest.raises(ptcompile.CompileError):
        ptcompile.rehearse(smallest("nods: 2"))


def test_a_job_that_its_operator_rejects_has_no_pods() -> None:
    rejected = SimpleNamespace(
        title="PyTorchJob/a", expansion=SimpleNamespace(refused=("no Master", "no Worker"))
    )
    world: Any = SimpleNamespace(jobs=(rejected,))
    with pytest.raises(RehearsalError, match=r"its operator creates no pods from it: no Master$"):
        only_job(world)


def test_a_fault_of_another_form_is_an_error() -> None:
    with pytest.raises(ValueError, match="explode"):
        ptcompile.rehearse(TWO, target="job", faults=["explode 1"])
