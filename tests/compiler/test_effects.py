"""What each value of a spec does, as recorded in effects/."""

from __future__ import annotations

import pytest

from tests.compiler.effects import RECORDS, SPECS, effects
from tests.records import read_records

RECORDED = read_records(RECORDS)


@pytest.mark.parametrize("target", SPECS)
def test_every_field_has_the_recorded_effects(target: str) -> None:
    assert effects(target) == RECORDED[target], (
        "after a change that is meant: python -m tests.compiler.effects"
    )
