"""Write changes of block mappings and block lists, line by line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.fixer.changes import NodeChange, removed_entries, removed_parts
from ptcompile.fixer.layout import (
    Layout,
    entry_lines,
    indent_lines,
    inline,
    is_block,
    item_lines,
    key_text,
    lines_below,
)
from ptcompile.fixer.syntax_tree import (
    CannotFix,
    MappingEntry,
    Slot,
    SyntaxNode,
    column,
    entry_of,
    line_end,
    line_start,
    shares,
)


class TextEdit(NamedTuple):
    """A text edit: replaces the text between two offsets."""

    start: int
    end: int
    text: str


_whitespace = re.compile(r"\s*")
_own_comment = re.compile(r"([ ]*)#[^\n]*\n").match
_comment = re.compile(r"(?<![ \t])[ \t]+#.*").search


def mapping(node: SyntaxNode, changes: Sequence[NodeChange], layout: Layout) -> Iterator[TextEdit]:
    """Yield the edits for a block mapping that keeps or gains at least one entry. Raises
    `CannotFix`.
    """
    removed = removed_entries(node, changes)
    added = [change for change in changes if change.op == "add"]
    for change in changes:
        if change.op == "replace":
            entry = entry_of(node, change.part)
            yield from replace_value(
                entry.start, colon_end(entry), entry.node, change.value, layout, is_item=False
            )
        elif change.op == "rename":
            yield rename_key(entry_of(node, change.part), change.value, layout)

    slots = node.slots()
    for index in removed:
        check_unshared(node.entries[index].node)
        colon_end(node.entries[index])
    if added:
        indent = column(layout.text, node.entries[0].start)
        colon_end(node.entries[0])
        lines = [
            line for change in added for line in entry_lines(change.part, change.value, layout)
        ]
        if removed:
            yield _replace_part(slots[removed.pop(0)], lines, indent, layout)
        else:
            yield _insert_after(slots[_insertion_index(node, lines)], lines, indent, layout)

    yield from remove_lines(layout.text, slots, removed)


def sequence(node: SyntaxNode, changes: Sequence[NodeChange], layout: Layout) -> Iterator[TextEdit]:
    """Yield the edits for a block list that keeps or gains at least one item. Raises
    `CannotFix`.
    """
    slots = node.slots()
    removed = sorted(removed_parts(changes))
    for index in removed:
        check_unshared(node.items[index].node)
    indent = column(layout.text, slots[0].start)
    inserted: dict[tuple[int, bool], list[str]] = {}
    for change in sorted(
        (change for change in changes if change.op == "insert"), key=lambda change: int(change.part)
    ):
        neighbor = max(change.part - 1, 0)
        inserted.setdefault((neighbor, change.part > 0 or neighbor in removed), []).extend(
            item_lines(change.value, layout)
        )

    for (neighbor, is_after), lines in inserted.items():
        if neighbor in removed:
            removed.remove(neighbor)
            yield _replace_part(slots[neighbor], lines, indent, layout)
        elif is_after:
            yield _insert_after(slots[neighbor], lines, indent, layout)
        else:
            start = slots[0].start
            yield TextEdit(
                start, start, _join_lines(lines, indent, layout) + layout.eol + " " * indent
            )

    for change in changes:
        if change.op == "replace":
            item = node.items[change.part]
            yield from replace_value(
                item.dash, item.dash + 1, item.node, change.value, layout, is_item=True
            )

    yield from remove_lines(layout.text, slots, removed)


def replace_value(
    start: int, after: int, node: SyntaxNode, value: Any, layout: Layout, *, is_item: bool
) -> Iterator[TextEdit]:
    """Yield the edits that give a new value to the entry or item at `start`, whose colon or dash
    ends at `after`.

    A comment after the old value stays on its line.
    """
    check_unshared(node)
    text = layout.text
    first, rest = _format_value(node, value, layout, is_item=is_item)
    is_below = line_start(text, node.start) > after
    # spaces after the dash
    extra_indent = (
        node.start - after - 1 if is_item and not is_below and node.start < node.end else 0
    )
    more = "".join(
        layout.eol + line for line in indent_lines(rest, column(text, start) + extra_indent)
    )
    if node.is_block and is_below:
        yield TextEdit(after, after, f" {first}" if first else "")
        yield TextEdit(line_end(text, after), line_end(text, node.end), more)
    elif node.is_block:
        yield TextEdit(node.start if first else after, line_end(text, node.end), first + more)
    elif node.style in ("|", ">"):
        comment = _comment(text[node.start : line_end(text, node.start)])
        yield TextEdit(
            node.start if first else after,
            line_end(text, node.end),
            first + (comment[0] if comment else "") + more,
        )
    elif node.start == node.end:
        yield TextEdit(after, after, f" {first}" if first else "")
        yield TextEdit(line_end(text, after), line_end(text, after), more)
    else:
        yield TextEdit(node.start if first else after, node.end, first)
        yield TextEdit(line_end(text, node.end), line_end(text, node.end), more)


def _format_value(
    node: SyntaxNode, value: Any, layout: Layout, *, is_item: bool
) -> tuple[str, list[str]]:
    """Return the text after the colon or dash, and the lines below it, relative to the column of
    the key or dash.
    """
    # a list of one value that replaces a scalar is written in brackets
    is_short = isinstance(value, list) and len(value) == 1 and not is_block(value[0])
    if node.flow or not is_block(value) or (node.kind == "scalar" and is_short):
        return inline(value, node.style), []
    if is_item:
        first, *rest = item_lines(value, layout)
        return first[2:], rest
    return "", lines_below(value, layout)


def rename_key(entry: MappingEntry, name: str, layout: Layout, *, flow: bool = False) -> TextEdit:
    """Return the edit that replaces a key, keeping its quotes. Raises `CannotFix`."""
    if not entry.bare:
        raise CannotFix("its key is written with '?', an anchor or a tag")
    return TextEdit(
        entry.start, entry.end, key_text(name, entry.style, flow=flow, is_json=layout.is_json)
    )


def colon_end(entry: MappingEntry) -> int:
    """Return the end of an entry's colon. Raises `CannotFix` for a key written with `?`."""
    if entry.colon is None:
        raise CannotFix("its key is written with '?'")
    return entry.colon


