"""Changes of data as changes of the text of one document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ptcompile.diagnostics import Path
from ptcompile.fixer import blocks, flows
from ptcompile.fixer.blocks import Splice
from ptcompile.fixer.changes import NodeChange, by_box
from ptcompile.fixer.layout import Layout
from ptcompile.fixer.syntax_tree import CannotFix, SyntaxNode, entry_of, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def splices(root: SyntaxNode, layout: Layout, found: Iterable[NodeChange]) -> list[Splice]:
    """What has to be written, in the order of the text. Raises `CannotFix` where the text does not allow it."""
    boxes = by_box(found)
    inner_first = sorted(boxes, key=len, reverse=True)  # where two add a line at one place, the inner one's is above
    return in_order((splice for box in inner_first for splice in _in_box(root, layout, box, boxes[box])), layout.eol)


def twins(root: SyntaxNode) -> dict[int, tuple[SyntaxNode, int]]:
    """Return, for the offset of each key that is repeated, its mapping and the index of the entry before it."""
    found: dict[int, tuple[SyntaxNode, int]] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        last: dict[str, int] = {}
        for at, entry in enumerate(node.entries):
            if entry.name is None:
                continue
            if entry.name in last:
                found[entry.start] = node, last[entry.name]
            last[entry.name] = at
        stack += [entry.node for entry in node.entries] + [item.node for item in node.items]
    return found


def without(gone: Iterable[tuple[SyntaxNode, int]], layout: Layout) -> list[Splice]:
    """Remove these entries of mappings, each given by its index. Raises `CannotFix`."""
    by_node: dict[int, tuple[SyntaxNode, list[int]]] = {}
    for node, at in gone:
        by_node.setdefault(id(node), (node, []))[1].append(at)
    found: list[Splice] = []
    for node, indexes in by_node.values():
        cut = flows.cut if node.flow else blocks.remove_lines
        found += cut(layout.text, [(entry.start, entry.node.end) for entry in node.entries], indexes)
    return in_order(found, layout.eol)


def in_order(found: Iterable[Splice], eol: str) -> list[Splice]:
    """The changes of text by position. Raises `CannotFix` where two of them meet."""
    out = [one for one in found if one.start != one.end or one.text]
    cuts = sorted(one for one in out if not one.text)
    out = sorted((_above(one, cuts, eol) for one in out), key=_place)
    for one, following in pairwise(out):
        if following.start < one.end:
            raise CannotFix("its edits overlap")
    return out


def _place(one: Splice) -> tuple[int, int]:
    return one.start, one.end


def _above(one: Splice, cuts: Sequence[Splice], eol: str) -> Splice:
    """New lines behind lines that go: behind the line above those."""
    while one.start == one.end and one.text.startswith(eol):
        at = bisect_left(cuts, one.start, key=lambda cut: cut.start) - 1
        if at < 0 or one.start >= cuts[at].end:
            break
        place = cuts[at].start - len(eol)
        one = one._replace(start=place, end=place)
    return one


def apply_edits(text: str, found: Sequence[Splice]) -> str:
    """The text with the changes made, which are in order."""
    parts: list[str] = []
    at = 0
    for one in found:
        parts += [text[at : one.start], one.text]
        at = one.end
    return "".join([*parts, text[at:]])


def _in_box(root: SyntaxNode, layout: Layout, box: Path, here: Sequence[NodeChange]) -> Iterator[Splice]:
    node = find(root, box)
    if node.kind not in ("mapping", "list"):
        raise CannotFix("the field is not there")
    if not node.flow and _emptied(node, here):
        if any(change.op != "remove" for change in here):
            raise CannotFix("nothing would be left beside it")
        return _empty(root, layout, box, {} if node.kind == "mapping" else [])
    if node.kind == "mapping":
        return flows.mapping(node, here, layout) if node.flow else blocks.mapping(node, here, layout)
    return flows.sequence(node, here, layout) if node.flow else blocks.sequence(node, here, layout)


def _emptied(node: SyntaxNode, here: Sequence[NodeChange]) -> bool:
    if any(change.op in ("add", "insert") for change in here):
        return False
    gone = {change.part for change in here if change.op == "remove"}
    if node.kind == "mapping":
        return all(entry.name in gone for entry in node.entries)
    return len(gone) == len(node.items)


def _empty(root: SyntaxNode, layout: Layout, box: Path, value: Any) -> Iterator[Splice]:
    """A block without parts has no lines: it becomes `{}` or `[]`."""
    if not box:
        raise CannotFix("nothing would be left")
    parent = find(root, box[:-1])
    part = box[-1]
    if isinstance(part, int):
        item = parent.items[part]
        return blocks.replaced(item.dash, item.dash + 1, item.node, value, layout, is_item=True)
    entry = entry_of(parent, part)
    return blocks.replaced(entry.start, blocks.lead(entry), entry.node, value, layout, is_item=False)
