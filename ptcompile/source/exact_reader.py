"""kubectl's reading of YAML (go-yaml v2) over PyYAML's events, with positions and errors.

It follows go-yaml v2 as kubectl 1.32 uses it: its scalars, its merge keys, its tags, its refusals. It keeps its own
stack, so depth is a count and not a crash, and aliases are counted by what they stand for.
"""

from __future__ import annotations

import re

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.source.nodes import (
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_VALUES,
    Parsed,
    ReaderProblem,
    UnreadableError,
    ValueNode,
    refused,
)
from ptcompile.source.scalars import key, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final


_CANNOT_START: Final[dict[str, tuple[str, str]]] = {
    "\t": ("a tab cannot indent YAML", "indent with spaces"),
    "@": ("a plain value cannot begin with '@'", "put the value in double quotes"),
    "`": ("a plain value cannot begin with '`'", "put the value in double quotes"),
    "%": ("a plain value cannot begin with '%'", "put the value in double quotes"),
}

# What the parser says (a part of it), what we say, and what helps. The first that matches counts.
_SENTENCES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "mapping values are not allowed",
        "a ':' is where a key cannot be",
        "quote a value that contains ': ', or fix the indentation of this line",
    ),
    (
        "could not find expected ':'",
        "this line is not 'key: value' and does not continue the value above",
        "write 'key: value', or indent the line under the value that it belongs to",
    ),
    (
        "while parsing a block mapping",
        "this does not belong to the mapping around it",
        "give all keys of one mapping the same indentation, and quote values that begin with an indicator",
    ),
    (
        "while parsing a block collection",
        "this does not belong to the list around it",
        "give all '-' of one list the same indentation",
    ),
    ("expected ',' or ']'", "a list that begins with '[' is not closed", "add the ',' or the ']'"),
    ("expected ',' or '}'", "a mapping that begins with '{' is not closed", "add the ',' or the '}'"),
    ("unexpected end of stream", "a quoted text is not closed", "add the closing quote"),
    ("unexpected document indicator", "a quoted text is not closed", "add the closing quote"),
    (
        "unknown escape character",
        "this escape is not known between double quotes",
        "write a backslash as '\\\\', or use single quotes",
    ),
    ("hexdecimal", "this escape needs hexadecimal digits", "write a backslash as '\\\\', or use single quotes"),
    ("invalid Unicode", "this escape is not a character", "write the character itself instead of surrogate escapes"),
    ("tab character", "a tab cannot indent YAML", "indent with spaces"),
    ("block sequence entries are not allowed", "a list item cannot begin here", "put the '-' on a line of its own"),
    ("expected node content", "a value is missing here", "write a value, or close the bracket"),
    (
        "expected <document start>",
        "the document has ended before this, or a directive is not followed by '---'",
        "indent the line as the ones above, or separate documents with a line '---'",
    ),
    ("incompatible YAML", "kubectl reads YAML 1.1 only", "remove the %YAML line"),
    ("directive", "this is not a YAML directive", "remove the line that begins with '%'"),
    ("anchor", "an anchor or alias needs a name of letters, digits, '-' and '_'", "quote a value with '&' or '*'"),
    ("alias", "an anchor or alias needs a name of letters, digits, '-' and '_'", "quote a value with '&' or '*'"),
    ("tag", "this is not a YAML tag", "quote a value that begins with '!'"),
    ("undefined tag", "this tag is not declared", "remove the tag"),
    ("block scalar", "the first line of a text block is malformed", "write '|' or '>' alone, then indent the text"),
    ("indentation", "the indentation of this text block is malformed", "indent all its lines alike, with spaces"),
)


def describe(context: str, problem: str, character: str) -> tuple[str, str]:
    """The sentence and the help for a parser's error; `character` is what stands at its position."""
    if "cannot start any token" in problem and character in _CANNOT_START:
        return _CANNOT_START[character]
    said = f"{problem} {context}"
    for part, message, cure in _SENTENCES:
        if part in said:
            return message, cure
    return "this cannot be read as YAML", "quote the value, or fix the indentation"


_CORE: Final = "tag:yaml.org,2002:"
_TIMESTAMP: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+(?:Z|[-+][0-9:]+)?)?")


class Infinite(str):
    """`.inf` or `.nan`: kubectl takes it as a key only."""


def tagged(event: Any, text: str) -> Any:
    """The value of a scalar with an explicit tag, as go-yaml decodes it."""
    kind = event.tag.removeprefix(_CORE) if event.tag.startswith(_CORE) else None
    value = resolve(text)
    if kind == "binary":
        return _binary(event, text)
    fits = {
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, int | float) and not isinstance(value, bool),
        "null": value is None,
    }
    if kind == "timestamp":
        if not _TIMESTAMP.fullmatch(text):
            raise refused(event, "yaml-syntax", f"the value is not a !!{kind}", "remove the tag")
        return text
    if kind not in fits:
        return text
    if not fits[kind]:
        raise refused(event, "yaml-syntax", f"the value is not a !!{kind}", "remove the tag")
    return Infinite(text) if isinstance(value, float) and value - value != 0 else value


