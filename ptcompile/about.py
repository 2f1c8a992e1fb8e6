"""Which release this is, where its documentation is, and whether the process is the command's own."""

from __future__ import annotations

__version__ = "0.2.0"

own_process: list[bool] = [False]
"""Whether this process is the command's own: it may start others unasked, and needs no hints of types."""

SITE = "https://ptcompile.github.io/ptcompile/"
"""The documentation; pyproject.toml and mkdocs.yml name the same address."""


def page_address(code: str) -> str:
    """The page of a code such as `PTC302`. `ptcompile explain PTC302` prints the same offline."""
    return f"{SITE}codes/{code}/"
