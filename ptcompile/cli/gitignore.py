"""Patterns of .gitignore, as git's dir.c and wildmatch.c read them, in time linear in the pattern and in the path.

Each line becomes a regular expression in which every `*` and `**` keeps the first match it finds: a match that begins
earlier never prevents a later one here, so nothing has to be tried twice. A line that git cannot match is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Matcher = Callable[[bytes, bool], bool | None]
"""Whether the lines ignore a path, relative to their folder; True for a folder. None if no line matches."""

_FOLDER: Final = b"\0"
"""Follows the name of a folder in what is matched; no name contains it."""
_CHAR: Final = rb"[^/\0]"
_SPECIAL: Final = re.compile(rb"[*?[\\]")
_SLASH: Final = ord("/")
_CLASSES: Final = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@[-`{-~",
    b"space": rb" \t\n\r",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class _Line(NamedTuple):
    """What one line matches."""

    ignores: bool
    """False for a line that begins with `!`."""
    only_folders: bool
    by_name: bool
    """Whether the name alone is matched, in any folder, and not the path."""
    text: bytes
    literal: bool
    """Whether `text` is what is matched, and not a regular expression."""


def matcher(lines: Iterable[bytes]) -> Matcher:
    """Return what the lines say of a path; as in git, the last line that matches decides."""
    read = [line for one in lines if (line := _line(one)) is not None]
    by_name, by_path = _last(read, by_name=True), _last(read, by_name=False)

    def verdict(path: bytes, is_folder: bool) -> bool | None:
        end = _FOLDER if is_folder else b""
        number = max(by_name(path[path.rfind(b"/") + 1 :] + end), by_path(path + end))
        return None if number < 0 else read[number].ignores

    return verdict


def matches(pattern: str, path: str) -> bool:
    """Return whether one line matches a path, relative to its folder, or a folder above it. A folder ends in a slash.

    A line that begins with `!` is taken without it.
    """
    verdict = _single(pattern.removeprefix("!"))
    parts = os.fsencode(path.replace(os.sep, "/")).removesuffix(b"/").split(b"/")
    folders = len(parts) if path.endswith(os.sep) else len(parts) - 1
    return any(verdict(b"/".join(parts[:count]), count <= folders) for count in range(1, len(parts) + 1))


@cache
def _single(pattern: str) -> Matcher:
    return matcher((os.fsencode(pattern),))


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a .gitignore file."""
    return [line.removesuffix(b"\r") for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]


def _last(read: list[_Line], *, by_name: bool) -> Callable[[bytes], int]:
    """Return a function from a name or a path to the number of the last line that matches it, -1 if none does."""
    literals: dict[bytes, int] = {}
    numbers: list[int] = []
    for number, line in enumerate(read):
        if line.by_name is not by_name:
            continue
        if line.literal:
            literals[line.text + _FOLDER] = number
            if not line.only_folders:
                literals[line.text] = number
        else:
            numbers.append(number)
    numbers.reverse()  # alternatives are tried in order
    regex = re.compile(b"|".join(map(_alternative, (read[number] for number in numbers))), re.DOTALL)

    def last(told: bytes) -> int:
        match = regex.match(told) if numbers else None
        wild = -1 if match is None or match.lastindex is None else numbers[match.lastindex - 1]
        return max(wild, literals.get(told, -1))

    return last


def _alternative(line: _Line) -> bytes:
    return line.text + (rb"\0\Z()" if line.only_folders else rb"\0?\Z()")


def _line(line: bytes) -> _Line | None:
    """Return what a line matches, or None for a comment and for a line that matches nothing."""
    if line.startswith(b"#"):
        return None
    line = _trimmed(line.partition(b"\0")[0])
    ignores = not line.startswith(b"!")
    line = line.removeprefix(b"!")
    only_folders = line.endswith(b"/")
    line = line.removesuffix(b"/")
    by_name = b"/" not in line
    special = _SPECIAL.search(line)
    if special is None:
        line = line.removeprefix(b"/")
        return _Line(ignores, only_folders, by_name, line, True) if line else None
    start = 0 if by_name else special.start()  # git compares what is literal first, and begins to match behind it
    parts = _parts(line[start:], by_name)
    if parts is None:
        return None
    text = re.escape(line[:start].removeprefix(b"/")) + b"".join(_regex(parts))
    return _Line(ignores, only_folders, by_name, text, False)


def _trimmed(line: bytes) -> bytes:
    """Return a line without the spaces at its end; one that a backslash quotes stays."""
    kept = line.rstrip(b" ")
    backslashes = len(kept) - len(kept.rstrip(b"\\"))
    return kept + b" " if backslashes % 2 and len(kept) < len(line) else kept


