"""Diagnostics as text, one file a format. Text from a user's file is made harmless before it is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile.findings.diagnostics import Diagnostic

Format = Callable[[Sequence[Diagnostic], Mapping[str | None, str]], str]
"""From the findings, and the text of each file by name, to what is printed."""


def _full() -> Format:
    from ptcompile.report.full import full

    return full


def _concise() -> Format:
    from ptcompile.report.concise import concise

    return concise


def _json() -> Format:
    from ptcompile.report.json import json

    return json


def _github() -> Format:
    from ptcompile.report.github import github

    return github


def _sarif() -> Format:
    from ptcompile.report.sarif import sarif

    return sarif


def _junit() -> Format:
    from ptcompile.report.junit import junit

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
