"""CI's scripts name files that are there."""

from __future__ import annotations

import re

from tests.conftest import ROOT


def test_every_path_of_a_test_is_there() -> None:
    named = {
        path
        for script in (ROOT / ".ci").iterdir()
        for path in re.findall(r"(?<![\w/])tests/[\w/.]+", script.read_text(encoding="utf-8"))
    }
    assert "tests/test_golden.py" in named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
