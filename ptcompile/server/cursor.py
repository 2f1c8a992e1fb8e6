"""Locate the cursor in YAML that may not parse.

Indentation, dashes, keys and brackets decide where a line belongs. For text that this does not
cover (quoted strings over several lines, complex keys), the outline is wrong, but no error is
raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from ptcompile.diagnostics import Path

_key = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"[ \t]*|'(?:[^']|'')*'[ \t]*|"""
    r"""[^\s#"'\[\]{},&*!|>%@`-][^#]*?|-[^\s#][^#]*?):(?=\s|$)"""
).match
_lead = re.compile(r"(?:[&!][^\s]*[ \t]+)*").match


class OutlineEntry(NamedTuple):
    """A key or a scalar list item: its path, its offset, and the value on its line as written."""

    path: Path
    offset: int
    value: str


class _Level(NamedTuple):
    """One open collection: the column of its key or dash, and the key or index."""

    column: int
    part: str | int
    is_item: bool


class _Frame:
    """One open bracket: its type, and the current key or index."""

    __slots__ = ("is_list", "part", "valued")

    def __init__(self, is_list: bool) -> None:
        self.is_list = is_list
        self.part: str | int = 0 if is_list else ""
        self.valued = is_list


class Flow:
    """Flow collections (in brackets), read character by character."""

    def __init__(self, path: Path) -> None:
        self.base = path
        self.frames: list[_Frame] = []
        self.word = ""
        self.start = 0
        self._quote = ""

    @property
    def path(self) -> Path:
        """The current path, including a key once its colon has been read."""
        return (*self.base, *(frame.part for frame in self.frames if frame.valued))

    @property
    def frame(self) -> _Frame:
        """The innermost open bracket."""
        return self.frames[-1]

    def feed(self, text: str, offset: int) -> Iterator[OutlineEntry]:
        """Read `text` up to the end of the outermost bracket, and yield each entry when it ends."""
        for index, character in enumerate(text):
            if self._quote:
                if character == self._quote:
                    self._quote = ""
                self.word += character
            elif character in "{[":
                self.frames.append(_Frame(character == "["))
                self.word = ""
            elif character in "}],":
                yield from self._close_entry()
                if character != ",":
                    self.frames.pop()
                    if not self.frames:
                        return
                else:
                    self._next()
            elif self._ends_key(character, text[index + 1 : index + 2]):
                self.frame.part = unquote(self.word)
                self.frame.valued = True
                self.word = ""
            elif character == "#" and text[index - 1 : index] in ("", " ", "\t"):
                return
            else:
                self._add(character, offset + index)

    def _add(self, character: str, offset: int) -> None:
        if not self.word.strip():
            self.start = offset
            if character in "\"'":
                self._quote = character
        self.word += character

    def _ends_key(self, character: str, following: str) -> bool:
        return (
            character == ":"
            and not self.frame.is_list
            and not self.frame.valued
            and following in ("", " ", "\t", "\n")
        )

    def _close_entry(self) -> Iterator[OutlineEntry]:
        if self.frames and (self.word.strip() or (self.frame.valued and not self.frame.is_list)):
            key = () if self.frame.valued else (unquote(self.word),)
            yield OutlineEntry((*self.path, *key), self.start, self.word.strip() if not key else "")
        self.word = ""

    def _next(self) -> None:
        if self.frame.is_list:
            self.frame.part = int(self.frame.part) + 1
        else:
            self.frame.valued = False
        self.word = ""


