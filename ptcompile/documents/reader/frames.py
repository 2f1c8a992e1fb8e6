"""Mappings and lists while they are read: where each value goes, with keys and merges as go-yaml v2 has them."""

from __future__ import annotations

from ptcompile.documents.reader.nodes import Finding, Node, Refused, refused
from ptcompile.documents.reader.tags import Infinite
from ptcompile.kubernetes.scalars import key
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_MERGE: Final = object()


class Value(NamedTuple):
    """A value that is read: its data, and what it counts for where an alias repeats it."""

    data: Any
    node: Node
    values: int
    size: int
    plain: str | None = None  # the text of a plain scalar: what a key is made of
    is_alias: bool = False
    parts: tuple[Value, ...] | None = None  # of a list, for merges


class Frame:
    """A collection that is being read."""

    __slots__ = ("anchor", "children", "data", "flow", "key", "merged", "parts", "size", "start", "values")

    def __init__(self, event: Any, data: dict[str, Any] | list[Any]) -> None:
        self.data: Any = data
        self.children: Any = {} if type(data) is dict else []
        self.start: int = event.start_mark.index
        self.flow = bool(event.flow_style)
        self.anchor: str | None = event.anchor
        self.key: tuple[Any, int, int] | None = None  # a key and its offsets, until its value comes
        self.merged: set[str] = set()  # keys that a merge brought: the mapping may write them again
        self.parts: list[Value] = []  # of a list: a merge needs to know what is an alias
        self.values = 1
        self.size = 0


def attach(frame: Frame, value: Value, event: Any, findings: list[Finding]) -> bool:
    """Put a key, its value or an item into the collection around it. Return whether it was a value."""
    if type(frame.data) is dict and frame.key is None:
        frame.key = (_key(value), value.node.start, value.node.end)
        return False
    if type(value.data) is Infinite:
        cure = "write a finite number, or quote it"
        raise refused(event, "unsupported-yaml", f"{value.data} is not a JSON value", cure)
    frame.values += value.values
    frame.size += value.size
    if frame.key is None:
        frame.data.append(value.data)
        frame.children.append(value.node)
        frame.parts.append(value)
        return True
    (name, start, end), frame.key = frame.key, None
    if name is _MERGE:
        _merge(frame, value, event)
        return True
    frame.size += len(name)
    if name in frame.children and name not in frame.merged:
        findings.append(_duplicate(name, frame.children[name][0], start, end))
    frame.merged.discard(name)
    frame.data[name] = value.data
    frame.children[name] = (start, end, value.node)
    return True


def _duplicate(name: str, first: int, start: int, end: int) -> Finding:
    message = f'the key "{name}" appears twice in this mapping, and kubectl keeps only the last'
    return Finding("duplicate-key", message, "remove one of the two", start, end, "ptcompile", first=first)


def _key(value: Value) -> Any:
    if value.plain == "<<" and not value.is_alias:
        return _MERGE
    name = value.data if value.plain is None else key(value.plain)
    if not isinstance(name, str):
        message = "this key is not a string, and kubectl does not turn it into one"
        node = value.node
        raise Refused(Finding("unsupported-yaml", message, "put the key in double quotes", node.start, node.end))
    return name


def _merge(frame: Frame, value: Value, event: Any) -> None:
    """`<<`: as go-yaml v2, a merge overrides what stands before it, and gives way to what comes after."""
    parts = (value,) if value.parts is None or value.is_alias else value.parts
    for part in reversed(parts):
        if type(part.data) is not dict:
            message = "'<<' needs a mapping or a list of mappings"
            raise refused(event, "yaml-syntax", message, "quote the key if '<<' is meant as text")
        frame.data.update(part.data)
        frame.children.update(part.node.children)
        frame.merged.update(part.data)


def close(frame: Frame, event: Any) -> Value:
    """A collection that has ended, as a value."""
    end = event.end_mark.index
    if not frame.flow:
        # A block ends where the next thing begins; people mean the end of its last value.
        children = frame.children
        last = children[-1].end if type(children) is list and children else frame.start
        end = max((node.end for _, _, node in children.values()), default=last) if type(children) is dict else last
    node = Node(frame.start, max(end, frame.start), frame.children)
    parts = tuple(frame.parts) if type(frame.data) is list else None
    return Value(frame.data, node, frame.values, frame.size, parts=parts)
