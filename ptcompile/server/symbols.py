"""Document symbols: the objects of a text and their content, down to a limited depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol.types import DocumentSymbol, Range, SymbolKind

from ptcompile.api.inputs import Item
from ptcompile.explainer.values import identity
from ptcompile.server.document import OpenDocument
from ptcompile.source.nodes import ValueNode
from ptcompile.source.secrets.scanner import without_secrets
from ptcompile.source.streams import resource_name

_MAX_DEPTH = 7
_MAX_SYMBOLS = 5_000
"""Maximum number of symbols per text."""


def symbols(opened: OpenDocument) -> list[DocumentSymbol]:
    """Return one tree per object that can be parsed."""
    budget = [_MAX_SYMBOLS]
    return [symbol for obj in opened.objects for symbol in _object_symbols(opened, obj, budget)]


def _object_symbols(opened: OpenDocument, obj: Item, budget: list[int]) -> Iterator[DocumentSymbol]:
    root = obj.document.positions()
    for part in obj.path:
        children = root.children if root is not None else None
        if isinstance(children, list) and isinstance(part, int) and part < len(children):
            root = children[part]
        elif isinstance(children, dict) and part in children:
            _, _, root = children[str(part)]

    if root is None:
        return

    base = obj.document.start()
    whole = opened.lines.range(base + root.start, base + root.end)
    data = without_secrets(obj.manifest)
    name = resource_name(data) or "document"
    inner = list(_child_symbols(opened, root, data, base, 1, budget))
    # the client selects the start
    yield DocumentSymbol(
        name, SymbolKind.Class, whole, Range(whole.start, whole.start), children=inner
    )


def _child_symbols(
    opened: OpenDocument, node: ValueNode, data: Any, base: int, depth: int, budget: list[int]
) -> Iterator[DocumentSymbol]:
    opened.pause()
    if depth > _MAX_DEPTH or node.children is None:
        return
    if isinstance(node.children, dict):
        for key, (start, end, child) in node.children.items():
            # skip the children of an alias: their positions are at the anchor
            if key in data and node.start <= start <= node.end:
                yield from _value_symbols(
                    opened, key, (start, end), child, data[key], base, depth, budget
                )
        return

    for index, (child, item) in enumerate(zip(node.children, data, strict=False)):
        if isinstance(item, dict | list) and node.start <= child.start <= node.end:
            name = identity(item, "")
            label = name if isinstance(name, str) else str(index)
            yield from _value_symbols(
                opened, label, (child.start, child.end), child, item, base, depth, budget
            )


def _value_symbols(
    opened: OpenDocument,
    name: str,
    on: tuple[int, int],
    child: ValueNode,
    value: Any,
    base: int,
    depth: int,
    budget: list[int],
) -> Iterator[DocumentSymbol]:
    if budget[0] <= 0:
        return

    budget[0] -= 1
    # the positions of an alias are at its anchor
    start, key_end = on
    end = max(child.end, key_end) if child.start >= start else key_end
    whole = opened.lines.range(base + start, base + end)
    chosen = opened.lines.range(base + start, base + min(key_end, end))
    inner: list[DocumentSymbol] = []
    if child.start >= start:
        inner += _child_symbols(opened, child, value, base, depth + 1, budget)
    detail = ""
    if isinstance(value, int | float | bool) or (isinstance(value, str) and len(value) < 60):
        detail = str(value)
    if not name.strip():
        name = "''"
    yield DocumentSymbol(name, _symbol_kind(value), whole, chosen, detail=detail, children=inner)


def _symbol_kind(value: Any) -> SymbolKind:
    if isinstance(value, dict):
        return SymbolKind.Object
    if isinstance(value, list):
        return SymbolKind.Array
    if isinstance(value, bool):
        return SymbolKind.Boolean
    if isinstance(value, int | float):
        return SymbolKind.Number
    return SymbolKind.String
