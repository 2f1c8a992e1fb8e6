"""Dates such as 2027-03-31, which compare as text."""

from __future__ import annotations

import time


def today() -> str:
    """Return the date in UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())


def is_date(text: str) -> bool:
    """Return whether a text is a date that exists."""
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
