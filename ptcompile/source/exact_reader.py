"""kubectl's reading of YAML (go-yaml v2) on top of PyYAML's events, with positions and errors.

It follows go-yaml v2 as kubectl 1.32 uses it: scalars, merge keys, tags and errors. It keeps its
own stack, so depth is counted instead of overflowing, and aliases count as the values they refer
to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.source.nodes import (
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_VALUES,
    TOO_DEEP,
    Parsed,
    ReaderProblem,
    UnreadableError,
    ValueNode,
    unreadable_error,
)
from ptcompile.source.scalars import key, resolve

_RESERVED = frozenset("@`%")
"""Signs that a plain value cannot begin with."""

# part of the parser's message, our message, our help
_SENTENCES: Sequence[tuple[str, str, str]] = load_table("source/yaml_errors.json")["sentences"]


def describe(context: str, problem: str, character: str) -> tuple[str, str]:
    """Return the message and the help for a parser error; `character` is the one at its
    position.
    """
    if "cannot start any token" in problem:
        if character == "\t":
            return "a tab cannot indent YAML", "indent with spaces"
        if character in _RESERVED:
            message = f"a plain value cannot begin with '{character}'"
            return message, "put the value in double quotes"

    text = f"{problem} {context}"
    for fragment, message, help in _SENTENCES:
        if fragment in text:
            return message, help
    return "this cannot be read as YAML", "quote the value, or fix the indentation"


_TOO_DEEP = (TOO_DEEP, "flatten it: no Kubernetes object nests this deep")

_CORE = "tag:yaml.org,2002:"
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+(?:Z|[-+][0-9:]+)?)?")


class Infinite(str):
    """`.inf` or `.nan`: kubectl accepts it only as a key."""


def decode_tagged(event: Any, text: str) -> Any:
    """Return the value of a scalar with an explicit tag, as go-yaml decodes it."""
    tag = event.tag.removeprefix(_CORE) if event.tag.startswith(_CORE) else None
    value = resolve(text)
    if tag == "binary":
        return _binary(event, text)

    is_bool = isinstance(value, bool)
    fits = {
        "bool": is_bool,
        "int": isinstance(value, int) and not is_bool,
        "float": isinstance(value, int | float) and not is_bool,
        "null": value is None,
        "timestamp": _TIMESTAMP.fullmatch(text) is not None,
    }
    if tag not in fits:
        return text
    if not fits[tag]:
        raise unreadable_error(
            event, "yaml-syntax", f"the value is not a !!{tag}", "remove the tag"
        )
    if tag == "timestamp":
        return text
    if isinstance(value, float) and value - value != 0:
        return Infinite(text)

    return value


def _binary(event: Any, text: str) -> str:
    import base64
    import binascii

    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).decode(
            "utf-8", errors="replace"
        )
    except (binascii.Error, ValueError):
        raise unreadable_error(
            event, "yaml-syntax", "the value is not base64", "remove the tag, or fix the value"
        ) from None


def report_custom_tag(event: Any, findings: list[ReaderProblem]) -> None:
    """Report that kubectl ignores a custom tag."""
    tag = event.tag
    if not tag or tag == "!" or tag.startswith(_CORE):
        return

    start = event.start_mark.index
    message = f"kubectl ignores the tag {tag} and uses the value as written"
    help = "remove the tag, or run the tool that understands it first"
    end = start + len(tag)
    findings.append(
        ReaderProblem(
            "unsupported-yaml", message, help, start, end, "ptcompile", "warning", "style"
        )
    )


_MERGE = object()


class ParsedValue(NamedTuple):
    """A value that has been read: its data, and its size if an alias repeats it."""

    data: Any
    node: ValueNode
    values: int
    size: int
    # the text of a plain scalar, from which a key is made
    plain: str | None = None
    is_alias: bool = False
    # items of a list, for merges
    parts: tuple[ParsedValue, ...] | None = None


class _Positions:
    """The positions of a mapping or a list whose end has not been read yet."""

    __slots__ = ("children", "flow", "key", "start")

    def __init__(self, event: Any, children: JsonDict | list[Any]) -> None:
        self.children: Any = children
        self.start: int = event.start_mark.index
        self.flow = bool(event.flow_style)
        # a key and its offsets, until its value is read
        self.key: tuple[Any, int, int] | None = None

    def add(self, node: ValueNode, event: Any) -> bool:
        """Add a value, or a key that waits for its value. Return whether it was a value."""
        if type(self.children) is list:
            self.children.append(node)
        elif self.key is None:
            self.key = event.value, node.start, node.end
            return False
        else:
            name, start, end = self.key
            self.children[name] = (start, end, node)
            self.key = None

        return True

    def closed(self, event: Any) -> ValueNode:
        """Return the finished collection. A block ends with its last value, not where the next
        token begins.
        """
        children = self.children
        if self.flow:
            end = event.end_mark.index
        elif type(children) is dict:
            end = max([node.end for _, _, node in children.values()], default=self.start)
        else:
            end = children[-1].end if children else self.start
        return ValueNode(self.start, max(end, self.start), children)


class Frame(_Positions):
    """A collection that is still being read."""

    __slots__ = ("anchor", "data", "merged", "parts", "size", "values")

    def __init__(self, event: Any, data: JsonDict | list[Any]) -> None:
        super().__init__(event, {} if type(data) is dict else [])
        self.data: Any = data
        self.anchor: str | None = event.anchor
        # keys from a merge: the mapping may override them
        self.merged: set[str] = set()
        # items of a list: a merge must know which are aliases
        self.parts: list[ParsedValue] = []
        self.values = 1
        self.size = 0


def attach(frame: Frame, value: ParsedValue, event: Any, findings: list[ReaderProblem]) -> bool:
    """Add a key, its value or an item to the collection around it. Return whether it was a
    value.
    """
    if type(frame.data) is dict and frame.key is None:
        frame.key = (_key(value), value.node.start, value.node.end)
        return False
    if type(value.data) is Infinite:
        help = "write a finite number, or quote it"
        raise unreadable_error(event, "unsupported-yaml", f"{value.data} is not a JSON value", help)

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
        message = f'the key "{name}" appears twice in this mapping, and kubectl keeps only the last'
        help = "remove one of the two"
        first, _, _ = frame.children[name]
        findings.append(
            ReaderProblem("duplicate-key", message, help, start, end, "ptcompile", first=first)
        )
    frame.merged.discard(name)
    frame.data[name] = value.data
    frame.children[name] = (start, end, value.node)

    return True


def _key(value: ParsedValue) -> Any:
    """Return a key, or the mark of a merge. Raises UnreadableError unless the key is a string."""
    if value.plain == "<<" and not value.is_alias:
        return _MERGE

    name = value.data if value.plain is None else key(value.plain)
    if not isinstance(name, str):
        message = "this key is not a string, and kubectl does not turn it into one"
        node = value.node
        raise UnreadableError(
            ReaderProblem(
                "unsupported-yaml", message, "put the key in double quotes", node.start, node.end
            )
        )

    return name


def _merge(frame: Frame, value: ParsedValue, event: Any) -> None:
    """Apply `<<` as go-yaml v2 does: a merge overrides keys before it and yields to keys after
    it.
    """
    parts = (value,) if value.parts is None or value.is_alias else value.parts
    for part in reversed(parts):
        if type(part.data) is not dict:
            message = "'<<' needs a mapping or a list of mappings"
            raise unreadable_error(
                event, "yaml-syntax", message, "quote the key if '<<' is meant as text"
            )
        frame.data.update(part.data)
        frame.children.update(part.node.children)
        frame.merged.update(part.data)


def close(frame: Frame, event: Any) -> ParsedValue:
    """Return a finished collection as a value."""
    parts = tuple(frame.parts) if type(frame.data) is list else None
    return ParsedValue(frame.data, frame.closed(event), frame.values, frame.size, parts=parts)


_UNPRINTABLE = Pattern("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNPRINTABLE_ASCII = Pattern("[^\t\n\r\x20-\x7e]")
_SLASH_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\/")


def parse(text: str, *, is_json: bool = False) -> Parsed:
    """Read one document. Never raises on its content: a rejection is a finding, and the data is
    then None.

    JSON may have escaped slashes, which Go does not know in YAML.
    """
    findings: list[ReaderProblem] = []
    if match := find_unprintable(text):
        code = ord(match[0])
        message = f"the character U+{code:04X} is not allowed in YAML"
        help = "remove it, or write it as an escape between double quotes"
        return Parsed(
            None, None, [ReaderProblem("yaml-syntax", message, help, match.start(), match.end())]
        )

    try:
        root, aliases = _read_document(text, findings, check_slash=not is_json and "\\/" in text)
    except UnreadableError as refused:
        return Parsed(None, None, [*findings, _or_template(text, refused.finding)])

    if root is None:
        return Parsed(None, None, findings)

    return Parsed(
        root.data,
        root.node,
        findings,
        repeated_values=sum(alias.values for alias in aliases),
        repeated_characters=sum(alias.size for alias in aliases),
    )


def find_unprintable(text: str) -> re.Match[str] | None:
    """Return the match of the first character that YAML does not allow, or None."""
    return (_UNPRINTABLE_ASCII if text.isascii() else _UNPRINTABLE).search(text)


def events(text: str) -> Iterator[Any]:
    """Yield the events of PyYAML's parser. Raises UnreadableError instead of the parser's
    errors.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        raise UnreadableError(_syntax(text, error)) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        raise UnreadableError(
            ReaderProblem("yaml-syntax", "this cannot be read as YAML", None, 0, 1)
        ) from None


