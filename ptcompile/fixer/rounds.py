"""The fixes of a file: one round is applied, then the file is judged again, until none is left."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic, Edit, Path, Span
from ptcompile.fixer import splices
from ptcompile.fixer.blocks import Splice
from ptcompile.fixer.changes import NodeChange, Taken, apply_changes, changes, equal_json
from ptcompile.fixer.layout import Layout, layout_of
from ptcompile.fixer.syntax_tree import CannotFix, SyntaxNode, find, parse, shares
from ptcompile.source.documents import Document, Source, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


Accept = Callable[[bytes, Sequence[Diagnostic]], CannotFix | None]
"""Asked of a new text and of the findings that are fixed in it: None, or why it may not be."""


class Skipped(NamedTuple):
    """A finding whose fix was not made, and why."""

    diagnostic: Diagnostic
    why: str
    fault: bool = False
    """Whether that is a mistake of ours: the fix does what no fix may do."""


class FixResult(NamedTuple):
    """A text with fixes in it. What is neither applied nor skipped touches another fix, and waits for its turn."""

    content: bytes
    applied: tuple[Diagnostic, ...]
    skipped: tuple[Skipped, ...]


class _Text(NamedTuple):
    """One document as it is edited; the text of its layout always ends with a line break."""

    document: Document
    root: SyntaxNode
    layout: Layout
    padded: bool


class _Plan(NamedTuple):
    """One fix, as changes of one document, or as an entry that goes: its mapping and its index."""

    diagnostic: Diagnostic
    document: int
    changes: tuple[NodeChange, ...]
    gone: tuple[SyntaxNode, int] | None = None


def apply(
    content: bytes, diagnostics: Iterable[Diagnostic], *, unsafe: bool, accept: Accept | None = None
) -> FixResult:
    """Make the fixes of the findings of one file: the safe ones, with `unsafe` all of them.

    Nothing is raised for a fix that does not fit the text. Of two fixes that meet, the first is made.
    """
    source = read(content)
    wanted = [d for d in diagnostics if d.fix is not None and (unsafe or d.fix.safe)]
    if not wanted:
        return FixResult(content, (), ())
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return FixResult(content, (), tuple(Skipped(d, "the file is not UTF-8") for d in wanted))
    tried = _Round(source, codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b"", accept)
    made = tried.sound(tried.plans(wanted))
    new = tried.written(made) if made else content
    return FixResult(new, tuple(plan.diagnostic for plan in made), tuple(tried.skipped))


class _Round:
    """One text and the fixes that are tried on it."""

    def __init__(self, source: Source, bom: bytes, accept: Accept | None) -> None:
        self._source = source
        self._bom = bom
        self._accept = accept
        self._texts: dict[int, _Text] = {}
        self._twins: dict[int, dict[int, tuple[SyntaxNode, int]]] = {}
        self._documents = {document.index: document for document in source.documents}
        self.skipped: list[Skipped] = []

    def plans(self, wanted: Iterable[Diagnostic]) -> list[_Plan]:
        """The fixes that can be written, without those that touch what an earlier one touches."""
        taken: dict[int, Taken] = {}
        out: list[_Plan] = []
        for diagnostic in wanted:
            try:
                plan = self._plan(diagnostic)
            except CannotFix as reason:
                self.skipped.append(Skipped(diagnostic, str(reason)))
                continue
            if taken.setdefault(plan.document, Taken()).take(plan.changes):
                out.append(plan)
        return out

    def _plan(self, diagnostic: Diagnostic) -> _Plan:
        edits = diagnostic.fix.edits if diagnostic.fix else ()
        if any(edit.op == "deduplicate" for edit in edits):
            return self._twin(diagnostic)
        document = self._documents.get(diagnostic.document)
        if document is None:
            raise CannotFix("the document cannot be read")
        text = self._text(document)
        found = changes(document.data, [_as_set(edit, text) for edit in edits])
        if not found:
            raise CannotFix("there is nothing to change")
        splices.splices(text.root, text.layout, found)
        return _Plan(diagnostic, document.index, tuple(found))

    def _twin(self, diagnostic: Diagnostic) -> _Plan:
        """Reader's findings know no document: it is the one around their place."""
        span = diagnostic.span
        if span is None:
            raise CannotFix("the location is unknown")
        offset = self._source.offset(span.line, span.column)
        document = next((one for one in self._source.documents if one.start() <= offset < one.end()), None)
        if document is None:
            raise CannotFix("the document cannot be read")
        text = self._text(document)
        twins = self._twins.get(document.index)
        if twins is None:
            twins = self._twins[document.index] = splices.twins(text.root)
        gone = twins.get(offset - document.start())
        if gone is None:
            raise CannotFix("the key is not there")
        if shares(gone[0].entries[gone[1]].node):
            raise CannotFix("an alias shares the value")
        return _Plan(diagnostic, document.index, (), gone)

    def _text(self, document: Document) -> _Text:
        text = self._texts.get(document.index)
        if text is None:
            text = self._texts[document.index] = _laid_out(self._source, document)
        return text

    def sound(self, plans: list[_Plan]) -> list[_Plan]:
        """The fixes that can be made together; those that cannot be made at all are noted, the others wait."""
        if not plans:
            return []
        reason = self._why_not(plans)
        if reason is None:
            return plans
        if len(plans) == 1:
            self.skipped.append(Skipped(plans[0].diagnostic, str(reason), reason.fault))
            return []
        half = len(plans) // 2
        first, second = self.sound(plans[:half]), self.sound(plans[half:])
        if not first or not second:
            return first or second
        both = [*first, *second]
        return first if len(both) == len(plans) or self._why_not(both) else both

    def _why_not(self, plans: Sequence[_Plan]) -> CannotFix | None:
        try:
            new = self.written(plans)
        except CannotFix as reason:
            return reason
        return self._accept(new, [plan.diagnostic for plan in plans]) if self._accept else None

    def written(self, plans: Sequence[_Plan]) -> bytes:
        """The whole stream with the fixes made. Raises `CannotFix` where it would not say what the fixes say."""
        source = self._source
        by_document: dict[int, list[_Plan]] = {}
        for plan in plans:
            by_document.setdefault(plan.document, []).append(plan)
        parts: list[str] = []
        expected: list[Any] = []
        at = 0
        for document in source.documents:
            mine = by_document.get(document.index, [])
            expected.append(apply_changes(document.data, [change for plan in mine for change in plan.changes]))
            if mine:
                parts += [source.text[at : document.start()], _edited(self._texts[document.index], mine)]
                at = document.end()
        new = "".join([*parts, source.text[at:]])
        if not _says(new, expected, len(source.problems)):
            if any(self._texts[index].padded for index in by_document):  # a text block without it is another text
                raise CannotFix("the file does not end with a line break")
            raise CannotFix("the edited text would not match the fix", fault=True)
        return self._bom + new.encode()