def _binary(event: Any, text: str) -> str:
    import base64
    import binascii

    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).decode("utf-8", errors="replace")
    except (binascii.Error, ValueError):
        raise refused(event, "yaml-syntax", "the value is not base64", "remove the tag, or fix the value") from None


def note_tag(event: Any, findings: list[ReaderProblem]) -> None:
    """Say that kubectl ignores a custom tag."""
    tag = event.tag
    if not tag or tag == "!" or tag.startswith(_CORE):
        return
    start = event.start_mark.index
    message = f"kubectl ignores the tag {tag} and uses the value as written"
    cure = "remove the tag, or run the tool that understands it first"
    end = start + len(tag)
    findings.append(ReaderProblem("unsupported-yaml", message, cure, start, end, "ptcompile", "warning", "style"))


_MERGE: Final = object()


class ParsedValue(NamedTuple):
    """A value that is read: its data, and what it counts for where an alias repeats it."""

    data: Any
    node: ValueNode
    values: int
    size: int
    plain: str | None = None  # the text of a plain scalar: what a key is made of
    is_alias: bool = False
    parts: tuple[ParsedValue, ...] | None = None  # of a list, for merges


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
        self.parts: list[ParsedValue] = []  # of a list: a merge needs to know what is an alias
        self.values = 1
        self.size = 0


def attach(frame: Frame, value: ParsedValue, event: Any, findings: list[ReaderProblem]) -> bool:
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


def _duplicate(name: str, first: int, start: int, end: int) -> ReaderProblem:
    message = f'the key "{name}" appears twice in this mapping, and kubectl keeps only the last'
    return ReaderProblem("duplicate-key", message, "remove one of the two", start, end, "ptcompile", first=first)


def _key(value: ParsedValue) -> Any:
    if value.plain == "<<" and not value.is_alias:
        return _MERGE
    name = value.data if value.plain is None else key(value.plain)
    if not isinstance(name, str):
        message = "this key is not a string, and kubectl does not turn it into one"
        node = value.node
        raise UnreadableError(
            ReaderProblem("unsupported-yaml", message, "put the key in double quotes", node.start, node.end)
        )
    return name


def _merge(frame: Frame, value: ParsedValue, event: Any) -> None:
    """`<<`: as go-yaml v2, a merge overrides what stands before it, and gives way to what comes after."""
    parts = (value,) if value.parts is None or value.is_alias else value.parts
    for part in reversed(parts):
        if type(part.data) is not dict:
            message = "'<<' needs a mapping or a list of mappings"
            raise refused(event, "yaml-syntax", message, "quote the key if '<<' is meant as text")
        frame.data.update(part.data)
        frame.children.update(part.node.children)
        frame.merged.update(part.data)


def close(frame: Frame, event: Any) -> ParsedValue:
    """A collection that has ended, as a value."""
    end = event.end_mark.index
    if not frame.flow:
        # A block ends where the next thing begins; people mean the end of its last value.
        children = frame.children
        last = children[-1].end if type(children) is list and children else frame.start
        end = max((node.end for _, _, node in children.values()), default=last) if type(children) is dict else last
    node = ValueNode(frame.start, max(end, frame.start), frame.children)
    parts = tuple(frame.parts) if type(frame.data) is list else None
    return ParsedValue(frame.data, node, frame.values, frame.size, parts=parts)


