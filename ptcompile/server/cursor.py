"""Where the cursor is, in YAML that need not parse.

Indentation, dashes, keys and brackets say where a line belongs. What is written so that this is not enough (text over
several lines in quotes, complex keys) gives a wrong outline and no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from ptcompile.diagnostics import Path

_key = re.compile(
    r"""("(?:[^"\\]|\\.)*"[ \t]*|'(?:[^']|'')*'[ \t]*|[^\s#"'\[\]{},&*!|>%@`-][^#]*?|-[^\s#][^#]*?):(?=\s|$)"""
).match
_lead = re.compile(r"(?:[&!][^\s]*[ \t]+)*").match


class OutlineEntry(NamedTuple):
    """A key, or a scalar item of a list: where it stands, and the value on its line as it is written."""

    path: Path
    offset: int
    value: str


class _Level(NamedTuple):
    """One collection on the way to a line: the column of its key or dash, and the key or index."""

    column: int
    part: str | int
    item: bool


class _Frame:
    """One open bracket: what it is, and where in it we are."""

    __slots__ = ("is_list", "part", "valued")

    def __init__(self, is_list: bool) -> None:
        self.is_list = is_list
        self.part: str | int = 0 if is_list else ""
        self.valued = is_list


class Flow:
    """Collections in brackets, read character by character."""

    def __init__(self, path: Path) -> None:
        self.base = path
        self.frames: list[_Frame] = []
        self.word = ""
        self.start = 0
        self._quote = ""

    @property
    def path(self) -> Path:
        """Where we are: with the key, as soon as it has its colon."""
        return (*self.base, *(frame.part for frame in self.frames if frame.valued))

    @property
    def quoted(self) -> bool:
        """Whether we are inside quotes."""
        return bool(self._quote)

    def feed(self, text: str, offset: int) -> Iterator[OutlineEntry]:
        """Read on, to the end of the outermost bracket; entries as they are closed."""
        for at, character in enumerate(text):
            if self._quote:
                self._quote = "" if character == self._quote else self._quote
                self.word += character
            elif character in "{[":
                self.frames.append(_Frame(character == "["))
                self.word = ""
            elif character in "}],":
                yield from self._closed()
                if character != ",":
                    self.frames.pop()
                    if not self.frames:
                        return
                else:
                    self._next()
            elif self._ends_key(character, text[at + 1 : at + 2]):
                frame = self.frames[-1]
                frame.part, frame.valued, self.word = unquoted(self.word), True, ""
            elif character == "#" and text[at - 1 : at] in ("", " ", "\t"):
                return
            else:
                self._add(character, offset + at)

    def _add(self, character: str, offset: int) -> None:
        if not self.word.strip():
            self.start = offset
            if character in "\"'":
                self._quote = character
        self.word += character

    def _ends_key(self, character: str, following: str) -> bool:
        frame = self.frames[-1]
        return character == ":" and not frame.is_list and not frame.valued and following in ("", " ", "\t", "\n")

    def _closed(self) -> Iterator[OutlineEntry]:
        if self.frames and (self.word.strip() or (self.frames[-1].valued and not self.frames[-1].is_list)):
            key = () if self.frames[-1].valued else (unquoted(self.word),)
            yield OutlineEntry((*self.path, *key), self.start, self.word.strip() if not key else "")
        self.word = ""

    def _next(self) -> None:
        frame = self.frames[-1]
        if frame.is_list:
            frame.part = int(frame.part) + 1
        else:
            frame.valued = False
        self.word = ""


