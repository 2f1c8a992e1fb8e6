"""Hover: what a field is for, what a code means, what the processes of each pod will see in a variable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lsprotocol.types import Hover, MarkupContent, MarkupKind, Position

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.server.document import Object, Open
from ptcompile.server.hover_env import seen_by_pods
from ptcompile.server.hover_fields import field_text, uses
from ptcompile.server.shapes import at, root

_reference = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_ignoring = re.compile(r"#[ \t]*ptcompile:[ \t]*ignore(?:-file)?\[([^\]\n]*)\]?")
_word = re.compile(r"[\w-]+")
_RULE: Final = "\n\n---\n\n"


def hover(opened: Open, position: Position) -> Hover | None:
    """What there is to say about a position."""
    offset = opened.lines.offset(position)
    start, end = opened.lines.bounds(offset)
    line, column = opened.text[start:end], offset - start
    code = _code_in_comment(line, column)
    if code is not None:
        return _markdown([_page(code)])
    one = opened.object_at(offset)
    found = one.document.path_at(offset) if one is not None else None
    if one is None or found is None:
        return _markdown(_pages(opened, offset))
    path, on_key = found
    name = _variable(one, path, on_key=on_key) or next(
        (match[1] for match in _reference.finditer(line) if match.start() <= column <= match.end()), None
    )
    parts: list[str] = []
    if name is not None:
        parts += [seen_by_pods(opened, one, name)]
    if on_key:
        parts += [*_field(opened, one, path), uses(opened, one, path)]
    return _markdown([*filter(None, parts), *_pages(opened, offset)])


def _markdown(parts: list[str]) -> Hover | None:
    text = _RULE.join(part for part in parts if part)
    return Hover(MarkupContent(MarkupKind.Markdown, text)) if text else None


def _field(opened: Open, one: Object, path: Path) -> Iterator[str]:
    """The description of the field that a path ends with."""
    inner = path[len(one.under) :] if path[: len(one.under)] == one.under else path
    nodes = at(root(kind_of(one.data), opened.definitions), inner)
    if nodes and inner and isinstance(inner[-1], str):
        yield field_text(inner[-1], nodes[0])


def _variable(one: Object, path: Path, *, on_key: bool) -> str | None:
    """The environment variable that a path is about: its key in a spec of ours, its name or value in a container."""
    if one.is_spec or (len(path) > 1 and path[-2] == "env" and isinstance(path[-1], str)):
        return str(path[-1]) if on_key and path[-2:-1] == ("env",) else None
    if len(path) < 3 or path[-3] != "env" or path[-1] not in ("name", "value"):
        return None
    value = one.data
    for part in path[:-1]:
        try:
            value = value[part]  # type: ignore[index]  # an int into a list
        except (LookupError, TypeError):
            return None
    name = value.get("name")
    return name if isinstance(name, str) else None


def _code_in_comment(line: str, column: int) -> str | None:
    """The code or name under the cursor in a comment that ignores it."""
    from ptcompile.linting.catalogue import named

    for match in _ignoring.finditer(line):
        for word in _word.finditer(line, match.start(1), match.end(1)):
            if word.start() <= column <= word.end():
                return named(word[0])
    return None


def _pages(opened: Open, offset: int) -> list[str]:
    """The pages of what was found at an offset."""
    names: dict[str, None] = {}
    for one in opened.report.diagnostics:
        if one.span is not None:
            start, end = opened.source.offset(*one.span[:2]), opened.source.offset(*one.span[2:])
            if start <= offset <= end and one.span.line == one.span.end_line:
                names[one.name] = None
    return [_page(name) for name in names]


def _page(name: str) -> str:
    from ptcompile.findings.codes import CODES
    from ptcompile.linting.catalogue import pages

    _, text = pages([name])[name]
    return f"**{CODES[name]} {name}**\n\n{text}"
