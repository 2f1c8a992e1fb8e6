"""Data as text to insert into a user's document, in that document's layout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.fixer.syntax_tree import CannotFix, SyntaxNode, column
from ptcompile.source.emitter import quoted, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST_KEY = 900

# Between brackets these end a plain scalar for some reader (`?` for go-yaml).
_ends_in_flow = re.compile(r"[,\[\]{}?]").search


class Layout(NamedTuple):
    """How a document is written."""

    text: str
    eol: str
    step: int = 2
    """By how much a mapping stands to the right of the key above it."""
    dash: int = 0
    """By how much a dash stands to the right of the key above it."""
    is_json: bool = False


def layout_of(text: str, root: SyntaxNode, *, is_json: bool) -> Layout:
    """The layout of a document, from the first places that show it."""
    first = text.find("\n")
    eol = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    step = dash = None
    stack = [root]
    while stack and (step is None or dash is None):
        node = stack.pop()
        for entry in node.entries:
            below = entry.node
            if below.block and not below.tagged and below.anchor is None:
                right = column(text, below.start) - column(text, entry.start)
                if below.kind == "mapping":
                    step = right if step is None else step
                else:
                    dash = right if dash is None else dash
        stack += [entry.node for entry in reversed(node.entries)] + [item.node for item in reversed(node.items)]
    return Layout(text, eol, step or 2, dash or 0, is_json)


def key_text(name: str, style: str = "", *, flow: bool = False, is_json: bool = False) -> str:
    """A key, in the quotes of another one. Raises `CannotFix` for one that is too long for a line."""
    if len(name) > _LONGEST_KEY:
        raise CannotFix("the key is too long")
    return _scalar(name, style, flow=flow, is_json=is_json)


def inline(value: Any, style: str = "", *, flow: bool = False, is_json: bool = False) -> str:
    """A value on one line: a scalar in the quotes of the one that it replaces, or a collection in brackets.

    Text of several lines stands there too: as a block, it would swallow a comment that is indented below it.
    """
    if isinstance(value, dict):
        pairs = ((key_text(key, flow=True, is_json=is_json), one) for key, one in value.items())
        return f"{{{', '.join(f'{key}: {inline(one, flow=True, is_json=is_json)}' for key, one in pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(inline(one, flow=True, is_json=is_json) for one in value)}]"
    return _scalar(value, style, flow=flow, is_json=is_json)


def _scalar(value: Any, style: str, *, flow: bool, is_json: bool) -> str:
    if not isinstance(value, str):
        return scalar(value)
    if is_json or style == '"' or "\n" in value:
        return quoted(value)
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return quoted(value) if flow and _ends_in_flow(value) else scalar(value)


def is_block(value: Any) -> bool:
    """Whether a value has lines of its own where it does not stand between brackets."""
    return isinstance(value, dict | list) and bool(value)


def entry_lines(name: str, value: Any, layout: Layout) -> list[str]:
    """`name: value` as lines, the key at the left margin."""
    if is_block(value):
        return [f"{key_text(name)}:", *lines_below(value, layout)]
    return [f"{key_text(name)}: {inline(value)}"]


def item_lines(value: Any, layout: Layout) -> list[str]:
    """`- value` as lines, the dash at the left margin."""
    if not is_block(value):
        return [f"- {inline(value)}"]
    first, *rest = _lines(value, layout)
    return [f"- {first}", *_right(rest, 2)]


def lines_below(value: Any, layout: Layout) -> list[str]:
    """The lines of a collection that stands below its key, which is at the left margin."""
    return list(_right(_lines(value, layout), layout.step if isinstance(value, dict) else layout.dash))


def _lines(value: Any, layout: Layout) -> list[str]:
    """A collection that is not empty, at the left margin."""
    if isinstance(value, dict):
        return [line for key, one in value.items() for line in entry_lines(key, one, layout)]
    return [line for one in value for line in item_lines(one, layout)]


def _right(lines: list[str], by: int) -> Iterator[str]:
    return (" " * by + line for line in lines)
