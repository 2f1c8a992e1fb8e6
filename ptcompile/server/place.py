"""The place of the cursor: in which document, under which path, at a key or at a value, and what is there so far."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ptcompile.findings.diagnostics import Path
from ptcompile.server.sketch import Flow, Outline, Sketch, in_comment, key_of, sketch

_separator = re.compile(r"^---(?:[ \t#][^\n]*)?\r?$", re.MULTILINE)


class Place(NamedTuple):
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


def place_at(text: str, offset: int) -> Place:
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


_NOTHING = Place((), "text", "", 0, 0, "", False, False, Sketch(()), 0)


def _typed(outline: Outline, typed: str, offset: int) -> Place:
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


def _at_word(outline: Outline, text: str, column: int, offset: int, dashed: int, typed: str) -> Place:
    """A word that may become a key: of the mapping that its column belongs to."""
    if text[:1] in ("{", "["):
        return _in_flow(Flow(outline.path()), text, offset + column)
    if typed.lstrip(" ").startswith("-"):
        return _of_value(outline.path(), "item", text, offset + column)
    outline.leave(column)
    below = bool(outline.steps)
    return _of_value(outline.path(), "item" if below else "key", text, offset + column)


def _in_flow(flow: Flow, typed: str, offset: int) -> Place:
    closed = Sketch(tuple(flow.feed(typed, offset)))
    if not flow.frames:
        return _NOTHING
    word = flow.word.lstrip()
    start = offset + len(typed) - len(word)
    found = _of_value(flow.path, "value" if flow.frames[-1].valued else "key", word, start)
    return found._replace(flow=True, document=closed, part="item" if flow.frames[-1].is_list else found.part)


def _of_value(path: Path, part: Literal["key", "value", "item"], word: str, start: int) -> Place:
    quote = word[:1] if word[:1] in ("'", '"') else ""
    return _NOTHING._replace(path=path, part=part, prefix=word[len(quote) :], start=start + len(quote), quote=quote)
