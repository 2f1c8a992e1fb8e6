"""Where the rules about MPIJobs begin and end."""

from __future__ import annotations

import pytest

from ptcompile.linter import run
from tests.linter.asking import problems_of
from tests.operators.mpijob.test_pods import Json, mpijob

GPUS = {"resources": {"limits": {"nvidia.com/gpu": 8}}}


@pytest.mark.parametrize(
    ("command", "spec", "text"),
    [
        (["mpirun", "-np", "16", "python", "t.py"], {}, None),
        (
            ["mpirun", "-np", "17", "python", "t.py"],
            {},
            "mpirun exits because there are too few slots",
        ),
        (["mpirun", "-np", "15", "python", "t.py"], {}, "1 stay idle"),
        (["/usr/bin/mpiexec", "-np", "4", "python", "t.py"], {}, "12 stay idle"),
        (["mpirun", "-np", "24", "python", "t.py"], {"runLauncherAsWorker": True}, None),
        (
            ["mpirun", "-np", "24", "python", "t.py"],
            {"runLauncherAsWorker": False},
            "too few slots",
        ),
        (["mpirun", "-np", "999999999", "python", "t.py"], {}, "too few slots"),
        (["mpirun", "-np", "1234567890", "python", "t.py"], {}, None),
        (["mpirun", "-np", "$(N)", "python", "t.py"], {}, None),
        (["python", "-np", "4"], {}, None),
        (["mpirun", "python", "t.py"], {}, None),
    ],
)
def test_the_number_of_processes_must_match_the_slots(
    command: list[str], spec: Json, text: str | None
) -> None:
    problems = problems_of(
        "processes-differ-from-slots", mpijob(launcher={"command": command}, **spec)
    )
    assert [str(text) in problem.message for problem in problems] == (
        [] if text is None else [True]
    )


@pytest.mark.parametrize(("works", "expected"), [(None, True), (False, True), (True, False)])
def test_gpus_of_a_launcher_without_work_are_reported(works: bool | None, expected: bool) -> None:
    spec = {} if works is None else {"runLauncherAsWorker": works}
    manifest = mpijob(
        launcher={"command": ["mpirun", "python", "t.py"], **GPUS}, worker=GPUS, **spec
    )
    names = {
        problem.name for problem in run(manifest, stream=[manifest]) if "launcher" in problem.name
    }
    assert bool(names) is expected


@pytest.mark.parametrize(
    ("workers", "slots", "expected"), [(2, 8, False), (2, 4, True), (None, 4, False)]
)
def test_slots_must_match_the_gpus(workers: int | None, slots: int, expected: bool) -> None:
    manifest = mpijob(workers=workers, worker=GPUS, slotsPerWorker=slots)
    assert bool(problems_of("slots-differ-from-gpus", manifest)) is expected
