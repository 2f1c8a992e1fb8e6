"""The command line in this process and as a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from ptcompile import cli
from ptcompile.cli import files
from tests.making import smallest

ROOT = Path(__file__).parents[2]


class Ran(NamedTuple):
    """The result of a run."""

    status: int
    out: str
    err: str


def here(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> Ran:
    """Run in this process and handle exceptions as the console command does."""
    capsys.readouterr()
    try:
        status = cli.main([str(word) for word in argv])
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 2
    except Exception as error:  # the console command does the same
        status = files.report_error(error)
    out, err = capsys.readouterr()
    no_traceback(out, err)
    return Ran(status, out, err)


def process(
    *argv: str | Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    flags: Sequence[str] = (),
) -> Ran:
    """Run `python -m ptcompile` as users do."""
    words = [sys.executable, *flags, "-m", "ptcompile", *map(str, argv)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    done = subprocess.run(
        words, input=stdin, capture_output=True, env=variables, cwd=cwd, timeout=60, check=False
    )
    ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
    no_traceback(ran.out, ran.err)
    return ran


def no_traceback(*texts: str) -> None:
    """Assert that no text shows a traceback or an internal error."""
    for text in texts:
        assert "Traceback" not in text, text
        assert files.BUG not in text, text


def spec(folder: Path, name: str = "spec.yaml", body: str = "", job: str = "train") -> Path:
    """Write a spec to a file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(smallest(body, job), encoding="utf-8")
    return path
