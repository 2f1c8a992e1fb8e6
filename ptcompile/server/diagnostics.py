"""Findings as diagnostics of the protocol, and their code actions."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from typing import Final

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
from ptcompile._internal.about import page_address
from ptcompile.diagnostics import Diagnostic as Finding, Span
from ptcompile.fixer import apply
from ptcompile.server.document import OpenDocument
from ptcompile.source.suppression import add_ignores

SOURCE: Final = "ptcompile"
_SEVERITIES: Final = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "note": DiagnosticSeverity.Information,
}


def diagnostics(opened: OpenDocument) -> list[Diagnostic]:
    """What is wrong with a text, in its order; of a configuration that cannot be used, why."""
    if opened.settings.wrong:
        start = Range(Position(0, 0), Position(0, 0))
        return [Diagnostic(start, opened.settings.wrong, DiagnosticSeverity.Warning, source=SOURCE)]
    return [as_diagnostic(opened, one) for one in opened.report.diagnostics]


def as_diagnostic(opened: OpenDocument, one: ours.Diagnostic) -> Diagnostic:
    """One finding."""
    help = f"\nhelp: {one.help}" if one.help else ""
    return Diagnostic(
        range_of(opened, one),
        f"{one.message}{help}",
        _SEVERITIES[one.severity],
        code=one.code,
        code_description=CodeDescription(page_address(one.code)),
        source=SOURCE,
        tags=[DiagnosticTag.Unnecessary] if one.name == "unused-ignore" else None,
    )


def range_of(opened: OpenDocument, one: ours.Diagnostic) -> Range:
    """Where a finding is shown: of a value that has several lines, at its key alone."""
    span = one.span
    if span is None:
        return Range(Position(0, 0), Position(0, 0))
    if span.line < span.end_line:
        span = _on_key(opened, one) or span
    return opened.lines.of_span(span)


def _on_key(opened: OpenDocument, one: ours.Diagnostic) -> Span | None:
    document = next((document for document in opened.source.documents if document.index == one.document), None)
    span = document.span(one.path, on_key=True) if document is not None and one.path else None
    if span is None and one.span is not None:
        start, end = opened.lines.bounds(opened.source.offset(one.span.line, one.span.column))
        return one.span._replace(end_line=one.span.line, end_column=max(end - start + 1, one.span.column))
    return span


FIX_ALL: Final = "source.fixAll.ptcompile"
_MOST: Final = 4
"""Findings for which something is offered at once."""
_NEAR: Final = 200
"""Lines of which the fewest that change are looked for: that takes the square of their number."""


def actions(opened: OpenDocument, within: Range, only: Collection[str] | None, version: int | None) -> list[CodeAction]:
    """What can be done about the findings in a range; of many, about the first of them.

    All safe fixes at once take as long as `lint --fix`: they are there for clients that ask for them by name.
    """
    found: list[CodeAction] = []
    here = [one for one in opened.report.diagnostics if _meets(opened, one, within)][:_MOST]
    if _wanted(CodeActionKind.QuickFix.value, only):
        found += _fixes(opened, here, version)
        found += _ignores(opened, here, version)
    if (
        only is not None
        and _wanted(FIX_ALL, only)
        and any(one.fix is not None and one.fix.safe for one in opened.report.diagnostics)
    ):
        found += _all(opened, version)
    return found


def _wanted(kind: str, only: Collection[str] | None) -> bool:
    """Whether a client asks for a kind of action: by its name, or by one that it is a sort of."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") or one == "" for one in only)


def _meets(opened: OpenDocument, one: Finding, within: Range) -> bool:
    """Whether a finding is in a range, or on one of its lines where the client asks for a place."""
    where = as_diagnostic(opened, one).range
    return where.start.line <= within.end.line and within.start.line <= where.end.line


def _fixes(opened: OpenDocument, found: Sequence[Finding], version: int | None) -> Iterator[CodeAction]:
    """The fix of each finding that has one; one that may change the job says so."""
    for one in found:
        if one.fix is None:
            continue
        opened.pause()
        fixed = apply(opened.text.encode("utf-8", "surrogatepass"), [one], unsafe=True)
        if not fixed.applied:
            continue
        title = one.fix.title if one.fix.safe else f"{one.fix.title} (may change the job)"
        edit = _edit(opened, fixed.content.decode("utf-8", "surrogatepass"), version)
        yield CodeAction(
            f"{one.code}: {title}",
            CodeActionKind.QuickFix,
            [as_diagnostic(opened, one)],
            is_preferred=one.fix.safe,
            edit=edit,
        )


def _ignores(opened: OpenDocument, found: Sequence[Finding], version: int | None) -> Iterator[CodeAction]:
    """A comment at the line of each finding, once for each code."""
    for one in {(one.code, one.span): one for one in found}.values():
        text, done = add_ignores(opened.text, [one])
        if done:
            edit = _edit(opened, text, version)
            yield CodeAction(
                f"ignore {one.code} here", CodeActionKind.QuickFix, [as_diagnostic(opened, one)], edit=edit
            )


def _all(opened: OpenDocument, version: int | None) -> Iterator[CodeAction]:
    """Every safe fix of the text, made until none is left."""
    from ptcompile.api.fix import fixed_by

    def judge(content: bytes) -> object:
        text = content.decode("utf-8", "surrogatepass")
        return OpenDocument(
            opened.uri, opened.path, text, settings=opened.settings, elsewhere=opened.elsewhere, pause=opened.pause
        ).report

    fixed = fixed_by(opened.text.encode("utf-8", "surrogatepass"), judge, unsafe=False)  # type: ignore[arg-type]
    if fixed.applied:
        edit = _edit(opened, fixed.content.decode("utf-8", "surrogatepass"), version)
        yield CodeAction("fix everything that is safe to fix (ptcompile)", FIX_ALL, edit=edit)


def _edit(opened: OpenDocument, new: str, version: int | None) -> WorkspaceEdit:
    """The change of the text to another one, line by line."""
    edits = list(text_edits(opened, new.removeprefix("\ufeff")))
    if version is None:
        return WorkspaceEdit(changes={opened.uri: edits})
    document = OptionalVersionedTextDocumentIdentifier(opened.uri, version)
    return WorkspaceEdit(document_changes=[TextDocumentEdit(document, list(edits))])


def text_edits(opened: OpenDocument, new: str) -> Iterator[TextEdit]:
    """The lines that have to change; where they are far apart, all between the first and the last."""
    old_lines, new_lines = opened.text.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in old_lines:
        starts.append(starts[-1] + len(line))
    same = next((i for i, (a, b) in enumerate(zip(old_lines, new_lines, strict=False)) if a != b), None)
    first = min(len(old_lines), len(new_lines)) if same is None else same
    behind = 0
    while behind < min(len(old_lines), len(new_lines)) - first and old_lines[-1 - behind] == new_lines[-1 - behind]:
        behind += 1
    old, made = old_lines[first : len(old_lines) - behind], new_lines[first : len(new_lines) - behind]
    changed: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(old), 0, len(made))][: len(old) + len(made)]
    if len(old) + len(made) < _NEAR:
        changed = difflib.SequenceMatcher(None, old, made, autojunk=False).get_opcodes()
    for tag, start, end, begin, last in changed:
        if tag != "equal":
            where = opened.lines.range(starts[first + start], starts[first + end])
            yield TextEdit(where, "".join(made[begin:last]))
