"""`tests.cli.running` fails for a command that crashes: a check that cannot fail proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.cli import files
from ptcompile.cli.commands import lint
from tests.cli.running import here, no_traceback, process, spec

CRASHING = """\
import sys
del sys.argv[1:3]  # -m ptcompile
from ptcompile import cli
from ptcompile.cli.commands import lint
lint.run = lambda options: 1 // 0
cli.run()
"""


def test_a_crash_in_this_process_fails_the_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint, "run", lambda _: 1 // 0)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        here(capsys, "lint", spec(tmp_path))


def test_a_crash_in_a_process_fails_the_test(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        process("lint", spec(tmp_path), flags=["-c", CRASHING])


@pytest.mark.parametrize(
    "text", ["Traceback (most recent call last):\n", f"ptcompile: {files.BUG}, not in your files"]
)
def test_crash_reports_are_detected(text: str) -> None:
    with pytest.raises(AssertionError):
        no_traceback("", text)
