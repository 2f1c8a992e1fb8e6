"""Lines of YAML as HTML: numbered, keys and comments told apart, each with the mark of who wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ptcompile import passes
from ptcompile.graph.svg_parts import escape
from ptcompile.page.model import Listing, Text

AUTHORS = ("spec", "target", *(one.__name__ for one in passes.PASSES))
"""Who may have written a line, in the order of their marks."""

_key = re.compile(r"""([ ]*(?:-[ ]+)*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'"\[{&*!|>%@,-][^:#]*)(:)(?=\s|$)""").match
_COMMENT = re.compile(r"""(?:^|(?<=\s))#[^'"]*$""")


def code(text: Text, prefix: str, *, authors: Mapping[int, str] = {}, notes: Mapping[int, str] = {}) -> Iterator[str]:
    """A list of lines, each with the id `prefix-N`.

    `authors` names who wrote a line; the name stands on the first of the lines that follow one another. `notes` are
    pieces of HTML that stand below a line.
    """
    yield f'<ol class="code" id="{prefix}-lines">'
    last = ""
    for number, line in enumerate(text.lines, 1):
        shown = escape(line) if number in text.inside else _coloured(line)
        by = authors.get(number, "")
        mark = f' class="a{AUTHORS.index(by)}"' if by in AUTHORS else ""
        name = f"<i>{escape(by)}</i>" if by and by not in (last, "spec") else ""
        yield f'<li id="{prefix}-{number}"{mark}><code{_deep(line)}>{shown}</code>{name}{notes.get(number, "")}'
        last = by
    yield "</ol>"


def _deep(line: str) -> str:
    """How far in a line begins, for where it goes on when it is too long for the page."""
    depth = min(20, (_depth(line) + 1) // 2 * 2)
    return f' class="d{depth}"' if depth else ""


def _coloured(line: str) -> str:
    comment = _COMMENT.search(line)
    end = comment.start() if comment else len(line)
    key = _key(line, 0, end)
    start = key.end(2) if key else 0
    out = f"{escape(key[1])}<b>{escape(key[2])}</b>" if key else ""
    return out + escape(line[start:end]) + (f"<s>{escape(line[end:])}</s>" if comment else "")


def authors_of(listing: Listing) -> dict[int, str]:
    """Who wrote each line. A line that only holds others belongs to the writer of all that it holds."""
    out = {line: one.by for one in listing.reasons for line in range(one.first, one.last + 1)}
    lines = listing.text.lines
    for number in range(len(lines), 0, -1):
        if number not in out and lines[number - 1].rstrip().endswith(":"):
            below = {out.get(inner, "") for inner in _held(lines, number)}
            if len(below) == 1:
                out[number] = below.pop()
    return out


def _held(lines: Sequence[str], number: int) -> Iterator[int]:
    """The numbers of the lines that a key holds: those further in, and the items of a list under it."""
    depth = _depth(lines[number - 1], items=True)
    for inner in range(number + 1, len(lines) + 1):
        line = lines[inner - 1]
        own = _depth(line)
        if own < depth or (own == depth and not line[own:].startswith("- ")):
            return
        yield inner


def _depth(line: str, *, items: bool = False) -> int:
    """Where a line begins; with `items` behind the dashes of a list."""
    return len(line) - len(line.lstrip("- " if items else " "))
