"""The syntax tree of a document, with the exact positions that text edits need.

`source.nodes` is enough to point at a value. Changing one also takes its style, the positions of
dashes, colons and brackets, the real end of a block, and which values aliases share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.source.scalars import key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    NodeType = Literal["mapping", "list", "scalar", "alias"]


class CannotFix(Exception):  # noqa: N818 - not an error: it ends a nested edit and carries the reason
    """Raised when a fix cannot be applied to this text, with a short reason. `fixer.apply`
    catches it.
    """

    def __init__(self, why: str, *, fault: bool = False) -> None:
        super().__init__(why)
        self.fault = fault
        """Whether this is a bug in ptcompile."""


class Slot(NamedTuple):
    """The offsets of one part of a collection: of its key or dash, and of its end."""

    start: int
    end: int


class SyntaxNode:
    """A value. `start` includes its anchor and tag; `end` is the end of its last character."""

    __slots__ = (
        "_slots", "anchor", "bracket", "end", "entries", "flow", "items", "kind", "shared", "start", "style", "tagged",
    )  # fmt: skip

    def __init__(self, kind: NodeType, event: Any, *, flow: bool = False) -> None:
        self.kind: NodeType = kind
        self.start: int = event.start_mark.index
        self.end: int = event.end_mark.index
        self.bracket = self.end - 1 if flow else -1
        """Offset of a flow collection's opening bracket, or -1."""
        self.flow = flow
        self.style: str = getattr(event, "style", None) or ""
        self.anchor: str | None = event.anchor
        self.tagged = getattr(event, "tag", None) is not None
        self.shared = False
        """Whether an alias refers to this value."""
        self.entries: list[MappingEntry] = []
        self.items: list[ListItem] = []
        self._slots: list[Slot] | None = None

    def slots(self) -> Sequence[Slot]:
        """Return the slots of a finished mapping or block list; cached, since many fixes need
        them.
        """
        if self._slots is None:
            self._slots = [Slot(entry.start, entry.node.end) for entry in self.entries]
            self._slots += [Slot(item.dash, item.node.end) for item in self.items]
        return self._slots

    @property
    def parts(self) -> list[SyntaxNode]:
        """The values of a mapping or the items of a list."""
        return [entry.node for entry in self.entries] + [item.node for item in self.items]

    @property
    def is_block(self) -> bool:
        """Whether this is a block-style collection."""
        return self.kind in ("mapping", "list") and not self.flow


class MappingEntry(NamedTuple):
    """A key and its value. `name` is None for a merge, and for a key that is an alias."""

    name: str | None
    start: int
    end: int
    style: str
    colon: int | None
    """End of the colon, or None for an explicit key (`? key`) or a flow entry without a value."""
    bare: bool
    """Whether the key has no `?`, anchor or tag, so it can be rewritten."""
    node: SyntaxNode


class ListItem(NamedTuple):
    """One item of a list, and the offset of its dash (-1 in brackets)."""

    dash: int
    node: SyntaxNode


_colon = re.compile(r"[ \t]*:").match
_flow_colon = re.compile(r"\s*:").match
_DASH = re.compile(r"(?:\s|#[^\n]*)*")


def parse(text: str) -> SyntaxNode | None:
    """Return the root of a document that the reader accepts, or None if the document is empty.

    Raises `CannotFix` for JSON that is not YAML, because YAML limits keys to 1,024 characters.
    """
    import yaml

    try:
        return _build_tree(text)
    except yaml.YAMLError:
        raise CannotFix("a key has more than 1,024 characters") from None


def _build_tree(text: str) -> SyntaxNode | None:
    import yaml
    from yaml import events as kinds

    stack: list[SyntaxNode] = []
    keys: list[SyntaxNode | Any | None] = []
    anchors: dict[str, SyntaxNode] = {}
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, kinds.CollectionStartEvent):
            kind: NodeType = "mapping" if isinstance(event, kinds.MappingStartEvent) else "list"
            stack.append(
                _register_anchor(SyntaxNode(kind, event, flow=bool(event.flow_style)), anchors)
            )
            keys.append(None)
            continue

        if isinstance(event, kinds.CollectionEndEvent):
            node = stack.pop()
            keys.pop()
            _close(node, event)
        elif isinstance(event, kinds.NodeEvent):
            node = _register_anchor(_leaf(text, event), anchors)
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


def _register_anchor(node: SyntaxNode, anchors: dict[str, SyntaxNode]) -> SyntaxNode:
    """Record the node's anchor, or mark the node that its alias refers to as shared."""
    if node.anchor is not None and node.kind != "alias":
        anchors[node.anchor] = node
    elif node.anchor in anchors:
        anchors[node.anchor].shared = True
    return node


