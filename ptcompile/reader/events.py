"""The careful reader: one pass over the events of a YAML parser that builds data and positions as kubectl reads them.

It follows go-yaml v2 as kubectl 1.32 uses it: its scalars, its merge keys, its tags, its refusals. It keeps its own
stack, so depth is a count and not a crash, and aliases are counted by what they stand for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ptcompile.reader.nodes import (
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_VALUES,
    Finding,
    Node,
    Parsed,
    Refused,
    refused,
)
from ptcompile.reader.tags import Infinite, note_tag, tagged
from ptcompile.scalars import key, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

_MERGE: Final = object()
_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SLASH_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")


class _Value(NamedTuple):
    """A value that is read: its data, and what it counts for where an alias repeats it."""

    data: Any
    node: Node
    values: int
    size: int
    plain: str | None = None  # the text of a plain scalar: what a key is made of
    is_alias: bool = False
    parts: tuple[_Value, ...] | None = None  # of a list, for merges


class _Frame:
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
        self.parts: list[_Value] = []  # of a list: a merge needs to know what is an alias
        self.values = 1
        self.size = 0


def parse(text: str) -> Parsed:
    """Read one document. Never raises on its content: a refusal is a finding, and the data is then `None`."""
    findings: list[Finding] = []
    if bad := _UNPRINTABLE.search(text):
        code = ord(bad[0])
        message = f"the character U+{code:04X} is not allowed in YAML"
        cure = "remove it, or write it as an escape between double quotes"
        return Parsed(None, None, [Finding("yaml-syntax", message, cure, bad.start(), bad.end())])
    try:
        value = _read(text, findings, check_slash="\\/" in text)
    except Refused as refused:
        return Parsed(None, None, [*findings, _or_template(text, refused.finding)])
    if value is None:
        return Parsed(None, None, findings)
    return Parsed(value.data, value.node, findings)


def _events(text: str) -> Iterator[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        raise Refused(_syntax(text, error)) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        raise Refused(Finding("yaml-syntax", "this cannot be read as YAML", None, 0, 1)) from None


def _syntax(text: str, error: Any) -> Finding:
    from ptcompile.reader.errors import describe

    mark = error.problem_mark or error.context_mark
    start = mark.index if mark else 0
    message, cure = describe(error.context or "", error.problem or "", text[start : start + 1])
    if error.context_mark and (start >= len(text.rstrip()) or "simple key" in (error.context or "")):
        start = error.context_mark.index  # at the end of the file, or after a line that is no key: what was begun
    return Finding("yaml-syntax", message, cure, start, start + 1)


def _or_template(text: str, finding: Finding) -> Finding:
    """Template marks explain every error after them."""
    at = text.find("{{")
    if at < 0 or "}}" not in text or finding.name not in ("yaml-syntax", "unsupported-yaml"):
        return finding
    message = "template marks '{{ }}' are not YAML"
    cure = "render the template first (for Helm: helm template), and check what it prints"
    return Finding("yaml-syntax", message, cure, at, at + 2)


def _read(text: str, findings: list[Finding], *, check_slash: bool) -> _Value | None:
    from yaml import events as kinds

    stack: list[_Frame] = []
    anchors: dict[str, _Value | None] = {}
    root: _Value | None = None
    total = 0
    for event in _events(text):
        kind = type(event)
        if kind is kinds.ScalarEvent:
            if check_slash and event.style == '"':
                _refuse_slash(text, event)
            value, anchor = _scalar(event, findings), event.anchor
        elif kind is kinds.AliasEvent:
            value, anchor = _alias(event, anchors), None
        elif kind is kinds.MappingStartEvent or kind is kinds.SequenceStartEvent:
            _begin(event, {} if kind is kinds.MappingStartEvent else [], stack, anchors, findings)
            continue
        elif kind is kinds.MappingEndEvent or kind is kinds.SequenceEndEvent:
            frame = stack.pop()
            value, anchor = _close(frame, event), frame.anchor
        elif kind is kinds.DocumentEndEvent and event.explicit:
            findings.extend(_unread(text, event))
            return root
        else:
            continue
        if anchor:
            anchors[anchor] = value
        total += 1
        if stack:
            _attach(stack[-1], value, event, findings)
            _limit(event, stack[-1], total)
        else:
            root = value
    return root


def _begin(
    event: Any,
    data: dict[str, Any] | list[Any],
    stack: list[_Frame],
    anchors: dict[str, _Value | None],
    findings: list[Finding],
) -> None:
    if len(stack) >= MAX_DEPTH:
        cure = "move the inner parts out; no Kubernetes object nests so deep"
        raise refused(event, "too-deep", f"nested more than {MAX_DEPTH} levels deep", cure, "ptcompile")
    if event.anchor:
        anchors[event.anchor] = None  # not readable yet: an alias within would contain itself
    note_tag(event, findings)
    stack.append(_Frame(event, data))


def _refuse_slash(text: str, event: Any) -> None:
    start = event.start_mark.index
    if found := _SLASH_ESCAPE.search(text, start, event.end_mark.index):
        end = found.end()
        raise Refused(Finding("yaml-syntax", "kubectl does not know the escape '\\/'", "write '/'", end - 2, end))


def _scalar(event: Any, findings: list[Finding]) -> _Value:
    text: str = event.value
    start, end = event.start_mark.index, event.end_mark.index
    node = Node(start, end, None)
    if event.tag is None:
        if not event.implicit[0]:
            return _Value(text, node, 1, len(text))
        data = resolve(text)
        if isinstance(data, float) and data - data != 0:
            data = Infinite(text)  # fine as a key, refused as a value
        return _Value(data, node, 1, len(text), text)
    data = tagged(event, text)
    note_tag(event, findings)
    return _Value(data, node, 1, len(text), None if isinstance(data, str) else text)


def _alias(event: Any, anchors: dict[str, _Value | None]) -> _Value:
    name = event.anchor
    if name not in anchors:
        message = f"no anchor &{name} stands before this alias"
        raise refused(event, "yaml-syntax", message, "quote the value if '*' is meant as text")
    found = anchors[name]
    if found is None:
        raise refused(event, "yaml-syntax", f"the value of &{name} contains itself", "remove the alias")
    # The alias stands where it is used; what is within stands where the anchor is.
    node = Node(event.start_mark.index, event.end_mark.index, found.node.children)
    return found._replace(node=node, is_alias=True)


def _close(frame: _Frame, event: Any) -> _Value:
    end = event.end_mark.index
    if not frame.flow:
        # A block ends where the next thing begins; people mean the end of its last value.
        children = frame.children
        last = children[-1].end if type(children) is list and children else frame.start
        end = max((node.end for _, _, node in children.values()), default=last) if type(children) is dict else last
    node = Node(frame.start, max(end, frame.start), frame.children)
    parts = tuple(frame.parts) if type(frame.data) is list else None
    return _Value(frame.data, node, frame.values, frame.size, parts=parts)


def _attach(frame: _Frame, value: _Value, event: Any, findings: list[Finding]) -> None:
    if type(frame.data) is dict and frame.key is None:
        frame.key = (_key(value), value.node.start, value.node.end)
        return
    if type(value.data) is Infinite:
        cure = "write a finite number, or quote it"
        raise refused(event, "unsupported-yaml", f"{value.data} is no JSON value", cure)
    frame.values += value.values
    frame.size += value.size
    if frame.key is None:
        frame.data.append(value.data)
        frame.children.append(value.node)
        frame.parts.append(value)
        return
    (name, start, end), frame.key = frame.key, None
    if name is _MERGE:
        _merge(frame, value, event)
        return
    frame.size += len(name)
    if name in frame.children and name not in frame.merged:
        findings.append(_duplicate(name, frame.children[name][0], start, end))
    frame.merged.discard(name)
    frame.data[name] = value.data
    frame.children[name] = (start, end, value.node)


def _duplicate(name: str, first: int, start: int, end: int) -> Finding:
    message = f'the key "{name}" stands twice in this mapping, and kubectl keeps only the last'
    return Finding("duplicate-key", message, "remove one of the two", start, end, "ptcompile", first=first)


def _key(value: _Value) -> Any:
    if value.plain == "<<" and not value.is_alias:
        return _MERGE
    name = value.data if value.plain is None else key(value.plain)
    if not isinstance(name, str):
        message = "this key is no string, and kubectl makes none of it"
        node = value.node
        raise Refused(Finding("unsupported-yaml", message, "put the key in double quotes", node.start, node.end))
    return name


def _merge(frame: _Frame, value: _Value, event: Any) -> None:
    """`<<`: as go-yaml v2, a merge overrides what stands before it, and gives way to what comes after."""
    parts = (value,) if value.parts is None or value.is_alias else value.parts
    for part in reversed(parts):
        if type(part.data) is not dict:
            message = "'<<' needs a mapping or a list of mappings"
            raise refused(event, "yaml-syntax", message, "quote the key if '<<' is meant as text")
        frame.data.update(part.data)
        frame.children.update(part.node.children)
        frame.merged.update(part.data)


def _limit(event: Any, frame: _Frame, total: int) -> None:
    if total > MAX_VALUES:
        message = f"the document has more than {MAX_VALUES} values"
        raise refused(event, "too-large", message, "split the document", "ptcompile")
    if frame.values > MAX_VALUES or frame.size > MAX_DOCUMENT:
        message = "aliases blow this document up beyond what the API server takes"
        raise refused(event, "too-many-aliases", message, "write the values out, or use fewer aliases", "ptcompile")


def _unread(text: str, event: Any) -> list[Finding]:
    """What stands behind a line `...`, which ends a document for go-yaml, and not for kubectl's splitter."""
    rest = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE).search(text, event.end_mark.index)
    if rest is None:
        return []
    message = "kubectl reads nothing from here on, because a line '...' has ended the document"
    cure = "separate documents with a line '---'"
    return [Finding("unsupported-yaml", message, cure, rest.end() - 1, rest.end(), "ptcompile")]
