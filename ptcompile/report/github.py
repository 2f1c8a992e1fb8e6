"""For GitHub Actions: one workflow command a finding, which the site shows at the line of the pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.report.common import in_order, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def github(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """`::error file=...,line=...::message` (or warning, notice) a finding, escaped as GitHub Actions' toolkit does."""
    return "".join(f"{_command(d)}\n" for d in in_order(diagnostics))


def _command(diagnostic: Diagnostic) -> str:
    where = {"file": diagnostic.filename or "", "title": f"{diagnostic.code} {diagnostic.name}"}
    if (span := diagnostic.span) is not None:
        where |= {"line": str(span.line), "col": str(span.column), "endLine": str(span.end_line)}
        if span.end_line == span.line:
            where["endColumn"] = str(span.end_column)
    message = diagnostic.message + (f"; {diagnostic.help}" if diagnostic.help else "")
    listed = ",".join(f"{key}={_property(value)}" for key, value in where.items() if value)
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_data(message)}"


def _data(text: str) -> str:
    """Text behind the second `::`: no line break, and nothing that could begin another command."""
    return printable(text.replace("%", "%25")).replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
