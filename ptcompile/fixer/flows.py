"""Write changes of mappings and lists in brackets, including JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptcompile.fixer.blocks import TextEdit, check_unshared, rename_key
from ptcompile.fixer.changes import NodeChange, removed_entries, removed_parts
from ptcompile.fixer.layout import Layout, inline, key_text
from ptcompile.fixer.syntax_tree import CannotFix, Slot, SyntaxNode, entry_of, line_end, line_start

_end_of_part = re.compile(r"(?P<comma>[ \t]*,)?[ \t]*(?:#.*)?").fullmatch
_comma = re.compile(r"\s*,").match
_rest_of_line = re.compile(r"[ \t]*(?:#[^\n]*)?\n?[ \t]*")


def mapping(node: SyntaxNode, changes: Sequence[NodeChange], layout: Layout) -> Iterator[TextEdit]:
    """Yield the edits for a mapping in braces. Raises `CannotFix`."""
    removed = removed_entries(node, changes)
    style = '"' if node.entries and all(entry.style == '"' for entry in node.entries) else ""
    pieces: list[str] = []
    for change in changes:
        if change.op == "add":
            key = key_text(change.part, style, flow=True, is_json=layout.is_json)
            pieces.append(f"{key}: {_inline_value(change.value, style, layout)}")
        elif change.op == "replace":
            entry = entry_of(node, change.part)
            check_unshared(entry.node)
            written = _inline_value(change.value, entry.node.style, layout)
            before = " " if entry.node.start == entry.node.end else ""
            if entry.colon is None:
                before = ": "
            yield TextEdit(entry.node.start, entry.node.end, before + written)
        elif change.op == "rename":
            yield rename_key(entry_of(node, change.part), change.value, layout, flow=True)

    for index in removed:
        check_unshared(node.entries[index].node)
    inserted = {len(node.entries): pieces} if pieces else {}
    yield from _change_parts(node, node.slots(), removed, inserted, layout)


def sequence(node: SyntaxNode, changes: Sequence[NodeChange], layout: Layout) -> Iterator[TextEdit]:
    """Yield the edits for a list in brackets. Raises `CannotFix`."""
    style = '"' if node.items and all(item.node.style == '"' for item in node.items) else ""
    inserted: dict[int, list[str]] = {}
    for change in changes:
        if change.op == "insert":
            inserted.setdefault(change.part, []).append(_inline_value(change.value, style, layout))
        elif change.op == "replace":
            item = node.items[change.part].node
            check_unshared(item)
            yield TextEdit(item.start, item.end, _inline_value(change.value, item.style, layout))

    removed = sorted(removed_parts(changes))
    for index in removed:
        check_unshared(node.items[index].node)
    slots = [Slot(item.node.start, item.node.end) for item in node.items]
    yield from _change_parts(node, slots, removed, inserted, layout)


def _inline_value(value: object, style: str, layout: Layout) -> str:
    return inline(value, style, flow=True, is_json=layout.is_json)


def _change_parts(
    node: SyntaxNode,
    slots: Sequence[Slot],
    removed: list[int],
    inserted: dict[int, list[str]],
    layout: Layout,
) -> Iterator[TextEdit]:
    """Yield the edits that remove some parts and insert others, keyed by the index that they
    precede.
    """
    if len(removed) == len(slots):
        pieces = [piece for index in sorted(inserted) for piece in inserted[index]]
        yield TextEdit(node.bracket + 1, node.end - 1, ", ".join(pieces))
        return

    for index, pieces in sorted(inserted.items()):
        neighbor = max(index - 1, 0)
        if neighbor in removed:
            removed.remove(neighbor)
            yield TextEdit(*slots[neighbor], ", ".join(pieces))
        elif index:
            yield from _insert_after(slots[neighbor], pieces, layout)
        else:
            start = slots[0].start
            yield TextEdit(start, start, "".join(f"{piece}, " for piece in pieces))

    yield from remove_parts(layout.text, slots, removed)


def _insert_after(slot: Slot, pieces: Sequence[str], layout: Layout) -> Iterator[TextEdit]:
    """Yield the edits that insert parts after another: on separate lines if that part has its own,
    and never before a comment.
    """
    text = layout.text
    start, end = slot
    before = text[line_start(text, start) : start]
    stop = line_end(text, end)
    rest = _end_of_part(text[end:stop])
    if before.strip() or rest is None:
        yield TextEdit(end, end, "".join(f", {piece}" for piece in pieces))
        return

    lines = ",".join(f"{layout.eol}{before}{piece}" for piece in pieces)
    if rest["comma"] is None:
        yield TextEdit(end, end, ",")
    else:
        lines += ","
    yield TextEdit(stop, stop, lines)


def remove_parts(text: str, slots: Sequence[Slot], removed: Sequence[int]) -> Iterator[TextEdit]:
    """Yield the edits that remove parts, each with the comma after it; the last ones with the comma
    before. One part must stay.
    """
    last_kept = max({*range(len(slots))}.difference(removed))
    for index in removed:
        if index < last_kept:
            start, end = slots[index]
            after = _comma_after(text, end)
            stop = slots[index + 1].start
            if "#" in text[after:stop]:
                rest = _rest_of_line.match(text, after)
                stop = rest.end() if rest else after
            yield TextEdit(start, stop, "")

    if last_kept < len(slots) - 1:
        start = slots[last_kept + 1].start
        yield from _remove_tail(text, slots[last_kept].end, start, slots[-1].end)


def _remove_tail(text: str, kept: int, start: int, end: int) -> Iterator[TextEdit]:
    """Yield the edits that remove the last parts, from `start` to `end`; the part before them
    ends at `kept`.
    """
    rest = _end_of_part(text[end : line_end(text, end)])
    if not text[line_start(text, start) : start].strip() and rest is not None:
        yield TextEdit(line_start(text, start), text.index("\n", end) + 1, "")
        # if a comma follows the removed parts, the one before them may stay as a trailing comma
        if rest["comma"] is not None:
            return
    elif "#" not in text[kept:start]:
        yield TextEdit(kept, end, "")
        return
    else:
        yield TextEdit(start, end, "")

    comma_end = _comma_after(text, kept)
    yield TextEdit(comma_end - 1, comma_end, "")


def _comma_after(text: str, end: int) -> int:
    comma = _comma(text, end)
    if comma is None:
        raise CannotFix("a comment precedes the comma")
    return comma.end()
