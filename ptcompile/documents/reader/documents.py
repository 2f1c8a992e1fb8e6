"""What was read: a stream and its documents, which remember where everything stands."""

from __future__ import annotations

from itertools import chain

from ptcompile.documents.reader.nodes import Node, Parsed, find, scalars, walk
from ptcompile.findings.diagnostics import Path, Problem, Span
from ptcompile.kubernetes.patterns import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Any

_rendered_from = Pattern(r"(?:[ \t]*(?:#(?! Source: )[^\n]*)?\n)*# Source: ([^\n]*)").match


class Document:
    """One document that could be read: a mapping, as kubectl sees it, which remembers where everything stands."""

    __slots__ = (
        "_end",
        "_located",
        "_root",
        "_scalars",
        "_source",
        "_start",
        "_template",
        "data",
        "first_line",
        "index",
        "secrets",
        "texts",
    )

    data: dict[str, Any]
    """Plain JSON-like data. Never change it: aliases share their parts."""
    index: int
    """Among the documents of the stream that are not empty, from 0; refused documents are counted."""
    first_line: int
    """The line on which the document begins, from 1."""
    secrets: Any
    """Its secrets, which `secrets.masking` finds when something is said of the document; None before."""

    texts: frozenset[str] | None
    """All keys and texts of the data, where the reader has looked at each."""

    def __init__(self, data: dict[str, Any], index: int, first_line: int) -> None:
        self.data = data
        self.texts = None
        self.index = index
        self.first_line = first_line
        self._source: Source | None = None
        self._start = self._end = 0
        self._root: Node | None = None
        self._located = False
        self.secrets = None
        self._template: str | None = None
        self._scalars: list[tuple[int, int]] | None = None

    def span(self, path: Path, *, on_key: bool = False) -> Span | None:
        """Where a value stands, or with `on_key` the last key of its path; `None` for documents that were no text.

        Parts that lead nowhere are skipped where the rest leads on (a model's own tags). A path that ends nowhere
        gives its nearest ancestor's key, or the first line of a list's item; in JSON that YAML's own limits keep from
        being located, such as a key of more than 1,024 characters, all paths give the document's first line.
        """
        source = self._source
        if source is None:
            return None
        root = self.positions()
        if root is None:
            return source.span(self._start, source.line_end(self._start, self._end))
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

    def path_at(self, offset: int) -> tuple[Path, bool] | None:
        """The innermost value around an offset into the stream, and whether the offset is on the value's key."""
        root = self.positions()
        if root is None or not self._start <= offset <= self._end:
            return None
        return find(root, offset - self._start)

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
            root = self.positions()
            self._scalars = scalars(root) if root is not None else []
        from bisect import bisect_right

        at = bisect_right(self._scalars, (offset - self._start, len(self._source.text) if self._source else 0)) - 1
        return at >= 0 and offset - self._start < self._scalars[at][1]

    def positions(self) -> Node | None:
        """Where its values stand, as offsets from `start()`; None for a document that was no text."""
        if self._root is None and self._source is not None and not self._located:
            self._located = True  # asked once: reading takes as long where there is no answer
            self._root = self._source.positions(self._start, self._end, fast=self.texts is not None)
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
        self._line_starts: array[int] | None = None

    @property
    def lines(self) -> list[str]:
        """The lines of the text, without their ends, for code frames."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    def span(self, start: int, end: int) -> Span:
        """Offsets into the text as lines and columns from 1, the end exclusive."""
        from bisect import bisect_right

        if self._line_starts is None:
            self._line_starts = self._starts()
        starts = self._line_starts
        line, end_line = bisect_right(starts, start), bisect_right(starts, max(start, end))
        return Span(line, start - starts[line - 1] + 1, end_line, max(start, end) - starts[end_line - 1] + 1)

    def _starts(self) -> array[int]:
        import re
        from array import array

        return array("I", chain((0,), (match.end() for match in re.finditer("\n", self.text))))

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and a column, both from 1."""
        if self._line_starts is None:
            self.span(0, 0)
        return (self._line_starts or (0,))[line - 1] + column - 1

    def in_scalar(self, line: int, column: int) -> bool:
        """Whether a place is inside a value or a key, so that a `#` there begins no comment."""
        from bisect import bisect_right

        offset = self.offset(line, column)
        at = bisect_right(self.documents, offset, key=Document.start) - 1
        return at >= 0 and self.documents[at].holds(offset)

    def line_end(self, start: int, end: int) -> int:
        """`end`, but not beyond the line of `start`."""
        at = self.text.find("\n", start, end)
        return end if at < 0 else at - (self.text[at - 1] == "\r")

    def positions(self, start: int, end: int, *, fast: bool = False) -> Node | None:
        """Read a part of the text again, for the positions of its values. `fast`: it was taken by the fast reader."""
        text = self.text[start:end]
        if fast:
            from ptcompile.documents.reader.places import places

            return places(text)
        if self.is_json:
            from ptcompile.documents.reader.json_stream import as_yaml

            text = as_yaml(text)
        from ptcompile.documents.reader.events import parse

        return parse(text).root


def document_at(source: Source, parsed: Parsed, index: int, line: int, start: int, end: int) -> Document:
    """A document of a stream, between two offsets of its text; `line` is where it begins."""
    document = Document(parsed.data, index, line)
    document._source, document._start, document._end, document._root = source, start, end, parsed.root
    document.texts = parsed.texts
    return document
