"""Dates: text that compares in the order of time."""

from __future__ import annotations

import time

import pytest

from ptcompile._internal.dates import is_date, today


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2027-03-31", True),
        ("2028-02-29", True),
        ("2027-02-29", False),
        ("2027-03-32", False),
        ("20270331", False),  # Python reads it, but it does not compare as text
        ("2027-W13-3", False),
        ("2027-3-31", False),
        ("soon", False),
        ("", False),
    ],
)
def test_a_date_exists_and_has_ten_characters(text: str, expected: bool) -> None:
    assert is_date(text) is expected


def test_today_is_the_date_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        time, "gmtime", lambda: time.struct_time((2027, 3, 31, 23, 59, 59, 2, 90, 0))
    )
    assert today() == "2027-03-31"
    assert is_date(today())