class Outline:
    """The collections that the lines so far have opened."""

    def __init__(self) -> None:
        self.steps: list[_Level] = []
        self.flow: Flow | None = None
        self.block: int | None = None
        """The column that the lines of a block of text are to the right of."""

    def path(self) -> Path:
        """Return the path of the innermost open collection."""
        return tuple(step.part for step in self.steps)

    def read(self, line: str, offset: int) -> list[OutlineEntry]:
        """Process a whole line that begins at `offset`, and return its entries."""
        if self.flow is not None:
            entries = list(self.flow.feed(line, offset))
            if not self.flow.frames:
                self.flow = None
            return entries
        if self.in_block(line):
            return []

        column, text = self.dashes(line)
        if not text or text.startswith("#"):
            return []

        key = _key(text)
        if key is None:
            return self._open_value(text, column, offset + column)

        self.leave(column)
        self.steps.append(_Level(column, unquote(key["key"]), False))

        return self._open_value(text[key.end() :].strip(), column, offset + column)

    def _open_value(self, value: str, column: int, offset: int) -> list[OutlineEntry]:
        """Return the entry with this value, and open the collection that the value begins."""
        lead = _lead(value)
        rest = value[lead.end() :] if lead else value
        entries = [OutlineEntry(self.path(), offset, value[: _comment_start(value)].strip())]
        if rest[:1] in ("|", ">"):
            self.block = column
        elif rest[:1] in ("{", "["):
            self.flow = Flow(self.path())
            entries += self.flow.feed(rest, offset)
            if not self.flow.frames:
                self.flow = None

        return entries

    def in_block(self, line: str) -> bool:
        """Return whether a line belongs to a block scalar, and close the block if it does not."""
        if self.block is None:
            return False
        text = line.lstrip(" ")
        if text.strip() and len(line) - len(text) <= self.block:
            self.block = None
        return self.block is not None

    def dashes(self, line: str) -> tuple[int, str]:
        """Enter the list items that a line begins; return the column and the text after the last
        dash.
        """
        text = line.lstrip(" ")
        column = len(line) - len(text)
        while text == "-" or text.startswith(("- ", "-\t")):
            while self.steps and self.steps[-1].column > column:
                self.steps.pop()
            last = self.steps[-1] if self.steps else None
            index = 0
            if last is not None and last.column == column and last.is_item:
                index = int(self.steps.pop().part) + 1
            self.steps.append(_Level(column, index, True))
            rest = text[1:].lstrip(" \t")
            column += len(text) - len(rest)
            text = rest

        return column, text.rstrip()

    def leave(self, column: int) -> None:
        """Close the collections that a key at this column does not belong to."""
        while self.steps and self.steps[-1].column >= column:
            self.steps.pop()


class Sketch(NamedTuple):
    """The outline of one document."""

    entries: tuple[OutlineEntry, ...]

    def value(self, *path: str | int) -> str | None:
        """Return the unquoted scalar at a path, or None if the path has no entry."""
        value = next((entry.value for entry in self.entries if entry.path == path), None)
        return None if value is None else unquote(value)

    def keys(self, path: Path) -> set[str]:
        """Return the keys of the mapping at a path."""
        length = len(path)
        parts = (
            entry.path[length]
            for entry in self.entries
            if len(entry.path) > length and entry.path[:length] == path
        )
        return {part for part in parts if isinstance(part, str)}

    def values(self, path: Path, key: str) -> Iterable[str]:
        """Yield the values of a key in each item of the list at a path, in order."""
        length = len(path)
        for entry in self.entries:
            if (
                len(entry.path) == length + 2
                and entry.path[:length] == path
                and entry.path[-1] == key
            ):
                yield unquote(entry.value)


def sketch(text: str) -> Sketch:
    """Return the outline of one document's text."""
    outline = Outline()
    entries: list[OutlineEntry] = []
    offset = 0
    for line in text.split("\n"):
        entries += outline.read(line.removesuffix("\r"), offset)
        offset += len(line) + 1
    return Sketch(tuple(entries))


def key_of(text: str) -> tuple[str, int] | None:
    """Return the key at the start of `text` and the end of its colon, or None if there is no
    key.
    """
    match = _key(text)
    return (unquote(match["key"]), match.end()) if match else None


def _comment_start(text: str) -> int:
    """Return the offset of a line's comment, or the length of a line without a comment."""
    if "#" not in text:
        return len(text)

    quote = ""
    before = " "
    for index, character in enumerate(text):
        if quote:
            if character == quote:
                quote = ""
        elif character in "\"'" and before in " \t[{,":
            quote = character
        elif character == "#" and before in " \t":
            return index
        before = character

    return len(text)


def unquote(word: str) -> str:
    """Return a token without its quotes."""
    word = word.strip()
    if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
        return word[1:-1]
    return word


_separator = re.compile(r"^---(?:[ \t#][^\n]*)?\r?$", re.MULTILINE)


class Cursor(NamedTuple):
    """The cursor's location in a text."""

    path: Path
    """Path of the mapping whose key is typed, or of the value itself. A list item may become
    either.
    """
    part: Literal["key", "value", "item", "comment", "text"]
    """`item`: after a dash or below a key, where a key or a scalar may follow; `text`: inside a
    block scalar.
    """
    prefix: str
    """The part of the token before the cursor, without its quote."""
    start: int
    """Offset of the token, after its quote."""
    end: int
    """Offset of the cursor."""
    quote: str
    """The open quote before the token."""
    in_flow: bool
    """Whether the cursor is between brackets."""
    is_glued: bool
    """Whether the space between the key's colon and the cursor is missing."""
    document: Sketch
    """The outline of the document and of the brackets before the cursor on the current line."""
    begin: int
    """Offset of the document."""


