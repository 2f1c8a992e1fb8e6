"""The attributes of all operators and their kinds, as recorded in tests/operators/records.txt."""

from __future__ import annotations

from tests.recordings import AGAIN, RECORDINGS, recorded


def test_the_result_is_as_recorded() -> None:
    name = "operators/records.txt"
    assert RECORDINGS[name]() == recorded(name), AGAIN
