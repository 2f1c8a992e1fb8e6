"""Colour for the formats that people read on a terminal."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_RESET: Final = "\x1b[0m"
_STYLES: Final = (
    (re.compile(r"^error(?=\[)|(?<=: )error(?= PTC)", re.MULTILINE), "\x1b[1;31m"),
    (re.compile(r"^warning(?=\[)|(?<=: )warning(?= PTC)", re.MULTILINE), "\x1b[1;33m"),
    (re.compile(r"^note(?=\[)|(?<=: )note(?= PTC)", re.MULTILINE), "\x1b[1;36m"),
    (re.compile(r"^  --> ", re.MULTILINE), "\x1b[34m"),
    (re.compile(r"^ *\| +\^+$", re.MULTILINE), "\x1b[31m"),
    (re.compile(r"^  = (?:help|fix):", re.MULTILINE), "\x1b[1m"),
)


def colour(text: str) -> str:
    """The text of a report with the severities, places, carets and cures in colour. Nothing else is changed."""
    for pattern, style in _STYLES:
        text = pattern.sub(rf"{style}\g<0>{_RESET}", text)
    return text
