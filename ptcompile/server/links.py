"""Addresses of pages on the web."""

from __future__ import annotations

from typing import Final

_CODES: Final = "https://ptcompile.github.io/ptcompile/codes"


def page_of(code: str) -> str:
    """The address of the page of a code such as `PTC302`."""
    return f"{_CODES}/{code}/"