def _syntax(text: str, error: Any) -> ReaderProblem:
    """Return the finding for an error of the parser."""
    mark = error.problem_mark or error.context_mark
    start = mark.index if mark else 0
    # PyYAML 6.0.4 has a limit far above MAX_DEPTH, but reaches it before MAX_DEPTH is checked
    if "nesting depth" in (error.problem or ""):
        return ReaderProblem("too-deep", *_TOO_DEEP, start, start + 1, "ptcompile")

    message, cure = describe(error.context or "", error.problem or "", text[start : start + 1])
    if error.context_mark and (
        start >= len(text.rstrip()) or "simple key" in (error.context or "")
    ):
        # at the end of the file, or after a line that is not a key: the start of the open construct
        start = error.context_mark.index

    return ReaderProblem("yaml-syntax", message, cure, start, start + 1)


def _or_template(text: str, finding: ReaderProblem) -> ReaderProblem:
    """Return the problem of the text's template marks, which explain every error after them, or
    else the finding.
    """
    if finding.name not in ("yaml-syntax", "unsupported-yaml"):
        return finding

    from ptcompile.source.templates import template_mark

    mark = template_mark(text)
    if mark is None:
        return finding

    message = f"the text is a template of {mark.tools}: '{mark.sign}' is not YAML"
    help = f"render it first and use the result: {mark.command} > rendered.yaml"

    return ReaderProblem("yaml-syntax", message, help, mark.start, mark.start + 2)