def _as_set(edit: Edit, text: _Text) -> Edit:
    """To quote is to set the text that a plain scalar is written with."""
    if edit.op != "quote":
        return edit
    node = find(text.root, edit.path)
    if node.kind != "scalar" or node.style or node.anchor or node.tagged or node.start == node.end:
        raise CannotFix("it is not a plain value")
    return Edit("set", edit.path, text.layout.text[node.start : node.end])


def _laid_out(source: Source, document: Document) -> _Text:
    text = source.text[document.start() : document.end()]
    readable = text
    if source.is_json:
        from ptcompile.source.json_reader import as_yaml

        readable = as_yaml(text)
    padded = not source.is_json and not text.endswith("\n")
    eol = "\r\n" if "\r\n" in text else "\n"
    if padded:
        text = readable = text + eol
    root = parse(readable)
    if root is None:
        raise CannotFix("there is nothing to change")
    return _Text(document, root, layout_of(text, root, is_json=source.is_json), padded)


def _edited(text: _Text, plans: Sequence[_Plan]) -> str:
    """The text of one document with the fixes made. Raises `CannotFix`."""
    found: list[Splice] = splices.splices(text.root, text.layout, [c for plan in plans for c in plan.changes])
    found += splices.without([plan.gone for plan in plans if plan.gone is not None], text.layout)
    found = splices.in_order(found, text.layout.eol)
    new = splices.apply_edits(text.layout.text, found)
    if text.padded and found[-1].end < len(text.layout.text):  # else the last line has gone, and what we added with it
        return new.removesuffix(text.layout.eol)
    return new


def _says(text: str, expected: Sequence[Any], problems: int) -> bool:
    """Whether a text is read as these documents, with no more problems than there were."""
    there = read(text)
    if len(there.documents) != len(expected) or len(there.problems) > problems:
        return False
    return all(equal_json(document.data, data) for document, data in zip(there.documents, expected, strict=True))


