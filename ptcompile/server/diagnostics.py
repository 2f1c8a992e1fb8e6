"""Findings as the protocol's diagnostics."""

from __future__ import annotations

from typing import Final

from lsprotocol.types import CodeDescription, Diagnostic, DiagnosticSeverity, DiagnosticTag, Position, Range

from ptcompile.findings import diagnostics as ours
from ptcompile.findings.diagnostics import Span
from ptcompile.server.document import Open
from ptcompile.server.links import page_of

SOURCE: Final = "ptcompile"
_SEVERITIES: Final = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "note": DiagnosticSeverity.Information,
}


def diagnostics(opened: Open) -> list[Diagnostic]:
    """What is wrong with a text, in its order; of a configuration that cannot be used, why."""
    if opened.settings.wrong:
        start = Range(Position(0, 0), Position(0, 0))
        return [Diagnostic(start, opened.settings.wrong, DiagnosticSeverity.Warning, source=SOURCE)]
    return [as_diagnostic(opened, one) for one in opened.report.diagnostics]


def as_diagnostic(opened: Open, one: ours.Diagnostic) -> Diagnostic:
    """One finding."""
    help = f"\nhelp: {one.help}" if one.help else ""
    return Diagnostic(
        range_of(opened, one),
        f"{one.message}{help}",
        _SEVERITIES[one.severity],
        code=one.code,
        code_description=CodeDescription(page_of(one.code)),
        source=SOURCE,
        tags=[DiagnosticTag.Unnecessary] if one.name == "unused-ignore" else None,
    )


def range_of(opened: Open, one: ours.Diagnostic) -> Range:
    """Where a finding is shown: of a value that has several lines, at its key alone."""
    span = one.span
    if span is None:
        return Range(Position(0, 0), Position(0, 0))
    if span.line < span.end_line:
        span = _on_key(opened, one) or span
    return opened.lines.of_span(span)


def _on_key(opened: Open, one: ours.Diagnostic) -> Span | None:
    document = next((document for document in opened.source.documents if document.index == one.document), None)
    span = document.span(one.path, on_key=True) if document is not None and one.path else None
    if span is None and one.span is not None:
        start, end = opened.lines.bounds(opened.source.offset(one.span.line, one.span.column))
        return one.span._replace(end_line=one.span.line, end_column=max(end - start + 1, one.span.column))
    return span