def _read_document(
    text: str, findings: list[ReaderProblem], *, check_slash: bool
) -> tuple[ParsedValue | None, list[ParsedValue]]:
    """Return the root of the text's document, with positions, and what each alias stands for; add
    what is wrong to the findings.
    """
    from yaml import events as kinds

    stack: list[Frame] = []
    anchors: dict[str, ParsedValue | None] = {}
    root: ParsedValue | None = None
    total = 0
    aliases: list[ParsedValue] = []
    for event in events(text):
        event_type = type(event)
        if event_type is kinds.ScalarEvent:
            if check_slash and event.style == '"':
                _reject_slash(text, event)
            value = _scalar(event, findings)
            anchor = event.anchor
        elif event_type is kinds.AliasEvent:
            value = _alias(event, anchors)
            anchor = None
            aliases.append(value)
        elif event_type is kinds.MappingStartEvent or event_type is kinds.SequenceStartEvent:
            _begin(
                event, {} if event_type is kinds.MappingStartEvent else [], stack, anchors, findings
            )
            continue
        elif event_type is kinds.MappingEndEvent or event_type is kinds.SequenceEndEvent:
            frame = stack.pop()
            value = close(frame, event)
            anchor = frame.anchor
        elif event_type is kinds.DocumentEndEvent and event.explicit:
            findings.extend(_unread_rest(text, event))
            break
        else:
            continue

        if anchor:
            anchors[anchor] = value
        if stack:
            total += attach(stack[-1], value, event, findings)
            _check_limits(event, stack[-1], total)
        else:
            root = value

    return root, aliases


