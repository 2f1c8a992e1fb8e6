"""Two lists of strings and numbers, such as the arguments of a command: what was put in, taken out and changed."""

from __future__ import annotations

from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diffing.terms import Kind

Found = list[tuple[int, "Kind"]]
"""What differs, by index: of an item that was added in the second list, else in the first."""


def plain_lists(one: list[Any], other: list[Any], *, zipped: bool) -> Found:
    """As deepdiff has it, which compares other lists: item by item where that needs no more changes, or if `zipped`."""
    by_place = list(_by_place(one, other, 0, 0))
    if zipped:
        return by_place
    from difflib import SequenceMatcher

    found: Found = []
    for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            found += _by_place(one[a:b], other[c:d], a, c)
    if len(found) > 1 and len(found) >= len(by_place):
        return by_place
    both = {index for index, kind in found if kind == "removed"} & {index for index, kind in found if kind == "added"}
    others = [(index, kind) for index, kind in found if index not in both or kind == "changed"]
    return [*others, *((index, "changed") for index in sorted(both))]


def _by_place(one: list[Any], other: list[Any], first: int, second: int) -> Iterator[tuple[int, Kind]]:
    """Item by item: those of both lists that differ, then what only one has. The lists begin at these indexes."""
    for i, (left, right) in enumerate(zip(one, other, strict=False)):
        if type(left) is not type(right) or left != right:
            yield first + i, "changed"
    yield from ((first + i, "removed") for i in range(len(other), len(one)))
    yield from ((second + i, "added") for i in range(len(one), len(other)))
