"""The checks before the first pod starts report everything that is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ptcompile.rehearsal import RehearsalError
from ptcompile.rehearsal.backends import find_torch
from ptcompile.rehearsal.cast import cast
from ptcompile.rehearsal.preflight import missing_in_script
from tests.rehearsal.jobs import C10D, job

ACTORS = cast(job(C10D), max_processes=1).actors


def _starting(program: str) -> list[object]:
    return [ACTORS[0]._replace(argv=(program, "train.py"))]


def test_missing_programs_and_modules_are_reported_together(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import json, nowhere.deep\nfrom absent_too import x\n")
    with pytest.raises(RehearsalError) as raised:
        find_torch(sys.executable, str(script), _starting("deepspeed"))  # type: ignore[arg-type]
    first, no_torch, *missing = str(raised.value).splitlines()
    assert first == "no pod was started, for several reasons:"
    assert " has no torch: use --python" in no_torch
    assert [line.strip().removeprefix(sys.executable) for line in missing] == [
        " has no deepspeed, which starts the processes: install it there",
        f" has no module absent_too, which {script} imports: install it there",
        f" has no module nowhere, which {script} imports: install it there",
    ]


def test_a_program_of_the_manifest_s_own_command_is_missing(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 2.13.0\n")
    python.chmod(0o755)
    with pytest.raises(
        RehearsalError, match="has no program mpirun-x, with which the manifest's command begins"
    ):
        find_torch(str(python), None, _starting("mpirun-x"), own_path=str(tmp_path))  # type: ignore[arg-type]
    assert find_torch(str(python), None, _starting("python"), own_path=str(tmp_path)) == "2.13.0"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("try:\n    import nowhere\nexcept ImportError:\n    pass\n", []),
        ("from . import nowhere\nimport beside\n", []),
        ("x = (\n", ["as Python: '(' was never closed"]),
        ("import nowhere, sys", ["has no module nowhere,"]),
    ],
)
def test_missing_modules_of_a_script_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, clauses: list[str]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "beside.py").touch()
    script = tmp_path / "train.py"
    script.write_text(text)
    missing = [*missing_in_script(str(script))]
    assert len(missing) == len(clauses)
    assert all(clause in line for line, clause in zip(missing, clauses, strict=True))
