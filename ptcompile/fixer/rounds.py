"""Apply the fixes of a file in rounds, linting again after each, until none is left."""

from __future__ import annotations

import codecs
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Diagnostic, Edit, Path, Span
from ptcompile.fixer import splices
from ptcompile.fixer.blocks import TextEdit
from ptcompile.fixer.changes import ClaimedPaths, NodeChange, apply_changes, changes, equal_json
from ptcompile.fixer.layout import Layout, layout_of
from ptcompile.fixer.syntax_tree import CannotFix, SyntaxNode, find_node, parse, shares
from ptcompile.source.documents import Document, Source, read

Accept = Callable[[bytes, Sequence[Diagnostic]], CannotFix | None]
"""Check a new text and the findings that it fixes; return None, or why the text is not
acceptable.
"""


class Skipped(NamedTuple):
    """A finding whose fix was not applied, and the reason."""

    diagnostic: Diagnostic
    """The finding."""
    why: str
    """Why its fix was not applied."""
    fault: bool = False
    """Whether this is a bug in ptcompile: the fix broke a rule for fixes."""


class FixResult(NamedTuple):
    """A fixed text. Findings neither applied nor skipped overlap another fix and wait for the
    next round.
    """

    content: bytes
    applied: tuple[Diagnostic, ...]
    skipped: tuple[Skipped, ...]


class _Text(NamedTuple):
    """One document to be edited; the text of its layout always ends with a line break."""

    document: Document
    root: SyntaxNode
    layout: Layout
    is_padded: bool


class _Plan(NamedTuple):
    """One fix: changes of one document, or an entry to remove (its mapping and index)."""

    diagnostic: Diagnostic
    document: int
    changes: tuple[NodeChange, ...]
    gone: tuple[SyntaxNode, int] | None = None


def apply(
    content: bytes, diagnostics: Iterable[Diagnostic], *, unsafe: bool, accept: Accept | None = None
) -> FixResult:
    """Apply the fixes of the findings of one file: the safe ones, or all of them if `unsafe`.

    A fix that does not fit the text is skipped, not raised. If two fixes overlap, the first one is
    applied.
    """
    source = read(content)
    fixable = [d for d in diagnostics if d.fix is not None and (unsafe or d.fix.safe)]
    if not fixable:
        return FixResult(content, (), ())
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return FixResult(content, (), tuple(Skipped(d, "the file is not UTF-8") for d in fixable))

    attempt = _Round(
        source, codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b"", accept
    )
    plans = attempt.compatible(attempt.plans(fixable))
    new = attempt.write(plans) if plans else content

    return FixResult(new, tuple(plan.diagnostic for plan in plans), tuple(attempt.skipped))


_MAX_ATTEMPTS = 64
"""Maximum number of texts to check in a round: each takes as long as a lint of the file."""


