"""Diagnostics as text, one file a format. Text from a user's file is made harmless before it is printed."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from ptcompile.findings.diagnostics import Diagnostic

Format = Callable[[Sequence[Diagnostic], Mapping[str | None, str]], str]
"""From the findings, and the text of each file by name, to what is printed."""

FORMATS = ("full", "concise", "json", "github", "sarif", "junit")
"""The names of the formats; each is a function in the module of its name, imported when it is asked for."""


def renderer(name: str) -> Format:
    """The format of this name, one of `FORMATS`."""
    found: Format = getattr(import_module(f"ptcompile.report.{name}"), name)
    return found
