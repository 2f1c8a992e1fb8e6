"""What each of many changes does, without a compilation for each: lines that are alike are changed together.

Of n lines that are alike, such as the entries of `env`, half are changed at a time: those whose number has a bit, and
those whose number does not have it. A value of the manifests that only one line decides changes for one of the two
halves of every bit, and these bits are that line's number: 2 log2(n) compilations instead of n. A value of which they
give no such number is decided by several lines, and these are tried one by one; so are all where a half is not valid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile.explaining.variants import Change, replaced
from ptcompile.findings.diagnostics import Path
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Outcome = Callable[[Any], frozenset[Path] | None]
    """From a document to the values of the manifests that are others because of it; None where it is not valid."""

FEW = 12
"""So many lines that are alike are tried one by one."""


def outcomes(
    data: Mapping[str, Any], changes: Sequence[Change], outcome: Outcome
) -> Iterator[tuple[Change, frozenset[Path]]]:
    """Each change that leaves the document valid, with the values of the manifests that it changes. In order."""
    families: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, change in enumerate(changes):
        families[change.alike].append(number)
    found: dict[int, frozenset[Path]] = {}
    for members in families.values():
        together = _together(data, [changes[i] for i in members], outcome) if len(members) > FEW else None
        for number, here in zip(members, together or [None] * len(members), strict=True):
            now = _alone(data, changes[number], outcome) if here is None else here
            if now is not None:
                found[number] = now
    for number, change in enumerate(changes):
        if number in found:
            yield change, found[number]


def _alone(data: Mapping[str, Any], change: Change, outcome: Outcome) -> frozenset[Path] | None:
    """What one change does, by the first of its values that is valid."""
    tried = (outcome(replaced(data, {change.path: value})) for value in change.values())
    return next((now for now in tried if now is not None), None)


def _together(
    data: Mapping[str, Any], changes: Sequence[Change], outcome: Outcome
) -> list[frozenset[Path] | None] | None:
    """What each change does, or None for one that has to be tried alone; None as a whole where all have to be."""
    values = [next(change.values(), None) for change in changes]
    if any(value is None for value in values):
        return None
    seen: defaultdict[Path, list[int]] = defaultdict(lambda: [0, 0])
    for bit in range((len(changes) - 1).bit_length()):
        for side in (0, 1):
            half = [i for i in range(len(changes)) if i >> bit & 1 == side]
            now = outcome(replaced(data, {changes[i].path: values[i] for i in half}))
            if now is None:
                return None
            for path in now:
                seen[path][side] |= 1 << bit
    return _told(len(changes), seen)


class _Seen(NamedTuple):
    """For which bits a value changed with the half that has not the bit, and with the half that has it."""

    without: int
    having: int

    def fits(self, number: int, whole: int) -> bool:
        """Whether a change of this number may be one of those that decide the value."""
        only_without, only_having = self.without & ~self.having, self.having & ~self.without
        return not number & only_without and not ~number & only_having & whole


def _told(count: int, seen: Mapping[Path, Sequence[int]]) -> list[frozenset[Path] | None]:
    whole = (1 << (count - 1).bit_length()) - 1
    own: list[set[Path] | None] = [set() for _ in range(count)]
    doubtful: dict[_Seen, None] = {}
    for path, (without, having) in seen.items():
        mine = own[having] if without ^ having == whole and not without & having and having < count else None
        if mine is None:
            doubtful[_Seen(without, having)] = None
        else:
            mine.add(path)
    for one in doubtful:
        if all(paths is None for paths in own):
            break
        own = [None if paths is None or one.fits(i, whole) else paths for i, paths in enumerate(own)]
    return [None if paths is None else frozenset(paths) for paths in own]