class _Round:
    """One text and the fixes to try on it."""

    def __init__(self, source: Source, bom: bytes, accept: Accept | None) -> None:
        self._source = source
        self._bom = bom
        self._accept = accept
        self._texts: dict[int, _Text] = {}
        self._repeated_keys: dict[int, dict[int, tuple[SyntaxNode, int]]] = {}
        self._attempts = 0
        self._documents = {document.index: document for document in source.documents}
        self.skipped: list[Skipped] = []

    def plans(self, diagnostics: Iterable[Diagnostic]) -> list[_Plan]:
        """Return the fixes that can be written and do not overlap an earlier one."""
        claimed: dict[int, ClaimedPaths] = {}
        plans: list[_Plan] = []
        for diagnostic in diagnostics:
            try:
                plan = self._plan(diagnostic)
            except CannotFix as reason:
                self.skipped.append(Skipped(diagnostic, str(reason)))
                continue
            if claimed.setdefault(plan.document, ClaimedPaths()).take(plan.changes):
                plans.append(plan)

        return _without_nested_removals(plans)

    def _plan(self, diagnostic: Diagnostic) -> _Plan:
        """Return how a finding's fix changes its document. Raises CannotFix."""
        edits = diagnostic.fix.edits if diagnostic.fix else ()
        if any(edit.op == "deduplicate" for edit in edits):
            return self._plan_removal(diagnostic)

        document = self._documents.get(diagnostic.document)
        if document is None:
            raise CannotFix("the document cannot be read")

        text = self._text(document)
        node_changes = changes(document.data, [_as_set(edit, text) for edit in edits])
        if not node_changes:
            raise CannotFix("there is nothing to change")

        splices.text_edits(text.root, text.layout, node_changes)
        return _Plan(diagnostic, document.index, tuple(node_changes))

    def _plan_removal(self, diagnostic: Diagnostic) -> _Plan:
        """Plan the removal of a repeated key. The reader's findings have no document index, so find
        it from the position.
        """
        span = diagnostic.span
        if span is None:
            raise CannotFix("the location is unknown")

        offset = self._source.offset(span.line, span.column)
        document = next(
            (
                candidate
                for candidate in self._source.documents
                if candidate.start() <= offset < candidate.end()
            ),
            None,
        )
        if document is None:
            raise CannotFix("the document cannot be read")

        text = self._text(document)
        twins = self._repeated_keys.get(document.index)
        if twins is None:
            twins = self._repeated_keys[document.index] = splices.repeated_keys(text.root)
        entry = twins.get(offset - document.start())
        if entry is None:
            raise CannotFix("the key does not exist")
        mapping, index = entry
        if shares(mapping.entries[index].node):
            raise CannotFix("an alias shares the value")

        return _Plan(diagnostic, document.index, (), entry)

    def _text(self, document: Document) -> _Text:
        text = self._texts.get(document.index)
        if text is None:
            text = self._texts[document.index] = _parse_text(self._source, document)
        return text

    def compatible(self, plans: list[_Plan]) -> list[_Plan]:
        """Return the fixes that can be applied together. Record those that fail even alone as
        skipped, and all that are left when many attempts have failed; the rest wait.
        """
        if not plans:
            return []
        if self._attempts == _MAX_ATTEMPTS:
            self.skipped += [
                Skipped(plan.diagnostic, "many other fixes of the file failed") for plan in plans
            ]
            return []

        self._attempts += 1
        reason = self._why_not(plans)
        if reason is None:
            return plans
        if len(plans) == 1:
            self.skipped.append(Skipped(plans[0].diagnostic, str(reason), reason.fault))
            return []

        half = len(plans) // 2
        first = self.compatible(plans[:half])
        second = self.compatible(plans[half:])
        if not first or not second:
            return first or second

        both = [*first, *second]
        if len(both) == len(plans) or self._why_not(both):
            return first
        return both

    def _why_not(self, plans: Sequence[_Plan]) -> CannotFix | None:
        try:
            new = self.write(plans)
        except CannotFix as reason:
            return reason
        if self._accept:
            return self._accept(new, [plan.diagnostic for plan in plans])
        return None

    def write(self, plans: Sequence[_Plan]) -> bytes:
        """Return the whole stream with the fixes applied. Raises `CannotFix` if its data would
        not match the fixes.
        """
        source = self._source
        by_document: dict[int, list[_Plan]] = {}
        for plan in plans:
            by_document.setdefault(plan.document, []).append(plan)
        parts: list[str] = []
        expected: list[Any] = []
        offset = 0
        for document in source.documents:
            document_plans = by_document.get(document.index, [])
            expected.append(
                apply_changes(
                    document.data, [change for plan in document_plans for change in plan.changes]
                )
            )
            if document_plans:
                parts += [
                    source.text[offset : document.start()],
                    _write_document(self._texts[document.index], document_plans),
                ]
                offset = document.end()

        new = "".join([*parts, source.text[offset:]])
        if not _has_data(new, expected, len(source.problems)):
            # the line break changes the value of a final block scalar
            if any(self._texts[index].is_padded for index in by_document):
                raise CannotFix("the file does not end with a line break")
            raise CannotFix("the edited text would not match the fix", fault=True)

        return self._bom + new.encode()


