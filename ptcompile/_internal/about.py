"""Which release this is, and where its documentation is."""

from __future__ import annotations

__version__ = "0.2.0"

SITE = "https://ptcompile.github.io/ptcompile/"
"""The documentation; pyproject.toml and mkdocs.yml name the same address."""


def page_address(code: str) -> str:
    """The page of a code such as `PTC302`. `ptcompile explain PTC302` prints the same offline."""
    return f"{SITE}codes/{code}/"
