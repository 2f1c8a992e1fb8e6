"""Changes of mappings and lists in block style, line by line, as changes of text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.fixer.changes import NodeChange
from ptcompile.fixer.layout import Layout, entry_lines, inline, is_block, item_lines, key_text, lines_below
from ptcompile.fixer.syntax_tree import (
    CannotFix,
    MappingEntry,
    SyntaxNode,
    column,
    entry_of,
    line_end,
    line_start,
    shares,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Splice(NamedTuple):
    """A change of text: what stands between the offsets becomes this."""

    start: int
    end: int
    text: str


Slots = Sequence[tuple[int, int]]
"""Where each part of a collection begins, with its key or dash, and where it ends."""

_blank = re.compile(r"\s*")
_own_comment = re.compile(r"([ ]*)#[^\n]*\n").match
_comment = re.compile(r"(?<![ \t])[ \t]+#.*").search


def mapping(node: SyntaxNode, here: Sequence[NodeChange], layout: Layout) -> Iterator[Splice]:
    """A mapping of which at least one entry is left or given. Raises `CannotFix`."""
    names = {change.part for change in here if change.op == "remove"}
    gone = [at for at, entry in enumerate(node.entries) if entry.name in names]
    added = [change for change in here if change.op == "add"]
    for change in here:
        if change.op == "replace":
            entry = entry_of(node, change.part)
            yield from replaced(entry.start, lead(entry), entry.node, change.value, layout, is_item=False)
        elif change.op == "rename":
            yield renamed(entry_of(node, change.part), change.value, layout)
    slots = [(entry.start, entry.node.end) for entry in node.entries]
    for at in gone:
        _check_leaves(node.entries[at].node)
        lead(node.entries[at])
    if added:
        indent = column(layout.text, node.entries[0].start)
        lead(node.entries[0])
        lines = [line for change in added for line in entry_lines(change.part, change.value, layout)]
        if gone:
            yield _instead(slots[gone.pop(0)], lines, indent, layout)
        else:
            yield _after(slots[_place(node, lines)], lines, indent, layout)
    yield from remove_lines(layout.text, slots, gone)


def sequence(node: SyntaxNode, here: Sequence[NodeChange], layout: Layout) -> Iterator[Splice]:
    """A list of which at least one item is left or given. Raises `CannotFix`."""
    slots = node.slots()
    gone = sorted(change.part for change in here if change.op == "remove")
    for at in gone:
        _check_leaves(node.items[at].node)
    indent = column(layout.text, slots[0][0])
    given: dict[tuple[int, bool], list[str]] = {}
    for change in sorted((change for change in here if change.op == "insert"), key=lambda change: int(change.part)):
        beside = max(change.part - 1, 0)
        given.setdefault((beside, change.part > 0 or beside in gone), []).extend(item_lines(change.value, layout))
    for (beside, behind), lines in given.items():
        if beside in gone:
            gone.remove(beside)
            yield _instead(slots[beside], lines, indent, layout)
        elif behind:
            yield _after(slots[beside], lines, indent, layout)
        else:
            start = slots[0][0]
            yield Splice(start, start, _joined(lines, indent, layout) + layout.eol + " " * indent)
    for change in here:
        if change.op == "replace":
            item = node.items[change.part]
            yield from replaced(item.dash, item.dash + 1, item.node, change.value, layout, is_item=True)
    yield from remove_lines(layout.text, slots, gone)


def replaced(
    start: int, after: int, node: SyntaxNode, value: Any, layout: Layout, *, is_item: bool
) -> Iterator[Splice]:
    """Another value for an entry or an item that begins at `start` and whose colon or dash ends at `after`.

    What follows the old value on its line, a comment, stays there.
    """
    _check_leaves(node)
    text = layout.text
    first, rest = _written(node, value, layout, is_item=is_item)
    below = line_start(text, node.start) > after
    wide = node.start - after - 1 if is_item and not below and node.start < node.end else 0  # blanks behind the dash
    more = "".join(layout.eol + line for line in _at(column(text, start) + wide, rest))
    if node.block and below:
        yield Splice(after, after, f" {first}" if first else "")
        yield Splice(line_end(text, after), line_end(text, node.end), more)
    elif node.block:
        yield Splice(node.start if first else after, line_end(text, node.end), first + more)
    elif node.style in ("|", ">"):
        comment = _comment(text[node.start : line_end(text, node.start)])
        yield Splice(
            node.start if first else after, line_end(text, node.end), first + (comment[0] if comment else "") + more
        )
    elif node.start == node.end:
        yield Splice(after, after, f" {first}" if first else "")
        yield Splice(line_end(text, after), line_end(text, after), more)
    else:
        yield Splice(node.start if first else after, node.end, first)
        yield Splice(line_end(text, node.end), line_end(text, node.end), more)


def _written(node: SyntaxNode, value: Any, layout: Layout, *, is_item: bool) -> tuple[str, list[str]]:
    """What stands on the line of the colon or dash, and the lines below it, as from the column of key or dash."""
    if node.flow or not is_block(value) or (node.kind == "scalar" and _is_short(value)):
        return inline(value, node.style), []
    if is_item:
        first, *rest = item_lines(value, layout)
        return first[2:], rest
    return "", lines_below(value, layout)


def _is_short(value: Any) -> bool:
    """Whether a collection is written in brackets where one word stood."""
    return isinstance(value, list) and len(value) == 1 and not is_block(value[0])


def renamed(entry: MappingEntry, name: str, layout: Layout, *, flow: bool = False) -> Splice:
    """Another key in the quotes of the old one. Raises `CannotFix`."""
    if not entry.bare:
        raise CannotFix("its key is written with '?', an anchor or a tag")
    return Splice(entry.start, entry.end, key_text(name, entry.style, flow=flow, is_json=layout.is_json))


def lead(entry: MappingEntry) -> int:
    """Where the colon of an entry ends. Raises `CannotFix` for a key that is written with `?`."""
    if entry.colon is None:
        raise CannotFix("its key is written with '?'")
    return entry.colon


def _check_leaves(node: SyntaxNode) -> None:
    if shares(node):
        raise CannotFix("an alias shares the value")


def _place(node: SyntaxNode, lines: Sequence[str]) -> int:
    """The entry behind which a new one goes: before the first long one if it is short, and behind all merges."""
    last = len(node.entries) - 1
    if len(lines) > 1:
        return last
    long = next((at for at, entry in enumerate(node.entries) if entry.node.block), last + 1)
    merged = max((at for at, entry in enumerate(node.entries) if entry.name is None), default=0)
    return max(long - 1, merged) if long else last


def _after(slot: tuple[int, int], lines: Sequence[str], indent: int, layout: Layout) -> Splice:
    at = line_end(layout.text, slot[1])
    return Splice(at, at, layout.eol + " " * indent + _joined(lines, indent, layout))


def _instead(slot: tuple[int, int], lines: Sequence[str], indent: int, layout: Layout) -> Splice:
    return Splice(slot[0], line_end(layout.text, slot[1]), _joined(lines, indent, layout))


def _joined(lines: Sequence[str], indent: int, layout: Layout) -> str:
    """Lines of which the first follows what is on its line already."""
    return lines[0] + "".join(layout.eol + line for line in _at(indent, lines[1:]))


def _at(indent: int, lines: Sequence[str]) -> Iterator[str]:
    return (" " * indent + line for line in lines)


def remove_lines(text: str, slots: Slots, gone: Collection[int]) -> Iterator[Splice]:
    """Take parts away with their lines. The text ends with a line break, and one part at least stays."""
    rest = set(gone)
    start = slots[0][0]
    if 0 in rest and text[line_start(text, start) : start].strip():
        # Behind a dash: the next part that stays moves up to it, with the comments above it.
        stays = next(at for at in range(len(slots)) if at not in rest)
        found = _blank.match(text, line_end(text, slots[stays - 1][1]))
        yield Splice(start, found.end() if found else start, "")
        rest -= set(range(stays))
    for at in sorted(rest):
        yield Splice(line_start(text, slots[at][0]), _end_of_lines(text, *slots[at]), "")


def _end_of_lines(text: str, start: int, end: int) -> int:
    """Where the lines of a part end, with the comments below it that are indented as if they were within it."""
    stop = text.index("\n", end) + 1
    inside = _own_comment(text, stop)
    while inside is not None and len(inside[1]) > column(text, start):
        stop = inside.end()
        inside = _own_comment(text, stop)
    return stop
