"""The one grammar of places in a document: what `--set` and `overrides` take, and what messages print (`field_path`).

spec.elastic.nnodes                   keys
metadata.annotations."a.b/c"          a key with dots or slashes, in double quotes (\\" and \\\\ inside)
metadata.annotations[a.b/c]           the same, as messages print it
spec.args[1]                          an item of a list by its index, from 0
spec.podTemplate.spec.containers[pytorch].image      an item of a list by its name
"""

from __future__ import annotations

from ptcompile.diagnostics import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MOST_PARTS: Final = 64
"""Parts of a place."""


class PlaceError(ValueError):
    """A text that is not a place. `at` is the offset of the character that is wrong."""

    def __init__(self, message: str, at: int) -> None:
        self.at = at
        super().__init__(message)


def place(text: str) -> Path:
    """The parts of a place: names as text, indexes in brackets as numbers. Raises `PlaceError`."""
    parts, end = _read(text)
    if end < len(text):
        raise PlaceError("'=' inside a place: put a key that contains it in double quotes", end)
    return parts


def assignment(text: str) -> tuple[Path, int]:
    """The place of PLACE=VALUE, and the offset of the value. Raises `PlaceError`."""
    parts, end = _read(text)
    if end == len(text):
        raise PlaceError("a value is missing: write PATH=VALUE, such as spec.nodes=4", end)
    return parts, end + 1


def _read(text: str) -> tuple[Path, int]:
    """The parts of a place, and where it ends: at the end of the text or at a '='."""
    parts: list[str | int] = []
    at = 0
    while True:
        key, at = _key(text, at)
        parts.append(key)
        while text[at : at + 1] == "[":
            inside, at = _in_brackets(text, at + 1)
            parts.append(inside)
        if len(parts) > MOST_PARTS:
            raise PlaceError(f"a place has at most {MOST_PARTS} parts", at)
        if at == len(text) or text[at] == "=":
            return tuple(parts), at
        if text[at] != ".":
            raise PlaceError("write a dot between two keys", at)
        at += 1


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] == '"':
        return _quoted(text, at)
    end = next((i for i in range(at, len(text)) if text[i] in '.[]="'), len(text))
    if end == at:
        raise PlaceError("a key is missing: write PATH=VALUE, such as spec.nodes=4", at)
    return text[at:end], end


def _quoted(text: str, at: int) -> tuple[str, int]:
    """A key in double quotes, and where it ends."""
    out, i = "", at + 1
    while i < len(text) and text[i] != '"':
        i += text[i] == "\\" and i + 1 < len(text)
        out += text[i]
        i += 1
    if i == len(text):
        raise PlaceError("the double quote is not closed", at)
    return out, i + 1


def _in_brackets(text: str, at: int) -> tuple[str | int, int]:
    """An index, or a name as it stands or in double quotes; and where it ends, behind the bracket."""
    if text[at : at + 1] == '"':
        key, end = _quoted(text, at)
        if text[end : end + 1] != "]":
            raise PlaceError("']' belongs after the closing quote", end)
        return key, end + 1
    end = text.find("]", at)
    if end < 0:
        raise PlaceError("the bracket is not closed", at - 1)
    inside = text[at:end]
    return (int(inside) if inside.isascii() and inside.isdigit() and len(inside) < 10 else inside), end + 1
