"""The attributes of all operators and their kinds, as recorded in tests/registry/operators.txt."""

from __future__ import annotations

from tests.recordings import AGAIN, RECORDINGS, recorded


def test_recording() -> None:
    name = "registry/operators.txt"
    assert RECORDINGS[name]() == recorded(name), AGAIN
