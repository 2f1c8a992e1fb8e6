"""Specs as human-readable YAML with comments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.kubernetes.unstructured import Json, values_in
from ptcompile.source.emitter import double_quote, inline, key_with_colon, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics import Path

_MAX_COLUMNS = 120
"""Maximum length of a line."""
_MAX_WORD_LENGTH = 16
"""Maximum length of an item in a list that fills its lines."""
_MAX_FLOW_COLUMNS = _MAX_COLUMNS - _MAX_WORD_LENGTH - 4
"""Maximum width of a collection on one line. Longer lists of short words continue on the next
line.
"""
_STEP = "  "
"""What a mapping is indented by below its key."""


class _Comments(NamedTuple):
    lines: dict[Path, list[str]]
    """The lines of each comment, by the path of the key that it belongs to."""
    parents: frozenset[Path]
    """The paths of all collections that have a comment inside."""


def write_yaml(
    document: Json,
    comments: Mapping[Path, str] | None = None,
    head: tuple[str, ...] = (),
) -> str:
    """Return a document as YAML with comments at the lines of their paths, and `head` at its first
    line.

    YAML 1.1 and 1.2 readers read it the same, as with `emit`.
    """
    texts = comments or {}
    lines = _mapping_lines(
        document,
        (),
        _Comments(
            lines={path: [*map(_printable, text.split("\n"))] for path, text in texts.items()},
            parents=frozenset(path[:depth] for path in texts for depth in range(len(path))),
        ),
    )
    if not lines:
        lines = ["{}"]

    remarks = [_printable(remark) for remark in head]
    first_line = " # ".join([lines[0], *remarks])
    if len(remarks) == 1 and len(first_line) <= _MAX_COLUMNS:
        lines[0] = first_line
    else:
        lines[:0] = _comment_lines(remarks)

    return "\n".join([*lines, ""])


def _printable(comment: str) -> str:
    """Return a comment with control characters escaped: a key that it names may contain a line
    break.
    """
    return "".join([sign if sign.isprintable() else repr(sign)[1:-1] for sign in comment])


def _comment_lines(texts: list[str]) -> list[str]:
    return [f"# {text}" for text in texts]


def _mapping_lines(mapping: Json, path: Path, comments: _Comments) -> list[str]:
    """Return the entries of a mapping as lines, with the keys at the left margin."""
    lines = []
    for key, value in mapping.items():
        place = (*path, key)
        line = key_with_colon(key)
        if not line:
            lines.append(f"? {double_quote(key)}")
            line = ":"

        inline_lines = _inline_lines(value, place, comments)
        if inline_lines:
            line += f" {inline_lines[0]}"
            below = _indented(inline_lines[1:])
        elif isinstance(value, Mapping):
            below = _indented(_mapping_lines(value, place, comments))
        else:
            below = _sequence_lines(value, place, comments)

        comment = comments.lines.get(place, [])
        line_with_comment = " # ".join([line, *comment])
        fits_at_end = (
            len(comment) == 1
            and len(inline_lines) <= 1
            and _column(place) + len(line_with_comment) <= _MAX_COLUMNS
        )
        if fits_at_end:
            lines += [line_with_comment, *below]
        else:
            lines += [*_comment_lines(comment), line, *below]

    return lines


def _sequence_lines(items: Sequence[Any], path: Path, comments: _Comments) -> list[str]:
    """Return the items of a list as lines, with the hyphens at the left margin."""
    lines = []
    for index, item in enumerate(items):
        place = (*path, index)
        item_lines = _inline_lines(item, place, comments)
        if not item_lines and isinstance(item, Mapping):
            item_lines = _mapping_lines(item, place, comments)
        elif not item_lines:
            item_lines = _sequence_lines(item, place, comments)

        # a comment is on a line between the hyphen and the first entry
        first = "" if item_lines[0].startswith("# ") else f" {item_lines.pop(0)}"
        lines += [f"-{first}", *_indented(item_lines)]

    return lines


def _inline_lines(value: Any, path: Path, comments: _Comments) -> list[str]:
    """Return the lines of a value that begins on the line of its key; empty if its entries are
    on the lines below the key.
    """
    if not isinstance(value, Mapping | list | tuple):
        return scalar(value, indent="").split("\n")
    if not value:
        return [inline(value)]
    if path == ("spec",) or path in comments.parents:
        return []
    if any(isinstance(inner, str) and "\n" in inner for inner in values_in(value)):
        return []

    key = "" if isinstance(path[-1], int) else f"{path[-1]}: "
    margin = _column(path)
    text = inline(value)
    if margin + len(key) + len(text) <= _MAX_FLOW_COLUMNS:
        return [text]
    if _is_word_list(value):
        return _filled_lines(value, len(key), _MAX_FLOW_COLUMNS - margin)

    return []


def _filled_lines(words: Iterable[str], start: int, width: int) -> list[str]:
    """Return a list of words as lines that each end with the first word past the width; the first
    line begins at column `start`.
    """
    lines = []
    line = " " * start + "["
    for index, word in enumerate(words):
        if index > 0:
            line += ","
        if len(line) > width:
            lines.append(line)
            line = _STEP
        elif index > 0:
            line += " "
        line += inline(word)

    return [text.strip() for text in (*lines, f"{line}]")]


def _is_word_list(value: Any) -> bool:
    """Return whether a value is a list of short words, which fill their lines."""
    return isinstance(value, list) and all(
        isinstance(item, str) and len(item) <= _MAX_WORD_LENGTH for item in value
    )


def _column(path: Path) -> int:
    """Return the column where the line of a path begins: below a list, after its dash."""
    names = sum(isinstance(part, str) for part in path)
    return len(_STEP) * (names - isinstance(path[-1], str))


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"{_STEP}{line}" if line else "" for line in lines]