def _without_nested_removals(plans: list[_Plan]) -> list[_Plan]:
    """Return the plans without removals inside another removed entry: these wait for the next
    round.
    """
    nested: set[int] = set()
    document = -1
    end = 0
    for plan in sorted((plan for plan in plans if plan.gone is not None), key=_removed_range):
        _, start, minus_end = _removed_range(plan)
        if plan.document == document and start < end:
            nested.add(id(plan))
        else:
            document = plan.document
            end = -minus_end

    return [plan for plan in plans if id(plan) not in nested]


def _removed_range(plan: _Plan) -> tuple[int, int, int]:
    """Return the document, the start and the negative end of a removed entry: an entry sorts
    before those inside it.
    """
    if plan.gone is None:
        return plan.document, 0, 0
    mapping, index = plan.gone
    return plan.document, mapping.entries[index].start, -mapping.entries[index].node.end


def _as_set(edit: Edit, text: _Text) -> Edit:
    """Replace a `quote` edit with a `set` edit of the plain scalar's text."""
    if edit.op != "quote":
        return edit
    node = find_node(text.root, edit.path)
    if node.kind != "scalar" or node.style or node.anchor or node.tagged or node.start == node.end:
        raise CannotFix("it is not a plain value")
    return Edit("set", edit.path, text.layout.text[node.start : node.end])


def _parse_text(source: Source, document: Document) -> _Text:
    text = source.text[document.start() : document.end()]
    readable = text
    if source.is_json:
        from ptcompile.source.json_reader import as_yaml

        readable = as_yaml(text)

    padded = not source.is_json and not text.endswith(("\n", "\r"))
    eol = "\r\n" if "\r\n" in text else "\n"
    if padded:
        text = readable = text + eol
    root = parse(readable)
    if root is None:
        raise CannotFix("there is nothing to change")

    return _Text(document, root, layout_of(text, root, is_json=source.is_json), padded)


def _write_document(text: _Text, plans: Sequence[_Plan]) -> str:
    """Return the text of one document with the fixes applied. Raises `CannotFix`."""
    edits: list[TextEdit] = splices.text_edits(
        text.root, text.layout, [c for plan in plans for c in plan.changes]
    )
    edits += splices.remove_entries(
        [plan.gone for plan in plans if plan.gone is not None], text.layout
    )
    edits = splices.sort_edits(edits, text.layout.eol)
    new = splices.apply_edits(text.layout.text, edits)
    # otherwise the last line was removed, with the added line break
    if text.is_padded and edits[-1].end < len(text.layout.text):
        return new.removesuffix(text.layout.eol)

    return new


def _has_data(text: str, expected: Sequence[Any], problems: int) -> bool:
    """Return whether a text parses to these documents, with at most this many problems."""
    stream = read(text)
    if len(stream.documents) != len(expected) or len(stream.problems) > problems:
        return False
    return all(
        equal_json(document.data, data)
        for document, data in zip(stream.documents, expected, strict=True)
    )


MAX_ROUNDS = 20
"""Maximum number of rounds. Overlapping fixes take one round each; no file needs this many."""

_FindingKey = tuple[str, int, Path, Span | None, str]
LintFunction = Callable[[bytes], Sequence[Diagnostic]]
"""Returns the findings of a text."""


class FixedText(NamedTuple):
    """A text with everything fixed that could be, and the fixes that could not be applied."""

    content: bytes
    applied: tuple[Diagnostic, ...]
    skipped: tuple[Skipped, ...]


def fix_in_rounds(content: bytes, judge: LintFunction, *, unsafe: bool) -> FixedText:
    """Apply all fixes of a file. A fix that fails or causes a new finding is undone, and counts as
    a bug in ptcompile; but an unsafe one changes what the file does, and the new behavior may have
    another finding.

    Rejections are fixed before advice, and only advice must not cause new findings: a rejection can
    hide findings below it, such as those on the value of a misspelled key.
    """
    diagnostics = judge(content)
    applied: list[Diagnostic] = []
    skipped: dict[_FindingKey, Skipped] = {}
    may_retry = False
    for _ in range(MAX_ROUNDS):
        fixable = [
            d
            for d in diagnostics
            if d.fix is not None and (unsafe or d.fix.safe) and _fix_key(d) not in skipped
        ]
        fixable = [d for d in fixable if _is_rejection(d)] or fixable
        # a fix of an earlier round may have removed what kept the skipped ones from being applied
        if not fixable and may_retry and skipped:
            may_retry = False
            skipped = {}
            continue
        if not fixable:
            break

        result, diagnostics = _run_round(content, diagnostics, fixable, judge)
        skipped |= {_fix_key(skip.diagnostic): skip for skip in result.skipped}
        if result.applied:  # positions have moved
            may_retry = True
            skipped = {key: skip for key, skip in skipped.items() if skip.diagnostic.path}
        applied += result.applied
        content = result.content

    remaining = set(map(_fix_key, diagnostics))
    return FixedText(
        content, tuple(applied), tuple(skip for key, skip in skipped.items() if key in remaining)
    )


