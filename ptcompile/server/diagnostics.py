"""Findings as protocol diagnostics, and the code actions for them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    CodeDescription,
    Diagnostic,
    DiagnosticSeverity,
    DiagnosticTag,
    OptionalVersionedTextDocumentIdentifier,
    Position,
    Range,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from ptcompile import diagnostics as ours
from ptcompile.diagnostics import Diagnostic as Finding, Span
from ptcompile.fixer import apply
from ptcompile.server.document import OpenDocument
from ptcompile.source.suppression import add_ignores

SOURCE = "ptcompile"
_START = Range(Position(0, 0), Position(0, 0))
_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "note": DiagnosticSeverity.Information,
}


def diagnostics(opened: OpenDocument) -> list[Diagnostic]:
    """Return a text's findings in order, after a warning if the configuration is unusable."""
    findings = [as_diagnostic(opened, diagnostic) for diagnostic in opened.report.diagnostics]
    if not opened.settings.error:
        return findings
    return [
        Diagnostic(_START, opened.settings.error, DiagnosticSeverity.Warning, source=SOURCE),
        *findings,
    ]


def as_diagnostic(opened: OpenDocument, diagnostic: ours.Diagnostic) -> Diagnostic:
    """Convert a finding to a protocol diagnostic."""
    help = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    return Diagnostic(
        range_of(opened, diagnostic),
        f"{diagnostic.message}{help}",
        _SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        code_description=None if diagnostic.url is None else CodeDescription(diagnostic.url),
        source=SOURCE,
        tags=[DiagnosticTag.Unnecessary] if diagnostic.name == "unused-ignore" else None,
    )


def range_of(opened: OpenDocument, diagnostic: ours.Diagnostic) -> Range:
    """Return the range to underline for a finding: only the key if its value spans several
    lines.
    """
    span = diagnostic.span
    if span is None:
        return _START
    if span.line < span.end_line:
        span = _key_span(opened, diagnostic) or span
    return opened.lines.of_span(span)


def _key_span(opened: OpenDocument, diagnostic: ours.Diagnostic) -> Span | None:
    document = next(
        (document for document in opened.source.documents if document.index == diagnostic.document),
        None,
    )
    if document is not None and diagnostic.path:
        key_span = document.span(diagnostic.path, on_key=True)
        if key_span is not None:
            return key_span

    span = diagnostic.span
    if span is None:
        return None

    start, end = opened.lines.bounds(opened.source.offset(span.line, span.column))
    return span._replace(end_line=span.line, end_column=max(end - start + 1, span.column))


FIX_ALL = "source.fixAll.ptcompile"
_MAX_FINDINGS = 4
"""Maximum number of findings that a request offers actions for."""
_MAX_DIFF_LINES = 200
"""Maximum number of changed lines that are diffed; the time is quadratic in it."""


def actions(
    opened: OpenDocument, within: Range, only: Collection[str] | None, version: int | None
) -> list[CodeAction]:
    """Return the actions for the findings in a range, at most `_MAX_FINDINGS` of them.

    Applying all safe fixes takes as long as `lint --fix`, so clients must request that action by
    name.
    """
    results: list[CodeAction] = []
    findings = [
        finding for finding in opened.report.diagnostics if _overlaps(opened, finding, within)
    ][:_MAX_FINDINGS]
    if _is_requested(CodeActionKind.QuickFix.value, only):
        results += _fixes(opened, findings, version)
        results += _ignores(opened, findings, version)
    if only is not None and _is_requested(FIX_ALL, only):
        fixes = (finding.fix for finding in opened.report.diagnostics)
        if any(fix is not None and fix.safe for fix in fixes):
            results += _fix_all(opened, version)

    return results


def _is_requested(kind: str, only: Collection[str] | None) -> bool:
    """Return whether the client requests an action kind, by its name or by a parent kind."""
    return only is None or any(
        kind == requested or kind.startswith(f"{requested}.") or requested == ""
        for requested in only
    )


def _overlaps(opened: OpenDocument, finding: Finding, within: Range) -> bool:
    """Return whether a finding shares a line with a range."""
    lines = as_diagnostic(opened, finding).range
    return lines.start.line <= within.end.line and within.start.line <= lines.end.line


