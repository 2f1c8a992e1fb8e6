"""Renderers of diagnostics, by format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile.diagnostics import Diagnostic

Renderer = Callable[[Sequence[Diagnostic], Mapping[str | None, str]], str]
"""Turns the diagnostics and the text of each file by name into the printed report."""


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
