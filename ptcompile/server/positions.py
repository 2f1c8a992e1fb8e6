"""Places in a text: ours are offsets in code points, the protocol's are lines and units of an encoding.

A line ends as the protocol says (LSP 3.17, Text Documents): after `\\n`, `\\r\\n` or `\\r`, and nowhere else.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from lsprotocol.types import Position, Range

from ptcompile.findings.diagnostics import Span

_line_end = re.compile(r"\r\n|\n|\r")


class Lines:
    """The lines of a text as a client counts them.

    Offsets are those of the text without a byte order mark, as `documents.source` reads it.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._lead = int(text.startswith("\ufeff"))
        self.text = text[self._lead :]
        self._encoding = encoding
        ends = list(_line_end.finditer(self.text))
        self._starts = [0, *(match.end() for match in ends)]
        self._ends = [*(match.start() for match in ends), len(self.text)]

    def __len__(self) -> int:
        return len(self._starts)

    def position(self, offset: int) -> Position:
        """Where an offset is, for the client."""
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return Position(line, self._units(self.text[start:offset]) + (self._lead if line == 0 else 0))

    def offset(self, position: Position) -> int:
        """The offset of a client's position; one beyond its line or the text is the end of that."""
        if position.line >= len(self._starts):
            return len(self.text)
        at, end = self._starts[position.line], self._ends[position.line]
        left = position.character - (self._lead if position.line == 0 else 0)
        while at < end and left >= (width := self._units(self.text[at])):
            left -= width
            at += 1
        return at

    def range(self, start: int, end: int) -> Range:
        """The range between two offsets."""
        return Range(self.position(start), self.position(max(start, end)))

    def of_span(self, span: Span) -> Range:
        """The range of a span, whose lines end after `\\n` alone."""
        return self.range(self._place(span.line, span.column), self._place(span.end_line, span.end_column))

    def bounds(self, offset: int) -> tuple[int, int]:
        """Where the line of an offset begins and ends, without its line break."""
        line = bisect_right(self._starts, offset) - 1
        return self._starts[line], self._ends[line]

    def _place(self, line: int, column: int) -> int:
        start = 0
        if line > 1 and len(self._feeds) >= line - 1:
            start = self._feeds[line - 2]
        return min(start + column - 1, len(self.text))

    @property
    def _feeds(self) -> list[int]:
        if not hasattr(self, "_cached_feeds"):
            self._cached_feeds = [match.end() for match in re.finditer("\n", self.text)]
        return self._cached_feeds

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(character > "\uffff" for character in text)
