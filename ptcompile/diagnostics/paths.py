r"""The grammar of paths, shared by `--set`, `overrides` and messages (`field_path`).

spec.elastic.nnodes                   keys metadata.annotations."a.b/c"          a key with dots or
slashes, in double or single quotes (\" and \\ inside) metadata.annotations[a.b/c]           the
same, as messages print it spec.args[1]                          an item of a list by its index,
from 0 spec.podTemplate.spec.containers[pytorch].image      an item of a list by its name
"""

from __future__ import annotations

from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnostics import Path

_QUOTES = {'"': "double", "'": "single"}
MAX_PATH_PARTS = 64
"""Maximum number of keys and indexes of a path."""


class PathSyntaxError(ValueError):
    """Raised for a text that is not a path. `offset` is the offset of the wrong character."""

    def __init__(self, message: str, offset: int) -> None:
        self.offset = offset
        super().__init__(message)


def parse_path(text: str) -> Path:
    """Parse a path: keys as strings, indexes in brackets as integers. Raises PathSyntaxError."""
    parts, end = _parse_parts(text, "a path such as spec.nodes")
    if end < len(text):
        raise PathSyntaxError("'=' inside a path: put a key that contains it in double quotes", end)
    return parts


def parse_assignment(text: str) -> tuple[Path, int]:
    """Parse the path of PATH=VALUE, and return it with the offset of the value. Raises
    PathSyntaxError.
    """
    parts, end = _parse_parts(text, _ASSIGNMENT)
    if end == len(text):
        raise PathSyntaxError(f"a value is missing: write {_ASSIGNMENT}", end)
    return parts, end + 1


_ASSIGNMENT = "PATH=VALUE, such as spec.nodes=4"


def _parse_parts(text: str, form: str) -> tuple[Path, int]:
    """Return the parts of a path and the offset of its end: the end of the text or a '='.
    Mistakes name the `form`.
    """
    parts: list[str | int] = []
    offset = 0
    while True:
        key, offset = _parse_key(text, offset, form)
        parts.append(key)
        while text[offset : offset + 1] == "[":
            part, offset = _parse_bracketed(text, offset + 1)
            parts.append(part)
        if len(parts) > MAX_PATH_PARTS:
            raise PathSyntaxError(f"a path has at most {MAX_PATH_PARTS} parts", offset)
        if offset == len(text) or text[offset] == "=":
            return tuple(parts), offset
        if text[offset] != ".":
            raise PathSyntaxError("write a dot between two keys", offset)

        offset += 1


def _parse_key(text: str, offset: int, form: str) -> tuple[str, int]:
    """Return the key at an offset, and the offset after it."""
    if text[offset : offset + 1] in _QUOTES:
        return _parse_quoted_key(text, offset)
    end = next((index for index in range(offset, len(text)) if text[index] in '.[]="'), len(text))
    if end == offset:
        raise PathSyntaxError(f"a key is missing: write {form}", offset)
    return text[offset:end], end


def _parse_quoted_key(text: str, start: int) -> tuple[str, int]:
    """Return a key in quotes, and the offset after it."""
    key = ""
    offset = start + 1
    while offset < len(text) and text[offset] != text[start]:
        offset += text[offset] == "\\" and offset + 1 < len(text)
        key += text[offset]
        offset += 1
    if offset == len(text):
        raise PathSyntaxError(f"the {_QUOTES[text[start]]} quote is not closed", start)
    return key, offset + 1


def _parse_bracketed(text: str, start: int) -> tuple[str | int, int]:
    """Return an index, or a plain or quoted name, and the offset after the bracket."""
    if text[start : start + 1] in _QUOTES:
        key, end = _parse_quoted_key(text, start)
        if text[end : end + 1] != "]":
            raise PathSyntaxError("']' belongs after the closing quote", end)
        return key, end + 1

    end = text.find("]", start)
    if end < 0:
        raise PathSyntaxError("the bracket is not closed", start - 1)

    part = text[start:end]
    return (int(part) if is_short_number(part) else part), end + 1