ROUNDS: Final = 20
"""Fixes that touch one another wait for one another; no file needs this many rounds."""

_FindingKey = tuple[str, int, Path, Span | None, str]
LintFunction = Callable[[bytes], Sequence[Diagnostic]]
"""What is found in a text."""


class Mended(NamedTuple):
    """A text in which whatever could be fixed is fixed, and the fixes that could not be made."""

    content: bytes
    applied: tuple[Diagnostic, ...]
    skipped: tuple[Skipped, ...]


def mend(content: bytes, judge: LintFunction, *, unsafe: bool) -> Mended:
    """Make all fixes of a file. A fix that does not help, or that makes a new finding, is undone and is our fault.

    Refusals are fixed before advice, and only advice is held to "no new finding": what is refused hides what is below
    it, so that a name that is spelt right at last has its value looked at for the first time.
    """
    found = judge(content)
    applied: list[Diagnostic] = []
    skipped: dict[_FindingKey, Skipped] = {}
    for _ in range(ROUNDS):
        wanted = [d for d in found if d.fix is not None and (unsafe or d.fix.safe) and _key(d) not in skipped]
        wanted = [d for d in wanted if _is_refusal(d)] or wanted
        if not wanted:
            break
        result, found = _round(content, found, wanted, judge)
        skipped |= {_key(one.diagnostic): one for one in result.skipped}
        if result.applied:  # positions have moved, and what stood in the way may be gone
            skipped = {key: one for key, one in skipped.items() if one.diagnostic.path}
        applied += result.applied
        content = result.content
    left = set(map(_key, found))
    return Mended(content, tuple(applied), tuple(one for key, one in skipped.items() if key in left))


def _round(
    content: bytes, found: Sequence[Diagnostic], wanted: Sequence[Diagnostic], judge: LintFunction
) -> tuple[FixResult, Sequence[Diagnostic]]:
    """One round, and what is found after it."""
    seen = {content: found}

    def accept(new: bytes, fixed: Sequence[Diagnostic]) -> CannotFix | None:
        if new not in seen:
            seen[new] = judge(new)
        return _why_not(found, seen[new], fixed)

    result = apply(content, wanted, unsafe=True, accept=accept)
    return result, seen[result.content]


def _is_refusal(diagnostic: Diagnostic) -> bool:
    return diagnostic.stage in ("apply", "pod")


def _key(diagnostic: Diagnostic) -> _FindingKey:
    """Return what identifies a fix within a round; the reader's findings have no path, only a position."""
    span = None if diagnostic.path else diagnostic.span
    title = diagnostic.fix.title if diagnostic.fix else ""
    return diagnostic.name, diagnostic.document, diagnostic.path, span, title


def _why_not(
    before: Sequence[Diagnostic], after: Sequence[Diagnostic], fixed: Sequence[Diagnostic]
) -> CannotFix | None:
    """Why a text in which findings were fixed may not stay: they are there still, or others came."""
    counted, counts = Counter(map(_kind, before)), Counter(map(_kind, after))
    there = {(*_kind(d), d.path, d.message) for d in after}
    mended = set(map(id, fixed))
    refused = {(d.document, d.path) for d in after if _is_refusal(d) and d.severity == "error"}
    refused -= {(d.document, d.path) for d in before if id(d) not in mended}
    for one in fixed:
        if counts[_kind(one)] >= counted[_kind(one)] and (*_kind(one), one.path, one.message) in there:
            return CannotFix("it would not remove the finding", fault=True)
        if _is_refusal(one) and any((one.document, path) in refused for path in _written(one)):
            return CannotFix("the value would still be rejected")
    if not any(_is_refusal(d) for d in fixed):
        for d in after:
            if counts[_kind(d)] > counted[_kind(d)] and d.name != "unused-ignore":
                return CannotFix(f"{d.code} {d.name} would appear instead", fault=True)
    return None


def _kind(diagnostic: Diagnostic) -> tuple[str, int]:
    return diagnostic.name, diagnostic.document


def _written(diagnostic: Diagnostic) -> list[Path]:
    """The places where a fix gives a value of its own."""
    edits = diagnostic.fix.edits if diagnostic.fix else ()
    return [edit.path for edit in edits if edit.op in ("set", "quote")]
