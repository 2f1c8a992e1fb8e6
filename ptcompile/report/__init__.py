"""Diagnostics as text, one file a format. Text from a user's file is made harmless before it is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.report.concise import concise
from ptcompile.report.full import full
from ptcompile.report.github import github
from ptcompile.report.json import json
from ptcompile.report.junit import junit
from ptcompile.report.sarif import sarif

Format = Callable[[Sequence[Diagnostic], Mapping[str | None, str]], str]
"""From the findings, and the text of each file by name, to what is printed."""

FORMATS: dict[str, Format] = {
    "full": full,
    "concise": concise,
    "json": json,
    "github": github,
    "sarif": sarif,
    "junit": junit,
}
