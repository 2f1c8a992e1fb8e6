"""Format data in the layout of a user's document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.fixer.syntax_tree import CannotFix, SyntaxNode, column
from ptcompile.kubernetes.unstructured import values_in
from ptcompile.source import emitter

_MAX_KEY_LENGTH = 900


class Layout(NamedTuple):
    """The layout of a document."""

    text: str
    eol: str
    step: int = 2
    """Number of columns by which a mapping is indented below its key."""
    dash: int = 0
    """Number of columns by which a list's dash is indented below its key."""
    is_json: bool = False


def layout_of(text: str, root: SyntaxNode, *, is_json: bool) -> Layout:
    """Return the layout of a document, taken from its first nested mapping and list."""
    first = text.find("\n")
    eol = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    step = dash = None
    stack = [root]
    while stack and (step is None or dash is None):
        node = stack.pop()
        for entry in node.entries:
            value = entry.node
            if value.is_block and not value.tagged and value.anchor is None:
                right = column(text, value.start) - column(text, entry.start)
                if value.kind == "mapping":
                    step = right if step is None else step
                else:
                    dash = right if dash is None else dash

        stack += reversed(node.parts)

    return Layout(text, eol, step or 2, dash or 0, is_json)


def key_text(name: str, style: str = "", *, flow: bool = False, is_json: bool = False) -> str:
    """Return a key with the given quotes. Raises `CannotFix` for a key that is too long for one
    line.
    """
    _check_keys([name])
    return inline(name, style, flow=flow, is_json=is_json)


def _check_keys(keys: Iterable[str]) -> None:
    if any(len(key) > _MAX_KEY_LENGTH for key in keys):
        raise CannotFix("the key is too long")


def inline(value: Any, style: str = "", *, flow: bool = False, is_json: bool = False) -> str:
    """Return a value on one line: a scalar, in the given quotes if they can hold it, or a
    collection in brackets. Raises `CannotFix` if one of its keys is too long.

    Multi-line text is written that way too: as a block scalar, it would absorb an indented comment
    below it.
    """
    if not isinstance(value, str):
        for inner in values_in(value):
            if isinstance(inner, dict):
                _check_keys(inner)
        return emitter.inline(value, is_json=is_json)
    if style == '"' or "\n" in value:
        return emitter.double_quote(value)
    if style == "'" and value.isprintable() and not is_json:
        return "'" + value.replace("'", "''") + "'"
    if flow or is_json:
        return emitter.inline(value, is_json=is_json)
    return emitter.scalar(value)


def is_block(value: Any) -> bool:
    """Return whether a value takes separate lines outside brackets."""
    return isinstance(value, dict | list) and bool(value)


def entry_lines(name: str, value: Any, layout: Layout) -> list[str]:
    """Return `name: value` as lines, with the key at the left margin."""
    if is_block(value):
        return [f"{key_text(name)}:", *lines_below(value, layout)]
    return [f"{key_text(name)}: {inline(value)}"]


def item_lines(value: Any, layout: Layout) -> list[str]:
    """Return `- value` as lines, with the dash at the left margin."""
    if not is_block(value):
        return [f"- {inline(value)}"]
    first, *rest = _collection_lines(value, layout)
    return [f"- {first}", *indent_lines(rest, 2)]


def lines_below(value: Any, layout: Layout) -> list[str]:
    """Return the lines of a collection below its key, which is at the left margin."""
    return list(
        indent_lines(
            _collection_lines(value, layout),
            layout.step if isinstance(value, dict) else layout.dash,
        )
    )


def _collection_lines(value: Any, layout: Layout) -> list[str]:
    """Return the lines of a non-empty collection at the left margin."""
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in entry_lines(key, item, layout)]
    return [line for item in value for line in item_lines(item, layout)]


def indent_lines(lines: Sequence[str], width: int) -> Iterator[str]:
    """Yield the lines with a margin."""
    return (" " * width + line for line in lines)