_UNPRINTABLE: Final = Pattern("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNPRINTABLE_ASCII: Final = Pattern("[^\t\n\r\x20-\x7e]")
_SLASH_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")


def parse(text: str) -> Parsed:
    """Read one document. Never raises on its content: a refusal is a finding, and the data is then `None`."""
    findings: list[ReaderProblem] = []
    if bad := unprintable(text):
        code = ord(bad[0])
        message = f"the character U+{code:04X} is not allowed in YAML"
        cure = "remove it, or write it as an escape between double quotes"
        return Parsed(None, None, [ReaderProblem("yaml-syntax", message, cure, bad.start(), bad.end())])
    try:
        value = _read_documents(text, findings, check_slash="\\/" in text)
    except UnreadableError as refused:
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
        raise UnreadableError(_syntax(text, error)) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        raise UnreadableError(ReaderProblem("yaml-syntax", "this cannot be read as YAML", None, 0, 1)) from None


def _syntax(text: str, error: Any) -> ReaderProblem:

    mark = error.problem_mark or error.context_mark
    start = mark.index if mark else 0
    message, cure = describe(error.context or "", error.problem or "", text[start : start + 1])
    if error.context_mark and (start >= len(text.rstrip()) or "simple key" in (error.context or "")):
        start = error.context_mark.index  # at the end of the file, or after a line that is not a key: what was begun
    return ReaderProblem("yaml-syntax", message, cure, start, start + 1)


def _or_template(text: str, finding: ReaderProblem) -> ReaderProblem:
    """Template marks explain every error after them."""
    at = text.find("{{")
    if at < 0 or "}}" not in text or finding.name not in ("yaml-syntax", "unsupported-yaml"):
        return finding
    message = "template marks '{{ }}' are not YAML"
    cure = "render the template first (for Helm: helm template), and check what it prints"
    return ReaderProblem("yaml-syntax", message, cure, at, at + 2)


def _read_documents(text: str, findings: list[ReaderProblem], *, check_slash: bool) -> ParsedValue | None:
    from yaml import events as kinds

    stack: list[Frame] = []
    anchors: dict[str, ParsedValue | None] = {}
    root: ParsedValue | None = None
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
    anchors: dict[str, ParsedValue | None],
    findings: list[ReaderProblem],
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
        raise UnreadableError(
            ReaderProblem("yaml-syntax", "kubectl does not know the escape '\\/'", "write '/'", end - 2, end)
        )


def _scalar(event: Any, findings: list[ReaderProblem]) -> ParsedValue:
    text: str = event.value
    start, end = event.start_mark.index, event.end_mark.index
    node = ValueNode(start, end, None)
    if event.tag is None:
        if not event.implicit[0]:
            return ParsedValue(text, node, 1, len(text))
        data = resolve(text)
        if isinstance(data, float) and data - data != 0:
            data = Infinite(text)  # fine as a key, refused as a value
        return ParsedValue(data, node, 1, len(text), text)
    data = tagged(event, text)
    note_tag(event, findings)
    return ParsedValue(data, node, 1, len(text), None if isinstance(data, str) else text)


def _alias(event: Any, anchors: dict[str, ParsedValue | None]) -> ParsedValue:
    name = event.anchor
    if name not in anchors:
        message = f"no anchor &{name} comes before this alias"
        raise refused(event, "yaml-syntax", message, "quote the value if '*' is meant as text")
    found = anchors[name]
    if found is None:
        raise refused(event, "yaml-syntax", f"the value of &{name} contains itself", "remove the alias")
    # The alias stands where it is used; what is within stands where the anchor is.
    node = ValueNode(event.start_mark.index, event.end_mark.index, found.node.children)
    return found._replace(node=node, is_alias=True)


def _limit(event: Any, frame: Frame, total: int) -> None:
    if total > MAX_VALUES:
        message = f"the document has more than {MAX_VALUES} values"
        raise refused(event, "too-large", message, "split the document", "ptcompile")
    if frame.values - 1 > MAX_VALUES or frame.size > MAX_DOCUMENT:
        message = "aliases expand this document beyond what the API server accepts"
        raise refused(event, "too-many-aliases", message, "write the values out, or use fewer aliases", "ptcompile")


def _unread(text: str, event: Any) -> list[ReaderProblem]:
    """What stands behind a line `...`, which ends a document for go-yaml, and not for kubectl's splitter."""
    rest = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE).search(text, event.end_mark.index)
    if rest is None:
        return []
    message = "kubectl reads nothing after the line '...' that ended the document"
    cure = "separate documents with a line '---'"
    return [ReaderProblem("unsupported-yaml", message, cure, rest.end() - 1, rest.end(), "ptcompile")]


def places(text: str) -> ValueNode | None:
    """What `events.parse` gives as the root, in half of its time; None where that refuses the document."""
    if unprintable(text) is not None:
        return None
    try:
        return _read_positions(text)
    except UnreadableError:
        return None


def _read_positions(text: str) -> ValueNode | None:
    from yaml import events as kinds

    scalar, starts = kinds.ScalarEvent, (kinds.MappingStartEvent, kinds.SequenceStartEvent)
    ends = (kinds.MappingEndEvent, kinds.SequenceEndEvent)
    stack: list[_Open] = []
    root: ValueNode | None = None
    total = 0
    for event in events(text):
        kind = type(event)
        if kind is scalar:
            node = ValueNode(event.start_mark.index, event.end_mark.index, None)
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

    def __init__(self, event: Any, children: dict[str, tuple[int, int, ValueNode]] | list[ValueNode]) -> None:
        self.children = children
        self.start: int = event.start_mark.index
        self.flow = bool(event.flow_style)
        self.key: tuple[str, int, int] | None = None

    def add(self, node: ValueNode, event: Any) -> bool:
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

    def closed(self, event: Any) -> ValueNode:
        """The whole. A block ends where the next thing begins; people mean the end of its last value."""
        children = self.children
        if self.flow:
            end: int = event.end_mark.index
        elif type(children) is dict:
            end = max([node.end for _, _, node in children.values()], default=self.start)
        else:
            end = children[-1].end if children and type(children) is list else self.start
        return ValueNode(self.start, max(end, self.start), children)
