"""Diagnostics as text: the formats, and the one that a name stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile.diagnostics import Diagnostic

Format = Callable[[Sequence[Diagnostic], Mapping[str | None, str]], str]
"""From the findings, and the text of each file by name, to what is printed."""


def _full() -> Format:
    from ptcompile.report.text import full

    return full


def _concise() -> Format:
    from ptcompile.report.text import concise

    return concise


def _json() -> Format:
    from ptcompile.report.json import json

    return json


def _github() -> Format:
    from ptcompile.report.ci import github

    return github


def _sarif() -> Format:
    from ptcompile.report.ci import sarif

    return sarif


def _junit() -> Format:
    from ptcompile.report.ci import junit

    return junit


_FORMATS = {
    "full": _full,
    "concise": _concise,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
    "junit": _junit,
}

FORMATS = tuple(_FORMATS)
"""The names of the formats."""


def renderer(name: str) -> Format:
    """Return the format of this name, one of `FORMATS`, imported now."""
    return _FORMATS[name]()
