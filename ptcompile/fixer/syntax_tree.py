"""Where everything of a document stands, as exactly as an edit of its text needs it.

`source.nodes` knows enough to point at a value. To change one it takes more: which style a value has, where its dash,
colon or bracket is, where a block really ends, and what an alias shares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.source.scalars import key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    NodeType = Literal["mapping", "list", "scalar", "alias"]


class CannotFix(Exception):  # noqa: N818 - no error: it carries out of the depth why an edit is left alone
    """Why a fix cannot be made in this text, in a few words. `fixer.apply` catches it."""

    def __init__(self, why: str, *, fault: bool = False) -> None:
        super().__init__(why)
        self.fault = fault
        """Whether that is a mistake of ours."""


class SyntaxNode:
    """A value. `start` includes its anchor and tag; `end` is where its last character ends."""

    __slots__ = (
        "_slots", "anchor", "bracket", "end", "entries", "flow", "items", "kind", "shared", "start", "style", "tagged",
    )  # fmt: skip

    def __init__(self, kind: NodeType, event: Any, *, flow: bool = False) -> None:
        self.kind: NodeType = kind
        self.start: int = event.start_mark.index
        self.end: int = event.end_mark.index
        self.bracket = self.end - 1 if flow else -1
        """Of a flow collection: where it opens."""
        self.flow = flow
        self.style: str = getattr(event, "style", None) or ""
        self.anchor: str | None = event.anchor
        self.tagged = getattr(event, "tag", None) is not None
        self.shared = False
        """Whether an alias stands for it too."""
        self.entries: list[MappingEntry] = []
        self.items: list[ListItem] = []
        self._slots: list[tuple[int, int]] | None = None

    def slots(self) -> Sequence[tuple[int, int]]:
        """Where each item of a finished list begins, with its dash, and where it ends: each of many fixes asks."""
        if self._slots is None:
            self._slots = [(item.dash, item.node.end) for item in self.items]
        return self._slots

    @property
    def block(self) -> bool:
        """Whether it is a collection whose parts stand on lines of their own."""
        return self.kind in ("mapping", "list") and not self.flow


class MappingEntry(NamedTuple):
    """A key and its value. `name` is None for a merge, and for a key that is itself an alias."""

    name: str | None
    start: int
    end: int
    style: str
    colon: int | None
    """Where the colon ends, or None: an explicit key (`? key`), or a flow entry without a value."""
    bare: bool
    """Whether the key has neither `?` nor anchor nor tag, and so can be rewritten."""
    node: SyntaxNode


class ListItem(NamedTuple):
    """One item of a list, and where its dash is (-1 in brackets)."""

    dash: int
    node: SyntaxNode


_colon = re.compile(r"[ \t]*:").match
_flow_colon = re.compile(r"\s*:").match
_DASH = re.compile(r"(?:\s|#[^\n]*)*")


def parse(text: str) -> SyntaxNode | None:
    """The root of one document that the reader could read; None where there is nothing in it.

    Raises `CannotFix` for JSON that is not YAML, where a key has at most 1,024 characters.
    """
    import yaml

    try:
        return _parsed(text)
    except yaml.YAMLError:
        raise CannotFix("a key has more than 1,024 characters") from None


def _parsed(text: str) -> SyntaxNode | None:
    import yaml
    from yaml import events as kinds

    stack: list[SyntaxNode] = []
    keys: list[SyntaxNode | Any | None] = []
    anchors: dict[str, SyntaxNode] = {}
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, kinds.CollectionStartEvent):
            kind: NodeType = "mapping" if isinstance(event, kinds.MappingStartEvent) else "list"
            stack.append(_anchored(SyntaxNode(kind, event, flow=bool(event.flow_style)), anchors))
            keys.append(None)
            continue
        if isinstance(event, kinds.CollectionEndEvent):
            node = stack.pop()
            keys.pop()
            _close(node, event)
        elif isinstance(event, kinds.NodeEvent):
            node = _anchored(_leaf(text, event), anchors)
        else:
            continue
        if not stack:
            return node
        _attach(text, stack[-1], keys, node, event)
    return None


def _leaf(text: str, event: Any) -> SyntaxNode:
    node = SyntaxNode("scalar" if hasattr(event, "value") else "alias", event)
    if node.style in ("|", ">"):
        node.end = _block_scalar_end(text, node)
    return node


def _anchored(node: SyntaxNode, anchors: dict[str, SyntaxNode]) -> SyntaxNode:
    """Note what an alias stands for, and that something stands for it."""
    if node.anchor is not None and node.kind != "alias":
        anchors[node.anchor] = node
    elif node.anchor in anchors:
        anchors[node.anchor].shared = True
    return node


def _attach(text: str, box: SyntaxNode, keys: list[Any], node: SyntaxNode, event: Any) -> None:
    if box.kind == "list":
        _attach_item(text, box, node)
    elif keys[-1] is None:
        keys[-1] = (node, event)
    else:
        (name, its_event), keys[-1] = keys[-1], None
        box.entries.append(_entry(text, box, name, its_event, node))


def _attach_item(text: str, box: SyntaxNode, node: SyntaxNode) -> None:
    dash = -1
    if not box.flow:
        after = box.items[-1].node.end if box.items else box.start
        dash = text.find("-", after) if not box.items else _skip(text, after)
        if not box.items and (box.anchor or box.tagged):
            dash = _first_dash(text, box)
        if node.start == node.end:
            node.start = node.end = dash + 1
    box.items.append(ListItem(dash, node))


def _skip(text: str, at: int) -> int:
    """The first character from here on that is neither blank nor in a comment."""
    found = _DASH.match(text, at)
    return found.end() if found else at


def _first_dash(text: str, box: SyntaxNode) -> int:
    """The first dash behind a list's anchor and tag, which may have dashes of their own."""
    at = box.start
    while text[at] in "&!":
        word = re.compile(r"\S*").match(text, at)
        at = _skip(text, word.end() if word else at)
    return at


