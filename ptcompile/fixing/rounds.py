"""Fix, look again, and go on until there is nothing left to fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ptcompile.findings.diagnostics import Diagnostic, Path, Span
from ptcompile.fixing.applying import Fixed, Skipped, apply
from ptcompile.fixing.tree import CannotFix
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ROUNDS: Final = 20
"""Fixes that touch one another wait for one another; no file needs this many rounds."""

_Key = tuple[str, int, Path, Span | None, str]
Judge = Callable[[bytes], Sequence[Diagnostic]]
"""What is found in a text."""


class Mended(NamedTuple):
    """A text in which whatever could be fixed is fixed, and the fixes that could not be made."""

    content: bytes
    applied: tuple[Diagnostic, ...]
    skipped: tuple[Skipped, ...]


def mend(content: bytes, judge: Judge, *, unsafe: bool) -> Mended:
    """Make all fixes of a file. A fix that does not help, or that makes a new finding, is undone and is our fault.

    Refusals are fixed before advice, and only advice is held to "no new finding": what is refused hides what is below
    it, so that a name that is spelt right at last has its value looked at for the first time.
    """
    found = judge(content)
    applied: list[Diagnostic] = []
    skipped: dict[_Key, Skipped] = {}
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
    content: bytes, found: Sequence[Diagnostic], wanted: Sequence[Diagnostic], judge: Judge
) -> tuple[Fixed, Sequence[Diagnostic]]:
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


def _key(diagnostic: Diagnostic) -> _Key:
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
