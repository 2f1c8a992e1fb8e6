"""The example of the README runs, and its output compiles."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import ptcompile

EXAMPLE = Path(__file__).parents[2] / "examples" / "flyte_to_spec.py"


def test_the_example_prints_a_spec_that_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    found = runpy.run_path(str(EXAMPLE))
    assert found["main"]() == 0
    out, err = capsys.readouterr()
    result = ptcompile.compile(out, cluster=found["PLATFORM"].profile)
    assert [one["kind"] for one in result.unwrap()] == ["PyTorchJob"]
    assert [one.name for one in result.diagnostics] == ["node-0-fails-all"], "an interruptible task of several nodes"
    assert err.startswith("warning: cache: ")
