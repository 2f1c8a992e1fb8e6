"""The changes of `python -m tests.mutants`: each still applies, and what the command says of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import mutants
from tests.conftest import ROOT
from tests.mutants import Mutant

ALL = mutants.mutants()


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.breaks)
def test_each_change_applies_once(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.before) == 1
    assert mutant.after not in (mutant.before, "")
    assert mutant.breaks
    assert all((ROOT / test).exists() for test in mutant.tests)


def test_the_changes_cover_what_is_judged_most() -> None:
    assert len(ALL) == 60
    for part in (
        "apiserver/",
        "operators/",
        "operators/kueue/scheduler/",
        "simulator/",
        "hardware/tables.py",
    ):
        assert any(part in mutant.file for mutant in ALL), part
    assert len({mutant.breaks for mutant in ALL}) == len(ALL)


@pytest.mark.parametrize(
    ("status", "is_noticed"),
    [(1, True), (0, False), (2, False), (4, False)],
    ids=["a test fails", "all tests pass", "a test cannot be imported", "a test is not there"],
)
def test_a_change_is_noticed_by_a_test_that_fails(
    status: int,
    is_noticed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mutant = Mutant(
        file="a.py", before="== 1", after="!= 1", tests=["tests/test_a.py"], breaks="one is two"
    )
    (tmp_path / "a.py").write_text("x == 1\n")
    seen: list[str] = []

    def run(root: Path, _tests: object) -> tuple[int, str]:
        seen.append((root / "a.py").read_text())
        return status, "tests/test_a.py::test_one"

    monkeypatch.setattr(mutants, "run", run)
    assert mutants.is_noticed(tmp_path, mutant) is is_noticed
    assert seen == ["x != 1\n"]
    assert (tmp_path / "a.py").read_text() == "x == 1\n"
    outcome = "noticed" if is_noticed else "SURVIVED"
    assert capsys.readouterr().out == f"{outcome}: a.py: one is two: tests/test_a.py::test_one\n"


def test_tests_without_an_end_have_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], timeout: int, **_options: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", run)
    assert mutants.run(tmp_path, ["tests"]) == (1, "no end after 900 seconds")


def test_the_first_test_that_fails_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_one():\n    assert False\n")
    status, failed = mutants.run(tmp_path, ["test_a.py"])
    assert (status, failed.partition(" ")[0]) == (1, "test_a.py::test_one")
    (tmp_path / "test_a.py").write_text("def test_one():\n    pass\n")
    status, last = mutants.run(tmp_path, ["test_a.py"])
    assert status == 0
    assert last.startswith("1 passed")