def _entry(text: str, box: SyntaxNode, name: SyntaxNode, event: Any, value: SyntaxNode) -> MappingEntry:
    start_of_line = text.rfind("\n", 0, name.start) + 1
    explicit = text[start_of_line : name.start].rstrip().endswith("?")
    found = (_flow_colon if box.flow else _colon)(text, name.end)
    colon = found.end() if found and not explicit else None
    if value.kind == "scalar" and value.start == value.end:
        value.start = value.end = colon if colon is not None else name.end
    known: str | None = None
    if name.kind == "scalar":
        plain = event.implicit[0] and event.tag is None
        known = None if plain and event.value == "<<" else key(event.value) if plain else event.value
    bare = not explicit and name.anchor is None and not name.tagged and (colon is not None or box.flow)
    return MappingEntry(known, name.start, name.end, name.style, colon, bare, value)


def _close(node: SyntaxNode, event: Any) -> None:
    if node.flow:
        node.end = event.end_mark.index
        return
    parts = [entry.node for entry in node.entries] or [item.node for item in node.items]
    node.end = max((part.end for part in parts), default=node.start)
    if node.kind == "mapping" and node.entries:
        node.end = max(node.end, node.entries[-1].colon or node.entries[-1].end)


def _block_scalar_end(text: str, node: SyntaxNode) -> int:
    """The end of the last line of a text block; with `+` its blank lines are content."""
    end = node.end
    header = text[node.start : text.find("\n", node.start) + 1 or None].partition("#")[0]
    if "+" in header.rpartition(node.style)[2]:
        return end - (2 if text[:end].endswith("\r\n") else 1 if text[:end].endswith("\n") else 0)
    while end > node.start and text[end - 1] in " \t\r\n":
        end -= 1
    return line_end(text, end)


def line_start(text: str, at: int) -> int:
    """Where the line of an offset begins."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Where the line of an offset ends, before its line break."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == "\r" else end


def column(text: str, at: int) -> int:
    """Characters before an offset on its line."""
    return at - line_start(text, at)


def find(root: SyntaxNode, path: Path) -> SyntaxNode:
    """The node at a path of keys and indexes.

    Raises `CannotFix` where the way leads through an alias, a merge, or a value that an alias shares.
    """
    node = root
    for part in path:
        node = _checked(node)
        if node.kind == "mapping":
            node = entry_of(node, str(part)).node
        elif node.kind == "list" and isinstance(part, int) and part < len(node.items):
            node = node.items[part].node
        else:
            raise CannotFix("the field is not there")
    return _checked(node)


def _checked(node: SyntaxNode) -> SyntaxNode:
    if node.kind == "alias":
        raise CannotFix("the value is written elsewhere and used here through an alias")
    if node.shared:
        raise CannotFix("an alias shares the value")
    return node


def entry_of(node: SyntaxNode, name: str) -> MappingEntry:
    """The entry of a key that counts: the last. Raises `CannotFix` where the key comes from a merge."""
    for entry in reversed(node.entries):
        if entry.name == name:
            return entry
    raise CannotFix(f"the key {name} is not written here itself")


def shares(node: SyntaxNode) -> bool:
    """Whether an alias elsewhere stands for this value or a part of it."""
    parts = [entry.node for entry in node.entries] + [item.node for item in node.items]
    return node.shared or any(shares(part) for part in parts)