def check_unshared(node: SyntaxNode) -> None:
    """Raise `CannotFix` if an alias shares the value."""
    if shares(node):
        raise CannotFix("an alias shares the value")


def _insertion_index(node: SyntaxNode, lines: Sequence[str]) -> int:
    """Return the index of the entry to insert after: before the first long one if the new entry is
    short, but after all merges.
    """
    last = len(node.entries) - 1
    if len(lines) > 1:
        return last
    long = next(
        (index for index, entry in enumerate(node.entries) if entry.node.is_block), last + 1
    )
    merged = max(
        (index for index, entry in enumerate(node.entries) if entry.name is None), default=0
    )
    return max(long - 1, merged) if long else last


def _insert_after(slot: Slot, lines: Sequence[str], indent: int, layout: Layout) -> TextEdit:
    offset = line_end(layout.text, slot.end)
    return TextEdit(offset, offset, layout.eol + " " * indent + _join_lines(lines, indent, layout))


def _replace_part(slot: Slot, lines: Sequence[str], indent: int, layout: Layout) -> TextEdit:
    return TextEdit(slot.start, line_end(layout.text, slot.end), _join_lines(lines, indent, layout))


def _join_lines(lines: Sequence[str], indent: int, layout: Layout) -> str:
    """Return indented lines as text; the first continues the current line."""
    return lines[0] + "".join(layout.eol + line for line in indent_lines(lines[1:], indent))


def remove_lines(text: str, slots: Sequence[Slot], removed: Collection[int]) -> Iterator[TextEdit]:
    """Yield the edits that remove parts with their lines. The text must end with a line break and
    keep at least one part.
    """
    indexes = set(removed)
    start = slots[0].start
    if 0 in indexes and text[line_start(text, start) : start].strip():
        # after a dash: the next remaining part moves up to it, with the comments above it
        first_kept = next(index for index in range(len(slots)) if index not in indexes)
        match = _whitespace.match(text, line_end(text, slots[first_kept - 1].end))
        yield TextEdit(start, match.end() if match else start, "")
        indexes -= set(range(first_kept))

    for index in sorted(indexes):
        yield TextEdit(line_start(text, slots[index].start), _end_of_lines(text, *slots[index]), "")


def _end_of_lines(text: str, start: int, end: int) -> int:
    """Return the end of a part's lines, including the comments below it that are indented deeper
    than its start.
    """
    stop = text.index("\n", end) + 1
    comment = _own_comment(text, stop)
    while comment is not None and len(comment[1]) > column(text, start):
        stop = comment.end()
        comment = _own_comment(text, stop)
    return stop
