"""The careful reader: one pass over the events of a YAML parser that builds data and positions as kubectl reads them.

It follows go-yaml v2 as kubectl 1.32 uses it: its scalars, its merge keys, its tags, its refusals. It keeps its own
stack, so depth is a count and not a crash, and aliases are counted by what they stand for.
"""

from __future__ import annotations

import re

from ptcompile.documents.reader.frames import Frame, Value, attach, close
from ptcompile.documents.reader.nodes import (
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_VALUES,
    Finding,
    Node,
    Parsed,
    Refused,
    refused,
)
from ptcompile.documents.reader.tags import Infinite, note_tag, tagged
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.kubernetes.scalars import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

_UNPRINTABLE: Final = Pattern("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNPRINTABLE_ASCII: Final = Pattern("[^\t\n\r\x20-\x7e]")
_SLASH_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")


def parse(text: str) -> Parsed:
    """Read one document. Never raises on its content: a refusal is a finding, and the data is then `None`."""
    findings: list[Finding] = []
    if bad := unprintable(text):
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


def unprintable(text: str) -> re.Match[str] | None:
    """The first character that YAML does not allow."""
    return (_UNPRINTABLE_ASCII if text.isascii() else _UNPRINTABLE).search(text)


def events(text: str) -> Iterator[Any]:
    """The events of PyYAML's parser. Raises `Refused` where it raises an error."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        raise Refused(_syntax(text, error)) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        raise Refused(Finding("yaml-syntax", "this cannot be read as YAML", None, 0, 1)) from None


def _syntax(text: str, error: Any) -> Finding:
    from ptcompile.documents.reader.errors import describe

    mark = error.problem_mark or error.context_mark
    start = mark.index if mark else 0
    message, cure = describe(error.context or "", error.problem or "", text[start : start + 1])
    if error.context_mark and (start >= len(text.rstrip()) or "simple key" in (error.context or "")):
        start = error.context_mark.index  # at the end of the file, or after a line that is not a key: what was begun
    return Finding("yaml-syntax", message, cure, start, start + 1)


def _or_template(text: str, finding: Finding) -> Finding:
    """Template marks explain every error after them."""
    at = text.find("{{")
    if at < 0 or "}}" not in text or finding.name not in ("yaml-syntax", "unsupported-yaml"):
        return finding
    message = "template marks '{{ }}' are not YAML"
    cure = "render the template first (for Helm: helm template), and check what it prints"
    return Finding("yaml-syntax", message, cure, at, at + 2)


def _read(text: str, findings: list[Finding], *, check_slash: bool) -> Value | None:
    from yaml import events as kinds

    stack: list[Frame] = []
    anchors: dict[str, Value | None] = {}
    root: Value | None = None
    total = 0
    for event in events(text):
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
            value, anchor = close(frame, event), frame.anchor
        elif kind is kinds.DocumentEndEvent and event.explicit:
            findings.extend(_unread(text, event))
            return root
        else:
            continue
        if anchor:
            anchors[anchor] = value
        if stack:
            total += attach(stack[-1], value, event, findings)
            _limit(event, stack[-1], total)
        else:
            root = value
    return root


def _begin(
    event: Any,
    data: dict[str, Any] | list[Any],
    stack: list[Frame],
    anchors: dict[str, Value | None],
    findings: list[Finding],
) -> None:
    if len(stack) >= MAX_DEPTH:
        cure = "flatten it: no Kubernetes object nests this deep"
        raise refused(event, "too-deep", f"nested more than {MAX_DEPTH} levels deep", cure, "ptcompile")
    if event.anchor:
        anchors[event.anchor] = None  # not readable yet: an alias within would contain itself
    note_tag(event, findings)
    stack.append(Frame(event, data))


def _refuse_slash(text: str, event: Any) -> None:
    start = event.start_mark.index
    if found := _SLASH_ESCAPE.search(text, start, event.end_mark.index):
        end = found.end()
        raise Refused(Finding("yaml-syntax", "kubectl does not know the escape '\\/'", "write '/'", end - 2, end))


def _scalar(event: Any, findings: list[Finding]) -> Value:
    text: str = event.value
    start, end = event.start_mark.index, event.end_mark.index
    node = Node(start, end, None)
    if event.tag is None:
        if not event.implicit[0]:
            return Value(text, node, 1, len(text))
        data = resolve(text)
        if isinstance(data, float) and data - data != 0:
            data = Infinite(text)  # fine as a key, refused as a value
        return Value(data, node, 1, len(text), text)
    data = tagged(event, text)
    note_tag(event, findings)
    return Value(data, node, 1, len(text), None if isinstance(data, str) else text)


def _alias(event: Any, anchors: dict[str, Value | None]) -> Value:
    name = event.anchor
    if name not in anchors:
        message = f"no anchor &{name} comes before this alias"
        raise refused(event, "yaml-syntax", message, "quote the value if '*' is meant as text")
    found = anchors[name]
    if found is None:
        raise refused(event, "yaml-syntax", f"the value of &{name} contains itself", "remove the alias")
    # The alias stands where it is used; what is within stands where the anchor is.
    node = Node(event.start_mark.index, event.end_mark.index, found.node.children)
    return found._replace(node=node, is_alias=True)


def _limit(event: Any, frame: Frame, total: int) -> None:
    if total > MAX_VALUES:
        message = f"the document has more than {MAX_VALUES} values"
        raise refused(event, "too-large", message, "split the document", "ptcompile")
    if frame.values - 1 > MAX_VALUES or frame.size > MAX_DOCUMENT:
        message = "aliases expand this document beyond what the API server accepts"
        raise refused(event, "too-many-aliases", message, "write the values out, or use fewer aliases", "ptcompile")


def _unread(text: str, event: Any) -> list[Finding]:
    """What stands behind a line `...`, which ends a document for go-yaml, and not for kubectl's splitter."""
    rest = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE).search(text, event.end_mark.index)
    if rest is None:
        return []
    message = "kubectl reads nothing after the line '...' that ended the document"
    cure = "separate documents with a line '---'"
    return [Finding("unsupported-yaml", message, cure, rest.end() - 1, rest.end(), "ptcompile")]