def _begin(
    event: Any,
    data: JsonDict | list[Any],
    stack: list[Frame],
    anchors: dict[str, ParsedValue | None],
    findings: list[ReaderProblem],
) -> None:
    """Push a mapping or a list that begins."""
    if len(stack) >= MAX_DEPTH:
        raise unreadable_error(event, "too-deep", *_TOO_DEEP, "ptcompile")
    if event.anchor:
        # not readable yet: an alias within would contain itself
        anchors[event.anchor] = None
    report_custom_tag(event, findings)
    stack.append(Frame(event, data))


def _reject_slash(text: str, event: Any) -> None:
    start = event.start_mark.index
    if match := _SLASH_ESCAPE.search(text, start, event.end_mark.index):
        end = match.end()
        raise UnreadableError(
            ReaderProblem(
                "yaml-syntax", "kubectl does not know the escape '\\/'", "write '/'", end - 2, end
            )
        )


def _scalar(event: Any, findings: list[ReaderProblem]) -> ParsedValue:
    text = event.value
    start = event.start_mark.index
    end = event.end_mark.index
    node = ValueNode(start, end, None)
    if event.tag is None:
        if not event.implicit[0]:
            return ParsedValue(text, node, 1, len(text))
        data = resolve(text)
        if isinstance(data, float) and data - data != 0:
            # valid as a key, rejected as a value
            data = Infinite(text)
        return ParsedValue(data, node, 1, len(text), text)

    data = decode_tagged(event, text)
    report_custom_tag(event, findings)

    return ParsedValue(data, node, 1, len(text), None if isinstance(data, str) else text)


def _alias(event: Any, anchors: dict[str, ParsedValue | None]) -> ParsedValue:
    name = event.anchor
    if name not in anchors:
        message = f"no anchor &{name} comes before this alias"
        raise unreadable_error(
            event, "yaml-syntax", message, "quote the value if '*' is meant as text"
        )

    target = anchors[name]
    if target is None:
        raise unreadable_error(
            event, "yaml-syntax", f"the value of &{name} contains itself", "remove the alias"
        )

    # the alias has its own position; its children have those of the anchor
    node = ValueNode(event.start_mark.index, event.end_mark.index, target.node.children)
    return target._replace(node=node, is_alias=True)


def _check_limits(event: Any, frame: Frame, total: int) -> None:
    if total > MAX_VALUES:
        message = f"the document has more than {MAX_VALUES} values"
        raise unreadable_error(event, "too-large", message, "split the document", "ptcompile")
    if frame.values - 1 > MAX_VALUES or frame.size > MAX_DOCUMENT:
        message = "aliases expand this document beyond what the API server accepts"
        raise unreadable_error(
            event,
            "too-many-aliases",
            message,
            "write the values out, or use fewer aliases",
            "ptcompile",
        )


def _unread_rest(text: str, event: Any) -> list[ReaderProblem]:
    """Return the finding for content after a line `...`, which ends a document for go-yaml but not
    for kubectl's splitter. Directives for a next document are not content.
    """
    rest = re.compile(r"^(?!%)[ \t]*[^\s#]", re.MULTILINE).search(text, event.end_mark.index)
    if rest is None:
        return []
    message = "kubectl reads nothing after the line '...' that ended the document"
    help = "separate documents with a line '---'"
    finding = ReaderProblem(
        "text-after-end", message, help, rest.end() - 1, rest.end(), "ptcompile"
    )
    return [finding._replace(stage="run")]


def positions(text: str) -> ValueNode | None:
    """Return the same root as `parse` in half the time, or None if `parse` would reject the
    document.
    """
    if find_unprintable(text) is not None:
        return None
    try:
        return _read_positions(text)
    except UnreadableError:
        return None


def _read_positions(text: str) -> ValueNode | None:
    from yaml import events as kinds

    scalar = kinds.ScalarEvent
    starts = (kinds.MappingStartEvent, kinds.SequenceStartEvent)
    ends = (kinds.MappingEndEvent, kinds.SequenceEndEvent)
    stack: list[_Positions] = []
    root: ValueNode | None = None
    total = 0
    for event in events(text):
        event_type = type(event)
        if event_type is scalar:
            node = ValueNode(event.start_mark.index, event.end_mark.index, None)
        elif event_type in starts:
            if len(stack) >= MAX_DEPTH:
                return None
            stack.append(_Positions(event, {} if event_type is kinds.MappingStartEvent else []))
            continue
        elif event_type in ends:
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
