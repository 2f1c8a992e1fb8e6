"""The release of ptcompile and the address of its documentation."""

from __future__ import annotations

__version__ = "0.2.0"

SITE = "https://ptcompile.github.io/ptcompile/"
"""The documentation; pyproject.toml and mkdocs.yml contain the same address."""


def page_address(code: str) -> str:
    """Return the page of a code such as `PTC302`. `ptcompile explain PTC302` prints the same
    text offline.
    """
    return f"{SITE}codes/{code}/"
