"""Completion: what may be typed at a place, also in a text that cannot be parsed at the moment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    MarkupContent,
    MarkupKind,
    Position,
    TextEdit,
)

from ptcompile.findings.diagnostics import Path
from ptcompile.server.document import Open
from ptcompile.server.hover_fields import field_text
from ptcompile.server.place import Place, place_at
from ptcompile.server.shapes import Node, at, fields, is_collection, root
from ptcompile.server.sketch import Sketch
from ptcompile.server.values import Value, values

_KINDS: Final = {
    "value": CompletionItemKind.EnumMember,
    "name": CompletionItemKind.Reference,
    "host": CompletionItemKind.Constant,
}
_ignoring = re.compile(r"#[ \t]*ptcompile:[ \t]*ignore(?:-file)?\[(?:[^\]]*,[ \t]*)?([\w-]*)$").search
_is_plain = re.compile(r"[A-Za-z_./][\w./-]*").fullmatch
_words = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def complete(opened: Open, position: Position) -> CompletionList:
    """What may be typed at a position."""
    place = place_at(opened.text, opened.lines.offset(position))
    if place.part == "text":
        return CompletionList(False, [])
    if place.part == "comment":
        return CompletionList(False, list(_codes(opened, place)))
    under, kind = kind_at(place.document, place.path)
    nodes = at(root(kind, opened.definitions), place.path[len(under) :])
    found: list[CompletionItem] = []
    if place.part in ("key", "item"):
        found += _keys(opened, place, nodes or _nothing_yet(place, kind))
    if place.part in ("value", "item"):
        found += (_of_value(opened, place, one, rank) for rank, one in enumerate(_values(opened, place, kind, nodes)))
    return CompletionList(False, found)


def _values(opened: Open, place: Place, kind: tuple[str, str], nodes: list[Node]) -> list[Value]:
    if place.part == "item" and place.path and not isinstance(place.path[-1], int) and not nodes:
        return []
    return values(opened, place, kind, nodes)


def kind_at(document: Sketch, path: Path) -> tuple[Path, tuple[str, str]]:
    """The object that a path is in, and its apiVersion and kind as far as they are written."""
    under: Path = path[:2] if document.value("kind") == "List" and path[:1] == ("items",) and len(path) > 1 else ()
    return under, (document.value(*under, "apiVersion") or "", document.value(*under, "kind") or "")


def _nothing_yet(place: Place, kind: tuple[str, str]) -> list[Node]:
    """What an object begins with, of which nothing is known."""
    if place.path or all(kind):
        return []
    keys = ("apiVersion", "kind", "metadata", "spec")
    return [Node({"properties": {key: {"type": "object" if key in keys[2:] else "string"} for key in keys}}, "")]


def _keys(opened: Open, place: Place, nodes: list[Node]) -> Iterator[CompletionItem]:
    """The fields that are not there yet."""
    there = place.document.keys(place.path)
    colon = opened.text[place.end : place.end + 1] == ":"
    for rank, (name, node) in enumerate(fields(nodes, opened.versions.kubernetes).items()):
        if name in there:
            continue
        ending = "" if colon or place.quote else ":" if is_collection(node) and not place.flow else ": "
        yield CompletionItem(
            label=name,
            kind=CompletionItemKind.Field,
            documentation=MarkupContent(MarkupKind.Markdown, field_text(name, node)),
            sort_text=f"{rank:04}",
            filter_text=name,
            text_edit=TextEdit(opened.lines.range(place.start, place.end), name + ending),
        )


def _of_value(opened: Open, place: Place, value: Value, rank: int) -> CompletionItem:
    plain = place.quote or (_is_plain(value.text) and value.text.lower() not in _words) or value.kind == "value"
    text = value.text if plain else f'"{value.text}"'
    return CompletionItem(
        label=value.text,
        kind=_KINDS[value.kind],
        detail=value.detail or None,
        sort_text=f"{rank:04}",
        filter_text=value.text,
        text_edit=TextEdit(opened.lines.range(place.start, place.end), (" " if place.glued else "") + text),
    )


def _codes(opened: Open, place: Place) -> Iterator[CompletionItem]:
    """The codes of `# ptcompile: ignore[...]`; those found in this text first."""
    typed = _ignoring(place.prefix)
    if typed is None:
        return
    from ptcompile.findings.codes import CODES

    found = {one.name for one in opened.report.diagnostics}
    where = opened.lines.range(place.end - len(typed[1]), place.end)
    for name, code in CODES.items():
        yield CompletionItem(
            label=code,
            detail=name,
            kind=CompletionItemKind.EnumMember,
            sort_text=f"{int(name not in found)}{code}",
            filter_text=f"{code} {name}",
            text_edit=TextEdit(where, code),
        )