class Outline:
    """What the lines so far have opened."""

    def __init__(self) -> None:
        self.steps: list[_Level] = []
        self.flow: Flow | None = None
        self.block: int | None = None
        """The column that the lines of a block of text are to the right of."""

    def path(self) -> Path:
        """Of what was opened last."""
        return tuple(step.part for step in self.steps)

    def read(self, line: str, offset: int) -> list[OutlineEntry]:
        """Take in a whole line, which begins at the offset."""
        if self.flow is not None:
            found = list(self.flow.feed(line, offset))
            self.flow = self.flow if self.flow.frames else None
            return found
        if self.in_block(line):
            return []
        column, text = self.dashes(line)
        if not text or text.startswith("#"):
            return []
        key = _key(text)
        if key is None:
            return self._opened(text, column, offset + column)
        self.leave(column)
        self.steps.append(_Level(column, unquoted(key[1]), False))
        return self._opened(text[key.end() :].strip(), column, offset + column)

    def _opened(self, value: str, column: int, offset: int) -> list[OutlineEntry]:
        """An entry with this value, and what the value opens."""
        lead = _lead(value)
        rest = value[lead.end() :] if lead else value
        found = [OutlineEntry(self.path(), offset, plain(value))]
        if rest[:1] in ("|", ">"):
            self.block = column
        elif rest[:1] in ("{", "["):
            self.flow = Flow(self.path())
            found += self.flow.feed(rest, offset)
            self.flow = self.flow if self.flow.frames else None
        return found

    def in_block(self, line: str) -> bool:
        """Whether a line is one of a block of text, which ends where a line is not."""
        if self.block is None:
            return False
        text = line.lstrip(" ")
        if text.strip() and len(line) - len(text) <= self.block:
            self.block = None
        return self.block is not None

    def dashes(self, line: str) -> tuple[int, str]:
        """Step into the list items that a line begins; the column and the text behind the last dash."""
        text = line.lstrip(" ")
        column = len(line) - len(text)
        while text == "-" or text.startswith(("- ", "-\t")):
            while self.steps and self.steps[-1].column > column:
                self.steps.pop()
            last = self.steps[-1] if self.steps else None
            index = 0
            if last is not None and last.column == column and last.item:
                index = int(self.steps.pop().part) + 1
            self.steps.append(_Level(column, index, True))
            rest = text[1:].lstrip(" \t")
            column += len(text) - len(rest)
            text = rest
        return column, text.rstrip()

    def leave(self, column: int) -> None:
        """Step out of what a key at this column does not belong to."""
        while self.steps and self.steps[-1].column >= column:
            self.steps.pop()


class Sketch(NamedTuple):
    """The outline of one document."""

    entries: tuple[OutlineEntry, ...]

    def value(self, *path: str | int) -> str | None:
        """The scalar at a path, without its quotes; None where there is none."""
        found = next((one.value for one in self.entries if one.path == path), None)
        return None if found is None else unquoted(found)

    def keys(self, path: Path) -> set[str]:
        """The keys of the mapping at a path."""
        length = len(path)
        found = (one.path[length] for one in self.entries if len(one.path) > length and one.path[:length] == path)
        return {part for part in found if isinstance(part, str)}

    def values(self, path: Path, key: str) -> Iterable[str]:
        """The values of a key in each item of the list at a path, in their order."""
        length = len(path)
        for one in self.entries:
            if len(one.path) == length + 2 and one.path[:length] == path and one.path[-1] == key:
                yield unquoted(one.value)


def sketch(text: str) -> Sketch:
    """The outline of the text of one document."""
    outline = Outline()
    found: list[OutlineEntry] = []
    offset = 0
    for line in text.split("\n"):
        found += outline.read(line.removesuffix("\r"), offset)
        offset += len(line) + 1
    return Sketch(tuple(found))


def key_of(text: str) -> tuple[str, int] | None:
    """The key that a text begins with and where its colon ends, or None."""
    found = _key(text)
    return (unquoted(found[1]), found.end()) if found else None


def in_comment(text: str) -> bool:
    """Whether the end of the beginning of a line is in a comment."""
    return _comment_at(text) < len(text)


def plain(value: str) -> str:
    """A value without the comment behind it."""
    return value[: _comment_at(value)].strip()


def _comment_at(text: str) -> int:
    """Where the comment of a line begins; the length of a line without one."""
    if "#" not in text:
        return len(text)
    quote, before = "", " "
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and before in " \t[{,":
            quote = character
        elif character == "#" and before in " \t":
            return at
        before = character
    return len(text)


def unquoted(word: str) -> str:
    """A word without its quotes."""
    word = word.strip()
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word


_separator = re.compile(r"^---(?:[ \t#][^\n]*)?\r?$", re.MULTILINE)


