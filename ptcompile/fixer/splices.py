"""Turn data changes into text edits of one document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ptcompile._internal.namedtuple import Any
from ptcompile.diagnostics import Path
from ptcompile.fixer import blocks, flows
from ptcompile.fixer.blocks import TextEdit
from ptcompile.fixer.changes import NodeChange, group_by_box, removed_parts
from ptcompile.fixer.layout import Layout
from ptcompile.fixer.syntax_tree import CannotFix, SyntaxNode, entry_of, find_node


def text_edits(root: SyntaxNode, layout: Layout, changes: Iterable[NodeChange]) -> list[TextEdit]:
    """Return the text edits for the changes, in the order of the text. Raises `CannotFix` if the
    text does not allow them.
    """
    boxes = group_by_box(changes)
    # if two changes add a line at the same offset, the inner one's comes first
    inner_first = sorted(boxes, key=len, reverse=True)
    return sort_edits(
        (edit for box in inner_first for edit in _edits_in_box(root, layout, box, boxes[box])),
        layout.eol,
    )


def repeated_keys(root: SyntaxNode) -> dict[int, tuple[SyntaxNode, int]]:
    """Return the mapping and the index of the previous entry for each repeated key, keyed by the
    key's offset.
    """
    repeated: dict[int, tuple[SyntaxNode, int]] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        last: dict[str, int] = {}
        for index, entry in enumerate(node.entries):
            if entry.name is None:
                continue
            if entry.name in last:
                repeated[entry.start] = node, last[entry.name]
            last[entry.name] = index
        stack += node.parts

    return repeated


def remove_entries(entries: Iterable[tuple[SyntaxNode, int]], layout: Layout) -> list[TextEdit]:
    """Remove these mapping entries, given by index. Raises `CannotFix`."""
    by_node: dict[int, tuple[SyntaxNode, list[int]]] = {}
    for node, index in entries:
        by_node.setdefault(id(node), (node, []))[1].append(index)
    edits: list[TextEdit] = []
    for node, indexes in by_node.values():
        cut = flows.remove_parts if node.flow else blocks.remove_lines
        edits += cut(layout.text, node.slots(), indexes)

    return sort_edits(edits, layout.eol)


def sort_edits(edits: Iterable[TextEdit], eol: str) -> list[TextEdit]:
    """Return the text edits sorted by position. Raises `CannotFix` if two of them overlap."""
    ordered = [edit for edit in edits if edit.start != edit.end or edit.text]
    cuts = sorted(edit for edit in ordered if not edit.text)
    ordered = sorted(
        (_move_above_cuts(edit, cuts, eol) for edit in ordered),
        key=lambda edit: (edit.start, edit.end),
    )
    for edit, following in pairwise(ordered):
        if following.start < edit.end:
            raise CannotFix("its edits overlap")
    return ordered


def _move_above_cuts(edit: TextEdit, cuts: Sequence[TextEdit], eol: str) -> TextEdit:
    """Move an insertion out of removed lines, to the end of the line above them."""
    while edit.start == edit.end and edit.text.startswith(eol):
        index = bisect_left(cuts, edit.start, key=lambda cut: cut.start) - 1
        if index < 0 or edit.start >= cuts[index].end:
            break
        offset = cuts[index].start - len(eol)
        edit = edit._replace(start=offset, end=offset)
    return edit


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """Return the text with the edits, which must be sorted, applied."""
    parts: list[str] = []
    offset = 0
    for edit in edits:
        parts += [text[offset : edit.start], edit.text]
        offset = edit.end
    return "".join([*parts, text[offset:]])


def _edits_in_box(
    root: SyntaxNode, layout: Layout, box: Path, changes: Sequence[NodeChange]
) -> Iterator[TextEdit]:
    node = find_node(root, box)
    if node.kind not in ("mapping", "list"):
        raise CannotFix("the field does not exist")
    if not node.flow and _becomes_empty(node, changes):
        if any(change.op != "remove" for change in changes):
            raise CannotFix("the collection would have no other part left")
        return _write_empty(root, layout, box, {} if node.kind == "mapping" else [])
    if node.kind == "mapping":
        if node.flow:
            return flows.mapping(node, changes, layout)
        return blocks.mapping(node, changes, layout)
    if node.flow:
        return flows.sequence(node, changes, layout)

    return blocks.sequence(node, changes, layout)


def _becomes_empty(node: SyntaxNode, changes: Sequence[NodeChange]) -> bool:
    if any(change.op in ("add", "insert") for change in changes):
        return False
    removed = removed_parts(changes)
    if node.kind == "mapping":
        return all(entry.name in removed for entry in node.entries)
    return len(removed) == len(node.items)


def _write_empty(root: SyntaxNode, layout: Layout, box: Path, value: Any) -> Iterator[TextEdit]:
    """Yield the edits that replace an empty block with `{}` or `[]`."""
    if not box:
        raise CannotFix("nothing would be left")

    parent = find_node(root, box[:-1])
    part = box[-1]
    if isinstance(part, int):
        item = parent.items[part]
        return blocks.replace_value(
            item.dash, item.dash + 1, item.node, value, layout, is_item=True
        )

    entry = entry_of(parent, part)
    return blocks.replace_value(
        entry.start, blocks.colon_end(entry), entry.node, value, layout, is_item=False
    )