_STAR, _REST, _FOLDERS, _SOME_FOLDERS = b"*", b"**", b"**/", b"**\\/"
"""Parts that are not a regular expression for one byte."""


def _parts(text: bytes, by_name: bool) -> list[bytes] | None:
    """Return the parts of a pattern: regular expressions for one byte each, and wildcards. None if nothing matches."""
    parts: list[bytes] = []
    at = 0
    while at < len(text):
        char = text[at : at + 1]
        if char == b"*":
            part, at = _stars(text, at, by_name)
        elif char == b"?":
            part, at = _CHAR, at + 1
        elif char == b"[":
            bracket = _bracket(text, at + 1)
            if bracket is None:
                return None
            part, at = bracket
        else:
            at += char == b"\\"
            if at == len(text):
                return None
            part, at = re.escape(text[at : at + 1]), at + 1
        parts.append(part)
    return parts


def _stars(text: bytes, at: int, by_name: bool) -> tuple[bytes, int]:
    """Return the wildcard at a place, and where it ends. Two stars are more than one only as a whole folder's name."""
    end = at
    while text[end : end + 1] == b"*":
        end += 1
    if end - at > 1 and not by_name and (at == 0 or text[at - 1] == _SLASH):
        if end == len(text):
            return _REST, end
        if text[end] == _SLASH:
            return _FOLDERS, end + 1
        if text.startswith(b"\\/", end):
            return _SOME_FOLDERS, end + 2
    return _STAR, end


def _regex(parts: list[bytes]) -> Iterator[bytes]:
    """Yield the regular expression of a pattern's parts."""
    groups: list[bytes] = []
    begin = 0
    for at, part in enumerate([*parts, _REST]):
        if at == len(parts) or part in (_FOLDERS, _SOME_FOLDERS):
            groups.append(b"".join(_segments(parts[begin:at])))
            begin = at + 1
    yield groups[0]
    kinds = [part for part in parts if part in (_FOLDERS, _SOME_FOLDERS)]
    for number, (kind, group) in enumerate(zip(kinds, groups[1:], strict=True)):
        folders = rb"(?:[^/\0]*/)" + (b"*?" if kind == _FOLDERS else b"+?")
        yield folders + group if number == len(kinds) - 1 else b"(?>" + folders + group + b")"


def _segments(parts: list[bytes]) -> Iterator[bytes]:
    """Yield the regular expression of parts between two wildcards for folders."""
    stars = False
    begin = 0
    for at, part in enumerate([*parts, b"/"]):
        if part not in (_STAR, b"/"):
            continue
        piece = b"".join(rb"[^\0]*" if one == _REST else one for one in parts[begin:at])
        if not stars:
            yield piece
        elif part == _STAR:
            yield b"(?>" + _CHAR + b"*?" + piece + b")"
        else:
            yield _CHAR + b"*" + piece
        stars = part == _STAR
        if part == b"/" and at < len(parts):
            yield b"/"
        begin = at + 1


def _bracket(text: bytes, at: int) -> tuple[bytes, int] | None:
    """Return the regular expression of a bracket whose content begins at `at`, and its end; None if it is not valid."""
    negated = text[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    first, before = at, 0
    while at == first or text[at : at + 1] != b"]":
        step = _member(text, at, before, members)
        if step is None:
            return None
        at, before = step
    allowed = (set(range(256)) - members if negated else members) - {0, _SLASH}
    if not allowed:
        return None
    return b"[" + b"".join(b"\\x%02x" % byte for byte in sorted(allowed)) + b"]", at + 1


def _member(text: bytes, at: int, before: int, members: set[int]) -> tuple[int, int] | None:
    """Add one member of a bracket. Return the next member's place, and the byte a range may begin with, or 0."""
    if at >= len(text):
        return None
    if text.startswith(b"[:", at):
        end = text.find(b"]", at + 2)
        if end < 0:
            return None
        if end > at + 2 and text[end - 1 : end] == b":":
            chosen = _CLASSES.get(text[at + 2 : end - 1])
            if chosen is None:
                return None
            members.update(byte for byte in range(256) if re.match(b"[" + chosen + b"]", bytes([byte])))
            return end + 1, 0
    begin = text[at]
    is_range = begin == ord("-") and before and at + 1 < len(text) and text[at + 1] != ord("]")
    at += is_range
    if text[at] == ord("\\"):
        at += 1
        if at == len(text):
            return None
    members.update(range(before, text[at] + 1) if is_range else (text[at],))
    return at + 1, 0 if is_range else text[at]
