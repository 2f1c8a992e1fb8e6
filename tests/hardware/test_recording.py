"""A whole result of this package, as recorded in catalogue.txt."""

from __future__ import annotations

from tests.recordings import AGAIN, RECORDINGS, recorded


def test_the_result_is_as_recorded() -> None:
    name = "hardware/catalogue.txt"
    assert RECORDINGS[name]() == recorded(name), AGAIN
