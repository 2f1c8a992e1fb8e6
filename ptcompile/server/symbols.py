"""Document symbols: the objects of a text, and what is in them down to a depth that is of use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from lsprotocol.types import DocumentSymbol, Range, SymbolKind

from ptcompile.explainer.values import identity
from ptcompile.server.document import Object, OpenDocument
from ptcompile.source.nodes import ValueNode
from ptcompile.source.streams import resource_name

_DEPTH: Final = 7
_MOST: Final = 5_000
"""Symbols of one text."""


def symbols(opened: OpenDocument) -> list[DocumentSymbol]:
    """A tree for each object that can be read."""
    left = [_MOST]
    return [found for one in opened.objects for found in _object(opened, one, left)]


def _object(opened: OpenDocument, one: Object, left: list[int]) -> Iterator[DocumentSymbol]:
    root = one.document.positions()
    for part in one.under:
        children = root.children if root is not None else None
        if isinstance(children, list) and isinstance(part, int) and part < len(children):
            root = children[part]
        elif isinstance(children, dict) and part in children:
            root = children[str(part)][2]
    if root is None:
        return
    base = one.document.start()
    where = opened.lines.range(base + root.start, base + root.end)
    name = resource_name(one.data) or "document"
    inner = list(_below(opened, root, one.data, base, 1, left))
    yield DocumentSymbol(name, SymbolKind.Class, where, _first(where), children=inner)


def _below(
    opened: OpenDocument, node: ValueNode, data: Any, base: int, depth: int, left: list[int]
) -> Iterator[DocumentSymbol]:
    opened.pause()
    if depth > _DEPTH or node.children is None:
        return
    if isinstance(node.children, dict):
        for key, (start, end, child) in node.children.items():
            if key in data and node.start <= start <= node.end:  # the parts of an alias are elsewhere
                yield from _one(opened, key, (start, end), child, data[key], base, depth, left)
        return
    for at, child in enumerate(node.children):
        name = identity(data[at], "") if at < len(data) else None
        if at < len(data) and isinstance(data[at], dict | list) and node.start <= child.start <= node.end:
            shown = name if isinstance(name, str) else str(at)
            yield from _one(opened, shown, (child.start, child.end), child, data[at], base, depth, left)


def _one(
    opened: OpenDocument,
    name: str,
    on: tuple[int, int],
    child: ValueNode,
    value: Any,
    base: int,
    depth: int,
    left: list[int],
) -> Iterator[DocumentSymbol]:
    if left[0] <= 0:
        return
    left[0] -= 1
    end = max(child.end, on[1]) if child.start >= on[0] else on[1]  # an alias stands for what is elsewhere
    whole = opened.lines.range(base + on[0], base + end)
    chosen = opened.lines.range(base + on[0], base + min(on[1], end))
    inner = list(_below(opened, child, value, base, depth + 1, left)) if child.start >= on[0] else []
    detail = str(value) if isinstance(value, int | float | bool) or (isinstance(value, str) and len(value) < 60) else ""
    if not name.strip():
        name = "''"
    yield DocumentSymbol(name, _sort(value), whole, chosen, detail=_masked(name, detail), children=inner)


def _masked(name: str, detail: str) -> str:
    from ptcompile.source.secrets.names import mask_value

    return str(mask_value(name, detail))


def _sort(value: Any) -> SymbolKind:
    if isinstance(value, dict):
        return SymbolKind.Object
    if isinstance(value, list):
        return SymbolKind.Array
    if isinstance(value, bool):
        return SymbolKind.Boolean
    return SymbolKind.Number if isinstance(value, int | float) else SymbolKind.String


def _first(where: Range) -> Range:
    """The beginning of a range: what a client selects."""
    return Range(where.start, where.start)
