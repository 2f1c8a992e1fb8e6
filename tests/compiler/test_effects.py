"""What each value of a spec does, as recorded in effects.json."""

from __future__ import annotations

import json

import pytest

from tests.compiler.effects import RECORD, SPECS, effects

RECORDED = json.loads(RECORD.read_text())


@pytest.mark.parametrize("target", SPECS)
def test_effects(target: str) -> None:
    assert effects(target) == RECORDED[target], "after a change that is meant: python -m tests.compiler.effects"