class Cursor(NamedTuple):
    """A place in a text."""

    path: Path
    """Of the mapping whose key is typed, or of the value itself. An item of a list may become either."""
    part: Literal["key", "value", "item", "comment", "text"]
    """`item`: behind a dash or below a key, where a key or a scalar may follow; `text`: inside a block of text."""
    prefix: str
    """What is typed of the word so far, without its quote."""
    start: int
    """The offset at which the word begins, behind its quote."""
    end: int
    """The offset of the cursor."""
    quote: str
    """The open quote before the word."""
    flow: bool
    """Whether it is between brackets."""
    glued: bool
    """Whether there is no blank between the key's colon and the cursor."""
    document: Sketch
    """The outline of the document, and of the brackets before the cursor on the line that is being typed."""
    begin: int
    """The offset at which the document begins."""


def document_bounds(text: str, offset: int) -> tuple[int, int]:
    """Where the document around an offset begins and ends."""
    start, end = 0, len(text)
    for match in _separator.finditer(text):
        if match.end() <= offset:
            start = min(match.end() + 1, len(text))
        elif match.start() >= offset:
            end = match.start()
            break
    return min(start, offset), end


def place_at(text: str, offset: int) -> Cursor:
    """The place of a cursor. It is found in every text."""
    begin, end = document_bounds(text, offset)
    line_start = max(text.rfind("\n", 0, offset) + 1, begin)
    line_end = text.find("\n", offset)
    line_end = len(text) if line_end < 0 else line_end
    outline = Outline()
    at = begin
    for line in text[begin:line_start].split("\n")[:-1]:
        outline.read(line.removesuffix("\r"), at)
        at += len(line) + 1
    indent = re.match(r"[ ]*", text[line_start:line_end])
    blank = " " * (indent.end() if indent else 0)
    rest = text[begin:line_start] + blank + text[line_end : max(end, line_end)]
    found = _typed(outline, text[line_start:offset], line_start)
    document = Sketch((*sketch(rest).entries, *found.document.entries))
    return found._replace(end=offset, document=document, begin=begin)


_NOTHING = Cursor((), "text", "", 0, 0, "", False, False, Sketch(()), 0)


def _typed(outline: Outline, typed: str, offset: int) -> Cursor:
    """The place at the end of what is typed of a line."""
    if outline.flow is not None:
        return _in_flow(outline.flow, typed, offset)
    if outline.block is not None and (outline.in_block(typed) and len(typed) > (outline.block or 0)):
        return _NOTHING
    if in_comment(typed):
        return _NOTHING._replace(part="comment", prefix=typed, start=offset)
    outline.block = None
    dashed = len(outline.steps)
    column, text = outline.dashes(typed)
    text = typed[column:]
    key = key_of(text)
    if key is None:
        return _at_word(outline, text, column, offset, dashed, typed)
    name, end = key
    outline.leave(column)
    path = (*outline.path(), name)
    value = text[end:].lstrip(" \t")
    start = offset + len(typed) - len(value)
    if value[:1] in ("{", "["):
        return _in_flow(Flow(path), value, start)
    return _of_value(path, "value", value, start)._replace(glued=not text[end:])


def _at_word(outline: Outline, text: str, column: int, offset: int, dashed: int, typed: str) -> Cursor:
    """A word that may become a key: of the mapping that its column belongs to."""
    if text[:1] in ("{", "["):
        return _in_flow(Flow(outline.path()), text, offset + column)
    if typed.lstrip(" ").startswith("-"):
        return _of_value(outline.path(), "item", text, offset + column)
    outline.leave(column)
    below = bool(outline.steps)
    return _of_value(outline.path(), "item" if below else "key", text, offset + column)


def _in_flow(flow: Flow, typed: str, offset: int) -> Cursor:
    closed = Sketch(tuple(flow.feed(typed, offset)))
    if not flow.frames:
        return _NOTHING
    word = flow.word.lstrip()
    start = offset + len(typed) - len(word)
    found = _of_value(flow.path, "value" if flow.frames[-1].valued else "key", word, start)
    return found._replace(flow=True, document=closed, part="item" if flow.frames[-1].is_list else found.part)


def _of_value(path: Path, part: Literal["key", "value", "item"], word: str, start: int) -> Cursor:
    quote = word[:1] if word[:1] in ("'", '"') else ""
    return _NOTHING._replace(path=path, part=part, prefix=word[len(quote) :], start=start + len(quote), quote=quote)
