"""Text to documents: read once, as kubectl reads it, with positions for whoever asks.

Clean documents go through `reader.fast`, all others through `reader.events`, which is exact and knows positions. A
stream that begins with `{` goes through `reader.json_stream`, because kubectl takes it for JSON.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, Final

from ptcompile.cures import DEDUPLICATED
from ptcompile.diagnostics import Path, Problem, Span
from ptcompile.reader.fast import read_document
from ptcompile.reader.nodes import Finding, Node, Parsed, scalars, walk

MAX_STREAM: Final = 64 * 1024 * 1024
"""Characters (or bytes) in one file."""
MAX_DOCUMENTS: Final = 10_000
"""Documents in one file."""

_rendered_from = re.compile(r"(?:[ \t]*(?:#(?! Source: )[^\n]*)?\n)*# Source: ([^\n]*)").match
_separator = re.compile(r"^---([^\n]*)(?:\n|\Z)", re.MULTILINE)


class Document:
    """One document that could be read: a mapping, as kubectl sees it, which remembers where everything stands."""

    __slots__ = (
        "_end",
        "_root",
        "_scalars",
        "_source",
        "_start",
        "_template",
        "data",
        "first_line",
        "index",
        "secrets",
    )

    data: dict[str, Any]
    """Plain JSON-like data. Never change it: aliases share their parts."""
    index: int
    """Among the documents of the stream that are not empty, from 0; refused documents are counted."""
    first_line: int
    """The line on which the document begins, from 1."""
    secrets: tuple[dict[Path, str], Callable[[str], str] | None] | None
    """Its secrets by place, and what hides them in a text; `masking` finds them when something is said of it."""

    def __init__(self, data: dict[str, Any], index: int, first_line: int) -> None:
        self.data = data
        self.index = index
        self.first_line = first_line
        self._source: Source | None = None
        self._start = self._end = 0
        self._root: Node | None = None
        self.secrets = None
        self._template: str | None = None
        self._scalars: list[tuple[int, int]] | None = None

    def span(self, path: Path, *, on_key: bool = False) -> Span | None:
        """Where a value stands, or with `on_key` the last key of its path; `None` for documents that were no text.

        Parts that lead nowhere are skipped where the rest leads on (a model's own tags). A path that ends nowhere
        gives its nearest ancestor's key, or the first line of a list's item.
        """
        source = self._source
        if source is None:
            return None
        root = self._positions()
        if root is None:
            return None
        steps, exact = walk(root, path)
        start, end, node = steps[-1] if steps else (-1, -1, root)
        if start < 0 or (exact and not on_key):
            start, end = node.start, node.end
            if on_key or not exact:
                end = source.line_end(self._start + start, self._start + end) - self._start
        return source.span(self._start + start, self._start + end)

    def start(self) -> int:
        """Where its text begins, as an offset into the stream."""
        return self._start

    def end(self) -> int:
        """Where its text ends, as an offset into the stream."""
        return self._end

    @property
    def template(self) -> str | None:
        """What a comment `# Source: NAME` above the document says that it was rendered from (Helm 3)."""
        if self._template is None and self._source is not None:
            match = _rendered_from(self._source.text, self._start, self._end)
            self._template = match[1].strip() if match else ""
        return self._template or None

    def holds(self, offset: int) -> bool:
        """Whether an offset into the stream is inside one of the document's scalars or keys."""
        if not self._start <= offset < self._end:
            return False
        if self._scalars is None:
            root = self._positions()
            self._scalars = scalars(root) if root is not None else []
        at = bisect_right(self._scalars, (offset - self._start, len(self._source.text) if self._source else 0)) - 1
        return at >= 0 and offset - self._start < self._scalars[at][1]

    def _positions(self) -> Node | None:
        if self._root is None and self._source is not None:
            self._root = self._source.positions(self._start, self._end)
        return self._root


class Source:
    """What was read: the text, its documents, and what is wrong with it as text and as YAML."""

    __slots__ = ("_line_starts", "documents", "filename", "is_json", "problems", "text")

    def __init__(self, text: str, filename: str | None = None) -> None:
        self.text = text
        self.filename = filename
        self.documents: tuple[Document, ...] = ()
        self.problems: tuple[Problem, ...] = ()
        self.is_json = False
        self._line_starts: list[int] | None = None

    @property
    def lines(self) -> list[str]:
        """The lines of the text, without their ends, for code frames."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    def span(self, start: int, end: int) -> Span:
        """Offsets into the text as lines and columns from 1, the end exclusive."""
        if self._line_starts is None:
            self._line_starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        starts = self._line_starts
        line, end_line = bisect_right(starts, start), bisect_right(starts, max(start, end))
        return Span(line, start - starts[line - 1] + 1, end_line, max(start, end) - starts[end_line - 1] + 1)

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and a column, both from 1."""
        if self._line_starts is None:
            self.span(0, 0)
        return (self._line_starts or [0])[line - 1] + column - 1

    def in_scalar(self, line: int, column: int) -> bool:
        """Whether a place is inside a value or a key, so that a `#` there begins no comment."""
        offset = self.offset(line, column)
        at = bisect_right(self.documents, offset, key=Document.start) - 1
        return at >= 0 and self.documents[at].holds(offset)

    def line_end(self, start: int, end: int) -> int:
        """`end`, but not beyond the line of `start`."""
        at = self.text.find("\n", start, end)
        return end if at < 0 else at - (self.text[at - 1] == "\r")

    def positions(self, start: int, end: int) -> Node | None:
        """Read a part of the text again, for the positions of its values."""
        text = self.text[start:end]
        if self.is_json:
            from ptcompile.reader.json_stream import as_yaml

            text = as_yaml(text)
        from ptcompile.reader.events import parse

        return parse(text).root


def read(source: str | bytes, filename: str | None = None) -> Source:
    """Read a YAML or JSON stream as kubectl does. Never raises on its content: what is wrong becomes a problem."""
    if len(source) > MAX_STREAM:
        return _unread(filename, "too-large", f"the file is larger than {MAX_STREAM >> 20} MiB", "split the file")
    problems: list[Problem] = []
    if not isinstance(source, str):
        if source[:2] in (b"\xff\xfe", b"\xfe\xff"):
            problems.append(_utf16())
            text = source.decode("utf-16", errors="replace")
        else:
            try:
                text = source.decode("utf-8")
            except UnicodeDecodeError as error:
                message = f"the byte 0x{source[error.start]:02x} is not UTF-8"
                before = source[: error.start].decode("utf-8")
                return _unread(filename, "bad-encoding", message, "save the file as UTF-8", before)
    else:
        text = source
    result = Source(text.removeprefix("\ufeff"), filename)
    if result.text.lstrip()[:1] == "{":
        _read_json(result, problems)
    else:
        _read_stream(result, problems)
    return result


def from_data(data: object) -> Source:
    """A decoded mapping, or a list of them, as documents without positions. It is not copied and not changed."""
    from ptcompile.reader.json_stream import flaw

    result = Source("")
    documents: list[Document] = []
    problems: list[Problem] = []
    for index, value in enumerate(data if isinstance(data, list) else [data]):
        if not isinstance(value, dict):
            message = f"a Kubernetes object is a mapping, not a value of type {type(value).__name__}"
            problems.append(Problem("not-a-mapping", (), message, "give the decoded object as a dict"))
        elif problem := flaw(value):
            problems.append(problem)
        else:
            documents.append(Document(value, index, 1))
    result.documents, result.problems = tuple(documents), tuple(problems)
    return result


def _utf16() -> Problem:
    message = "the file is UTF-16, of which kubectl reads only one document"
    at = Span(1, 1, 1, 1)
    return Problem("bad-encoding", (), message, "save the file as UTF-8", "warning", "style", "ptcompile", span=at)


def _unread(filename: str | None, name: str, message: str, cure: str, before: str = "") -> Source:
    """A source without documents, and one problem, which stands after the text `before`."""
    result = Source(before, filename)
    span = result.span(len(before), len(before) + 1)
    result.problems = (Problem(name, (), message, cure, authority="ptcompile", span=span),)
    return result


def _read_json(result: Source, problems: list[Problem]) -> None:
    from ptcompile.reader.json_stream import read_json

    values, refusal = read_json(result.text)
    if refusal and refusal.name == "yaml-syntax":
        # The same text may be YAML, as our own files may be; then it is read, and what kubectl says is said.
        _read_stream(result, problems)
        if not result.problems or _looks_like_json(result.text):
            result.problems = (_problem(result, 0, refusal),)
        return
    result.is_json = True
    documents: list[Document] = []
    for value in values:
        problems.extend(_problem(result, value.start, finding) for finding in value.findings)
        if value.data is not None:
            line = result.span(value.start, value.start).line
            documents.append(
                _document(result, Parsed(value.data, None, []), len(documents), line, value.start, value.end)
            )
    if refusal:
        problems.append(_problem(result, 0, refusal))
    result.documents, result.problems = tuple(documents), tuple(problems)


_looks_like_json = re.compile(r'\s*\{\s*"').match


def _document(source: Source, parsed: Parsed, index: int, line: int, start: int, end: int) -> Document:
    document = Document(parsed.data, index, line)
    document._source, document._start, document._end, document._root = source, start, end, parsed.root
    return document


def _read_stream(result: Source, problems: list[Problem]) -> None:
    documents: list[Document] = []
    index = 0
    for start, end, first_line in _split(result, problems):
        if index >= MAX_DOCUMENTS:
            finding = Finding("too-large", f"the file has more than {MAX_DOCUMENTS} documents", "split it", 0, 1)
            problems.append(_problem(result, start, finding))
            break
        parsed = read_document(result.text[start:end])
        problems.extend(_problem(result, start, finding) for finding in parsed.findings)
        data = parsed.data
        if type(data) is dict:
            documents.append(_document(result, parsed, index, first_line, start, end))
        elif data is not None:
            problems.append(_not_a_mapping(result, start, end, data))
        index += data is not None or bool(parsed.findings)
    result.documents, result.problems = tuple(documents), tuple(problems)


def _split(source: Source, problems: list[Problem]) -> Iterator[tuple[int, int, int]]:
    """Start, end and first line of every document. kubectl splits at lines `---`, before it looks at any YAML."""
    text = source.text
    start, line = 0, 1
    if "---" in text:
        for match in _separator.finditer(text):
            rest = match[1].strip()
            if rest and rest[0] != "#":
                message = "kubectl takes nothing but a comment after '---'"
                finding = Finding("yaml-syntax", message, "put a line break after '---'", 0, 3)
                problems.append(_problem(source, match.start(), finding))
            if match.start() > start:
                yield start + text.startswith("\ufeff", start), match.start(), line
            line += text.count("\n", start, match.end())
            start = match.end()
    if start < len(text):
        yield start + text.startswith("\ufeff", start), len(text), line


def _problem(source: Source, offset: int, finding: Finding) -> Problem:
    message = finding.message
    if finding.first is not None:
        message += f" (first at line {source.span(offset + finding.first, 0).line})"
    return Problem(
        finding.name,
        (),
        message,
        finding.help,
        severity=finding.severity,
        stage=finding.stage,
        authority=finding.authority,
        fix=DEDUPLICATED if finding.name == "duplicate-key" else None,
        span=source.span(offset + finding.start, source.line_end(offset + finding.start, offset + finding.end)),
    )


def _not_a_mapping(source: Source, start: int, end: int, data: object) -> Problem:
    what = "a list" if isinstance(data, list) else "a single value"
    root = source.positions(start, end)
    at = root.start if root else 0
    message = f"the document is {what}, and a Kubernetes object is a mapping"
    cure = "write 'apiVersion:' and 'kind:' at the left margin; separate several objects with '---'"
    return _problem(source, start, Finding("not-a-mapping", message, cure, at, root.end if root else 1))
