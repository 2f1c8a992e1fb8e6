"""The words of this operator's checks, as recorded in verdicts/."""

from __future__ import annotations

from tests.operators.verdicts import AGAIN, RECORDS, recorded_verdicts


def test_verdicts_are_as_recorded() -> None:
    folder = "volcano"
    assert RECORDS[folder]() == recorded_verdicts(folder), AGAIN
