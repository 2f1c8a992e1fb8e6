"""Addresses of pages on the web."""

from __future__ import annotations

from typing import Final

_RULES: Final = "https://github.com/ptcompile/ptcompile#rules"


def page_of(code: str) -> str:
    """The address of the page that explains a code."""
    return f"{_RULES}-{code.lower()}" if not code.startswith("PTC") else _RULES
