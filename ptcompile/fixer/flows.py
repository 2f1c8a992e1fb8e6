"""Changes of mappings and lists between brackets, JSON among them, as changes of text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptcompile.fixer.blocks import Slots, Splice, renamed
from ptcompile.fixer.changes import NodeChange
from ptcompile.fixer.layout import Layout, inline, key_text
from ptcompile.fixer.syntax_tree import CannotFix, SyntaxNode, entry_of, line_end, line_start, shares

_end_of_part = re.compile(r"([ \t]*,)?[ \t]*(?:#.*)?").fullmatch
_comma = re.compile(r"\s*,").match
_rest_of_line = re.compile(r"[ \t]*(?:#[^\n]*)?\n?[ \t]*")


def mapping(node: SyntaxNode, here: Sequence[NodeChange], layout: Layout) -> Iterator[Splice]:
    """A mapping between braces. Raises `CannotFix`."""
    names = {change.part for change in here if change.op == "remove"}
    gone = [at for at, entry in enumerate(node.entries) if entry.name in names]
    style = '"' if node.entries and all(entry.style == '"' for entry in node.entries) else ""
    pieces: list[str] = []
    for change in here:
        if change.op == "add":
            key = key_text(change.part, style, flow=True, is_json=layout.is_json)
            pieces.append(f"{key}: {_value(change.value, style, layout)}")
        elif change.op == "replace":
            entry = entry_of(node, change.part)
            _check_leaves(entry.node)
            written = _value(change.value, entry.node.style, layout)
            before = ": " if entry.colon is None else " " if entry.node.start == entry.node.end else ""
            yield Splice(entry.node.start, entry.node.end, before + written)
        elif change.op == "rename":
            yield renamed(entry_of(node, change.part), change.value, layout, flow=True)
    for at in gone:
        _check_leaves(node.entries[at].node)
    slots = [(entry.start, entry.node.end) for entry in node.entries]
    yield from _changed(node, slots, gone, {len(slots): pieces} if pieces else {}, layout)


def sequence(node: SyntaxNode, here: Sequence[NodeChange], layout: Layout) -> Iterator[Splice]:
    """A list between brackets. Raises `CannotFix`."""
    style = '"' if node.items and all(item.node.style == '"' for item in node.items) else ""
    given: dict[int, list[str]] = {}
    for change in here:
        if change.op == "insert":
            given.setdefault(change.part, []).append(_value(change.value, style, layout))
        elif change.op == "replace":
            item = node.items[change.part].node
            _check_leaves(item)
            yield Splice(item.start, item.end, _value(change.value, item.style, layout))
    gone = sorted(change.part for change in here if change.op == "remove")
    for at in gone:
        _check_leaves(node.items[at].node)
    yield from _changed(node, [(item.node.start, item.node.end) for item in node.items], gone, given, layout)


def _value(value: object, style: str, layout: Layout) -> str:
    return inline(value, style, flow=True, is_json=layout.is_json)


def _check_leaves(node: SyntaxNode) -> None:
    if shares(node):
        raise CannotFix("an alias shares the value")


def _changed(
    node: SyntaxNode, slots: Slots, gone: list[int], given: dict[int, list[str]], layout: Layout
) -> Iterator[Splice]:
    """Parts go, and others come before those of an index."""
    if len(gone) == len(slots):
        pieces = [piece for at in sorted(given) for piece in given[at]]
        yield Splice(node.bracket + 1, node.end - 1, ", ".join(pieces))
        return
    for at, pieces in sorted(given.items()):
        beside = max(at - 1, 0)
        if beside in gone:
            gone.remove(beside)
            yield Splice(*slots[beside], ", ".join(pieces))
        elif at:
            yield from _after(slots[beside], pieces, layout)
        else:
            yield Splice(slots[0][0], slots[0][0], "".join(f"{piece}, " for piece in pieces))
    yield from cut(layout.text, slots, gone)


def _after(slot: tuple[int, int], pieces: Sequence[str], layout: Layout) -> Iterator[Splice]:
    """New parts behind one: on lines of their own where it has one, before no other comment."""
    text, (start, end) = layout.text, slot
    before = text[line_start(text, start) : start]
    stop = line_end(text, end)
    rest = _end_of_part(text[end:stop])
    if before.strip() or rest is None:
        yield Splice(end, end, "".join(f", {piece}" for piece in pieces))
        return
    lines = ",".join(f"{layout.eol}{before}{piece}" for piece in pieces)
    if rest[1] is None:
        yield Splice(end, end, ",")
    yield Splice(stop, stop, lines + ("," if rest[1] is not None else ""))


def cut(text: str, slots: Slots, gone: Sequence[int]) -> Iterator[Splice]:
    """Take parts away, each with the comma behind it, or the last ones with that before them. One part stays."""
    kept = sorted({*range(len(slots))}.difference(gone))
    for at in gone:
        if at < kept[-1]:
            start, end = slots[at]
            after = _comma_after(text, end)
            stop = slots[at + 1][0]
            if "#" in text[after:stop]:
                rest = _rest_of_line.match(text, after)
                stop = rest.end() if rest else after
            yield Splice(start, stop, "")
    if kept[-1] < len(slots) - 1:
        yield from _cut_tail(text, slots[kept[-1]][1], slots[kept[-1] + 1][0], slots[-1][1])


def _cut_tail(text: str, kept: int, start: int, end: int) -> Iterator[Splice]:
    """Take the last parts away: those from `start` to `end`, behind one that ends at `kept`."""
    rest = _end_of_part(text[end : line_end(text, end)])
    if not text[line_start(text, start) : start].strip() and rest is not None:
        yield Splice(line_start(text, start), text.index("\n", end) + 1, "")
        if rest[1] is None:  # else the comma before them is the last one now
            yield Splice(_comma_after(text, kept) - 1, _comma_after(text, kept), "")
    elif "#" not in text[kept:start]:
        yield Splice(kept, end, "")
    else:
        yield Splice(_comma_after(text, kept) - 1, _comma_after(text, kept), "")
        yield Splice(start, end, "")


def _comma_after(text: str, end: int) -> int:
    comma = _comma(text, end)
    if comma is None:
        raise CannotFix("a comment stands before the comma")
    return comma.end()