def _fixes(
    opened: OpenDocument, findings: Sequence[Finding], version: int | None
) -> Iterator[CodeAction]:
    """Yield the fix of each finding that has one; its title says if it may change the job."""
    for finding in findings:
        if finding.fix is None:
            continue

        opened.pause()
        fixed = apply(opened.text.encode("utf-8", "surrogatepass"), [finding], unsafe=True)
        if not fixed.applied:
            continue

        title = finding.fix.title
        if not finding.fix.safe:
            title += " (may change the job)"
        edit = _workspace_edit(opened, fixed.content.decode("utf-8", "surrogatepass"), version)
        yield CodeAction(
            f"{finding.code}: {title}",
            CodeActionKind.QuickFix,
            [as_diagnostic(opened, finding)],
            is_preferred=finding.fix.safe,
            edit=edit,
        )


def _ignores(
    opened: OpenDocument, findings: Sequence[Finding], version: int | None
) -> Iterator[CodeAction]:
    """Yield an action that adds an ignore comment for each finding, once per code and span; none
    edits a template.
    """
    ignorable = [finding for finding in findings if finding.name != "unrendered-template"]
    for finding in {(finding.code, finding.span): finding for finding in ignorable}.values():
        text, done = add_ignores(opened.text, [finding])
        if done:
            edit = _workspace_edit(opened, text, version)
            yield CodeAction(
                f"ignore {finding.code} here",
                CodeActionKind.QuickFix,
                [as_diagnostic(opened, finding)],
                edit=edit,
            )


def _fix_all(opened: OpenDocument, version: int | None) -> Iterator[CodeAction]:
    """Yield the action that applies all safe fixes repeatedly until none is left."""
    from ptcompile.api.fix import fix_findings_of

    def judge(content: bytes) -> object:
        text = content.decode("utf-8", "surrogatepass")
        return OpenDocument(
            opened.uri,
            opened.path,
            text,
            settings=opened.settings,
            elsewhere=opened.elsewhere,
            pause=opened.pause,
        ).report

    fixed = fix_findings_of(opened.text.encode("utf-8", "surrogatepass"), judge, unsafe=False)  # type: ignore[arg-type]
    if fixed.applied:
        edit = _workspace_edit(opened, fixed.content.decode("utf-8", "surrogatepass"), version)
        yield CodeAction("apply all safe fixes (ptcompile)", FIX_ALL, edit=edit)


def _workspace_edit(opened: OpenDocument, new: str, version: int | None) -> WorkspaceEdit:
    """Return the edit that replaces the text with `new`, line by line."""
    edits = list(text_edits(opened, new.removeprefix("\ufeff")))
    if version is None:
        return WorkspaceEdit(changes={opened.uri: edits})
    document = OptionalVersionedTextDocumentIdentifier(opened.uri, version)
    return WorkspaceEdit(document_changes=[TextDocumentEdit(document, list(edits))])


def text_edits(opened: OpenDocument, new: str) -> Iterator[TextEdit]:
    """Yield the edits for the changed lines; for many changed lines, one edit from the first to
    the last.
    """
    old_lines = opened.text.splitlines(keepends=True)
    new_lines = new.splitlines(keepends=True)
    starts = [0]
    for line in old_lines:
        starts.append(starts[-1] + len(line))
    difference = next(
        (i for i, (a, b) in enumerate(zip(old_lines, new_lines, strict=False)) if a != b), None
    )
    shortest = min(len(old_lines), len(new_lines))
    first = shortest if difference is None else difference
    suffix = 0
    while suffix < shortest - first and old_lines[-1 - suffix] == new_lines[-1 - suffix]:
        suffix += 1

    removed = old_lines[first : len(old_lines) - suffix]
    added = new_lines[first : len(new_lines) - suffix]
    changes: Sequence[tuple[str, int, int, int, int]]
    if len(removed) + len(added) < _MAX_DIFF_LINES:
        changes = difflib.SequenceMatcher(None, removed, added, autojunk=False).get_opcodes()
    else:
        changes = [("replace", 0, len(removed), 0, len(added))]
    for tag, start, end, begin, last in changes:
        if tag != "equal":
            replaced_range = opened.lines.range(starts[first + start], starts[first + end])
            yield TextEdit(replaced_range, "".join(added[begin:last]))