def _attach(text: str, box: SyntaxNode, keys: list[Any], node: SyntaxNode, event: Any) -> None:
    """Add a node to its list or mapping; of a mapping, keys and values come in turns."""
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
        dash = text.find("-", after) if not box.items else _skip_spaces(text, after)
        if not box.items and (box.anchor or box.tagged):
            dash = _first_dash(text, box)
        if node.start == node.end:
            node.start = node.end = dash + 1
    box.items.append(ListItem(dash, node))


def _skip_spaces(text: str, offset: int) -> int:
    """Return the offset of the next character that is neither whitespace nor in a comment."""
    match = _DASH.match(text, offset)
    return match.end() if match else offset


def _first_dash(text: str, box: SyntaxNode) -> int:
    """Return the offset of a list's first dash after its anchor and tag, which may contain
    dashes.
    """
    offset = box.start
    while text[offset] in "&!":
        property_match = re.compile(r"\S*").match(text, offset)
        offset = _skip_spaces(text, property_match.end() if property_match else offset)
    return offset


def _entry(
    text: str, box: SyntaxNode, name: SyntaxNode, event: Any, value: SyntaxNode
) -> MappingEntry:
    """Return the entry of a key and a value; a merge and a key that is no scalar have no name."""
    start_of_line = text.rfind("\n", 0, name.start) + 1
    is_explicit = text[start_of_line : name.start].rstrip().endswith("?")
    match = (_flow_colon if box.flow else _colon)(text, name.end)
    colon = match.end() if match and not is_explicit else None
    if value.kind == "scalar" and value.start == value.end:
        value.start = value.end = colon if colon is not None else name.end
    key_name: str | None = None
    if name.kind == "scalar":
        is_plain = event.implicit[0] and event.tag is None
        key_name = key(event.value) if is_plain else event.value
        if is_plain and event.value == "<<":
            key_name = None

    is_bare = (
        not is_explicit
        and name.anchor is None
        and not name.tagged
        and (colon is not None or box.flow)
    )

    return MappingEntry(key_name, name.start, name.end, name.style, colon, is_bare, value)


def _close(node: SyntaxNode, event: Any) -> None:
    """Set the end of a collection, which has no closing bracket in block style."""
    if node.flow:
        node.end = event.end_mark.index
        return
    node.end = max((part.end for part in node.parts), default=node.start)
    if node.kind == "mapping" and node.entries:
        node.end = max(node.end, node.entries[-1].colon or node.entries[-1].end)


def _block_scalar_end(text: str, node: SyntaxNode) -> int:
    """Return the end of a block scalar's last line; with `+`, trailing empty lines are content."""
    end = node.end
    header, _, _ = text[node.start : text.find("\n", node.start) + 1 or None].partition("#")
    _, _, indicators = header.rpartition(node.style)
    if "+" in indicators:
        if text[:end].endswith("\n"):
            return len(text[:end].removesuffix("\n").removesuffix("\r"))
        return end
    while end > node.start and text[end - 1] in " \t\r\n":
        end -= 1
    return line_end(text, end)


def line_start(text: str, offset: int) -> int:
    """Return the start of the line around an offset."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """Return the end of the line around an offset, before its line break."""
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    return end - 1 if end > offset and text[end - 1] == "\r" else end


def column(text: str, offset: int) -> int:
    """Return the number of characters before an offset on its line."""
    return offset - line_start(text, offset)


def find_node(root: SyntaxNode, path: Path) -> SyntaxNode:
    """Return the node at a path of keys and indexes.

    Raises `CannotFix` if the path leads through an alias, a merge, or a value that an alias shares.
    """
    node = root
    for part in path:
        node = _check_unshared(node)
        if node.kind == "mapping":
            node = entry_of(node, str(part)).node
        elif node.kind == "list" and isinstance(part, int) and part < len(node.items):
            node = node.items[part].node
        else:
            raise CannotFix("the field does not exist")

    return _check_unshared(node)


def _check_unshared(node: SyntaxNode) -> SyntaxNode:
    if node.kind == "alias":
        raise CannotFix("the value is an alias of a value elsewhere")
    if node.shared:
        raise CannotFix("an alias shares the value")
    return node


def entry_of(node: SyntaxNode, name: str) -> MappingEntry:
    """Return the effective entry of a key: the last one. Raises `CannotFix` if the key comes
    from a merge.
    """
    for entry in reversed(node.entries):
        if entry.name == name:
            return entry
    raise CannotFix(f"the key {name} comes from a merge (<<)")


def shares(node: SyntaxNode) -> bool:
    """Return whether an alias refers to this value or a part of it."""
    return node.shared or any(map(shares, node.parts))
