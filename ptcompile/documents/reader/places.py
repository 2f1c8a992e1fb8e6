"""Where the values of a document stand, for one that the fast reader has read: it has no anchors, tags and merges."""

from __future__ import annotations

from ptcompile.documents.reader.events import events, unprintable
from ptcompile.documents.reader.nodes import MAX_DEPTH, MAX_VALUES, Node, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def places(text: str) -> Node | None:
    """What `events.parse` gives as the root, in half of its time; None where that refuses the document."""
    if unprintable(text) is not None:
        return None
    try:
        return _read(text)
    except Refused:
        return None


def _read(text: str) -> Node | None:
    from yaml import events as kinds

    scalar, starts = kinds.ScalarEvent, (kinds.MappingStartEvent, kinds.SequenceStartEvent)
    ends = (kinds.MappingEndEvent, kinds.SequenceEndEvent)
    stack: list[_Open] = []
    root: Node | None = None
    total = 0
    for event in events(text):
        kind = type(event)
        if kind is scalar:
            node = Node(event.start_mark.index, event.end_mark.index, None)
        elif kind in starts:
            if len(stack) >= MAX_DEPTH:
                return None
            stack.append(_Open(event, {} if kind is starts[0] else []))
            continue
        elif kind in ends:
            node = stack.pop().closed(event)
        else:
            continue
        if not stack:
            root = node
            continue
        total += stack[-1].add(node, event)
        if total > MAX_VALUES:
            return None
    return root


class _Open:
    """A mapping or a list whose end is still to come."""

    __slots__ = ("children", "flow", "key", "start")

    def __init__(self, event: Any, children: dict[str, tuple[int, int, Node]] | list[Node]) -> None:
        self.children = children
        self.start: int = event.start_mark.index
        self.flow = bool(event.flow_style)
        self.key: tuple[str, int, int] | None = None

    def add(self, node: Node, event: Any) -> bool:
        """Put a value in, or a key, which waits for its value. Return whether it was a value."""
        children, key = self.children, self.key
        if type(children) is list:
            children.append(node)
        elif key is None:
            self.key = event.value, node.start, node.end
            return False
        elif type(children) is dict:
            children[key[0]] = (key[1], key[2], node)
            self.key = None
        return True

    def closed(self, event: Any) -> Node:
        """The whole. A block ends where the next thing begins; people mean the end of its last value."""
        children = self.children
        if self.flow:
            end: int = event.end_mark.index
        elif type(children) is dict:
            end = max([node.end for _, _, node in children.values()], default=self.start)
        else:
            end = children[-1].end if children and type(children) is list else self.start
        return Node(self.start, max(end, self.start), children)