def document_bounds(text: str, offset: int) -> tuple[int, int]:
    """Return the start and end of the document around an offset."""
    start = 0
    end = len(text)
    for match in _separator.finditer(text):
        if match.end() <= offset:
            start = min(match.end() + 1, len(text))
        elif match.start() >= offset:
            end = match.start()
            break
    return min(start, offset), end


def cursor_at(text: str, offset: int) -> Cursor:
    """Return the cursor at an offset. Accepts any text; never raises."""
    begin, end = document_bounds(text, offset)
    line_start = max(text.rfind("\n", 0, offset) + 1, begin)
    line_end = text.find("\n", offset)
    if line_end < 0:
        line_end = len(text)
    outline = Outline()
    line_offset = begin
    for line in text[begin:line_start].split("\n")[:-1]:
        outline.read(line.removesuffix("\r"), line_offset)
        line_offset += len(line) + 1
    indent = re.match(r"[ ]*", text[line_start:line_end])
    spaces = " " * (indent.end() if indent else 0)
    rest = text[begin:line_start] + spaces + text[line_end : max(end, line_end)]
    cursor = _cursor_in_line(outline, text[line_start:offset], line_start)
    document = Sketch((*sketch(rest).entries, *cursor.document.entries))

    return cursor._replace(end=offset, document=document, begin=begin)


_NO_CURSOR = Cursor((), "text", "", 0, 0, "", False, False, Sketch(()), 0)


def _cursor_in_line(outline: Outline, typed: str, offset: int) -> Cursor:
    """Return the cursor at the end of a partly typed line."""
    if outline.flow is not None:
        return _cursor_in_flow(outline.flow, typed, offset)
    if outline.block is not None and (
        outline.in_block(typed) and len(typed) > (outline.block or 0)
    ):
        return _NO_CURSOR
    if _comment_start(typed) < len(typed):
        return _NO_CURSOR._replace(part="comment", prefix=typed, start=offset)

    outline.block = None
    column, text = outline.dashes(typed)
    text = typed[column:]
    key = key_of(text)
    if key is None:
        return _cursor_in_token(outline, text, column, offset, typed)

    name, end = key
    outline.leave(column)
    path = (*outline.path(), name)
    value = text[end:].lstrip(" \t")
    start = offset + len(typed) - len(value)
    if value[:1] in ("{", "["):
        return _cursor_in_flow(Flow(path), value, start)

    return _cursor_in_value(path, "value", value, start)._replace(is_glued=not text[end:])


def _cursor_in_token(outline: Outline, text: str, column: int, offset: int, typed: str) -> Cursor:
    """Return the cursor in a token that may become a key of the mapping at its column."""
    if text[:1] in ("{", "["):
        return _cursor_in_flow(Flow(outline.path()), text, offset + column)
    if typed.lstrip(" ").startswith("-"):
        return _cursor_in_value(outline.path(), "item", text, offset + column)
    outline.leave(column)
    is_below_key = bool(outline.steps)
    return _cursor_in_value(
        outline.path(), "item" if is_below_key else "key", text, offset + column
    )


def _cursor_in_flow(flow: Flow, typed: str, offset: int) -> Cursor:
    """Return the cursor after what is typed within brackets."""
    outline = Sketch(tuple(flow.feed(typed, offset)))
    if not flow.frames:
        return _NO_CURSOR

    frame = flow.frame
    word = flow.word.lstrip()
    start = offset + len(typed) - len(word)
    part: Literal["key", "value", "item"] = "value" if frame.valued else "key"
    if frame.is_list:
        part = "item"

    return _cursor_in_value(flow.path, part, word, start)._replace(in_flow=True, document=outline)


def _cursor_in_value(
    path: Path, part: Literal["key", "value", "item"], word: str, start: int
) -> Cursor:
    quote = word[:1] if word[:1] in ("'", '"') else ""
    return _NO_CURSOR._replace(
        path=path, part=part, prefix=word[len(quote) :], start=start + len(quote), quote=quote
    )
