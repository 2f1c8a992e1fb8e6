"""Renderers of diagnostics, by format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol


class Unchecked(NamedTuple):
    """An object that was not checked, or another part of a file, such as the values of a chart."""

    filename: str | None
    object: str
    """`apiVersion Kind/name`, or what it is in words."""

    @property
    def kind(self) -> str:
        """The object without its name."""
        version, space, resource = self.object.partition(" ")
        return f"{version}{space}{resource.partition('/')[0]}"


if TYPE_CHECKING:

    class Renderer(Protocol):
        """Turns the diagnostics, the text of each file by name, and what was not checked into the printed report."""

        def __call__(
            self,
            diagnostics: Sequence[Diagnostic],
            texts: Mapping[str | None, str],
            unchecked: Sequence[Unchecked] = (),
            /,
        ) -> str:
            """Return the report."""


def _full() -> Renderer:
    from ptcompile.report.text import full

    return full


def _concise() -> Renderer:
    from ptcompile.report.text import concise

    return concise


def _json() -> Renderer:
    from ptcompile.report.json import json

    return json


def _github() -> Renderer:
    from ptcompile.report.ci import github

    return github


def _sarif() -> Renderer:
    from ptcompile.report.ci import sarif

    return sarif


def _junit() -> Renderer:
    from ptcompile.report.ci import junit

    return junit


def _gitlab() -> Renderer:
    from ptcompile.report.ci import gitlab

    return gitlab


def _markdown() -> Renderer:
    from ptcompile.report.ci import markdown

    return markdown


_FORMATS = {
    "full": _full,
    "concise": _concise,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
    "junit": _junit,
    "gitlab": _gitlab,
    "markdown": _markdown,
}

FORMATS = tuple(_FORMATS)
"""Names of the formats."""


def renderer(name: str) -> Renderer:
    """Return the renderer of a format, imported on demand."""
    return _FORMATS[name]()