def _run_round(
    content: bytes,
    diagnostics: Sequence[Diagnostic],
    fixable: Sequence[Diagnostic],
    judge: LintFunction,
) -> tuple[FixResult, Sequence[Diagnostic]]:
    """Apply one round of fixes, and return the result with the findings of the new text."""
    findings_by_content = {content: diagnostics}

    def accept(new: bytes, fixed: Sequence[Diagnostic]) -> CannotFix | None:
        if new not in findings_by_content:
            findings_by_content[new] = judge(new)
        return _why_not(diagnostics, findings_by_content[new], fixed)

    result = apply(content, fixable, unsafe=True, accept=accept)
    return result, findings_by_content[result.content]


def _is_rejection(diagnostic: Diagnostic) -> bool:
    return diagnostic.stage in ("apply", "pod")


def _fix_key(diagnostic: Diagnostic) -> _FindingKey:
    """Return what identifies a fix within a round; the reader's findings have no path, only a
    position.
    """
    span = None if diagnostic.path else diagnostic.span
    title = diagnostic.fix.title if diagnostic.fix else ""
    return diagnostic.name, diagnostic.document, diagnostic.path, span, title


def _why_not(
    before: Sequence[Diagnostic], after: Sequence[Diagnostic], fixed: Sequence[Diagnostic]
) -> CannotFix | None:
    """Return why a fixed text is not acceptable (a finding remains, or a new one appears), or
    None.
    """
    counts_before = Counter(map(_name_and_document, before))
    counts_after = Counter(map(_name_and_document, after))
    remaining = {(*_name_and_document(d), d.path, d.message) for d in after}
    fixed_ids = set(map(id, fixed))
    rejected = {(d.document, d.path) for d in after if _is_rejection(d) and d.severity == "error"}
    rejected -= {(d.document, d.path) for d in before if id(d) not in fixed_ids}
    for diagnostic in fixed:
        if (
            counts_after[_name_and_document(diagnostic)]
            >= counts_before[_name_and_document(diagnostic)]
            and (*_name_and_document(diagnostic), diagnostic.path, diagnostic.message) in remaining
        ):
            return CannotFix("it would not remove the finding", fault=True)
        if _is_rejection(diagnostic) and any(
            (diagnostic.document, path) in rejected for path in _assigned_paths(diagnostic)
        ):
            return CannotFix("the value would still be rejected")

    if not any(_is_rejection(d) for d in fixed):
        # a report that ends at the limit may lack findings of its last documents
        is_cut = any(d.name == "too-large" for d in before)
        listed = range(max(d.document for d in before) if is_cut else sys.maxsize)
        for d in after:
            if (
                d.document in listed
                and counts_after[_name_and_document(d)] > counts_before[_name_and_document(d)]
                and d.name != "unused-ignore"
            ):
                fault = all(diagnostic.fix and diagnostic.fix.safe for diagnostic in fixed)
                return CannotFix(f"{d.code} {d.name} would appear instead", fault=fault)

    return None


def _name_and_document(diagnostic: Diagnostic) -> tuple[str, int]:
    return diagnostic.name, diagnostic.document


def _assigned_paths(diagnostic: Diagnostic) -> list[Path]:
    """Return the paths to which a fix assigns a value."""
    edits = diagnostic.fix.edits if diagnostic.fix else ()
    return [edit.path for edit in edits if edit.op in ("set", "quote")]
