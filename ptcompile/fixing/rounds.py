"""Fix, look again, and go on until there is nothing left to fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from ptcompile.diagnostics import Diagnostic, Path
from ptcompile.fixing import Skipped, apply

ROUNDS: Final = 10
"""Fixes that touch one another wait for one another; no file needs this many rounds."""

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
    skipped: dict[tuple[str, int, Path, str], Skipped] = {}
    for _ in range(ROUNDS):
        wanted = [d for d in found if d.fix is not None and (unsafe or d.fix.safe) and _key(d) not in skipped]
        wanted = [d for d in wanted if _is_refusal(d)] or wanted
        if not wanted:
            break
        seen: dict[bytes, Sequence[Diagnostic]] = {}
        before = found

        def accept(
            new: bytes,
            fixed: Sequence[Diagnostic],
            seen: dict[bytes, Sequence[Diagnostic]] = seen,
            before: Sequence[Diagnostic] = before,
        ) -> str | None:
            seen[new] = judge(new)
            return _why_not(before, seen[new], fixed)

        result = apply(content, wanted, unsafe=unsafe, accept=accept)
        skipped |= {_key(one.diagnostic): one for one in result.skipped}
        applied += result.applied
        content = result.content
        found = seen.get(content, found)
    return Mended(content, tuple(applied), tuple(skipped.values()))


def _is_refusal(diagnostic: Diagnostic) -> bool:
    return diagnostic.stage in ("apply", "pod")


def _key(diagnostic: Diagnostic) -> tuple[str, int, Path, str]:
    return (diagnostic.name, diagnostic.document, diagnostic.path, diagnostic.fix.title if diagnostic.fix else "")


def _why_not(before: Sequence[Diagnostic], after: Sequence[Diagnostic], fixed: Sequence[Diagnostic]) -> str | None:
    """Why a text in which findings were fixed may not stay: they are there still, or others came."""
    counted, counts = Counter(map(_what, before)), Counter(map(_what, after))
    left = {(_what(d), d.path, d.message) for d in after}
    for one in fixed:
        if counts[_what(one)] >= counted[_what(one)] and (_what(one), one.path, one.message) in left:
            return "the finding would still be there"
    if not any(_is_refusal(d) for d in fixed):
        for d in after:
            if counts[_what(d)] > counted[_what(d)] and d.name != "unused-ignore":
                return f"{d.code} {d.name} would come instead"
    return None


def _what(diagnostic: Diagnostic) -> tuple[str, int]:
    return diagnostic.name, diagnostic.document
