"""Patterns of .gitignore as git's dir.c and wildmatch.c interpret them, in time linear in the
pattern and in the path.

Each line becomes a regular expression in which every `*` and `**` keeps its first match: a match
that begins earlier never prevents a later one here, so no backtracking is needed. Lines that git
cannot match are dropped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple

Matcher = Callable[[bytes, bool], bool | None]
"""Returns whether the lines ignore a path relative to their folder, or None if no line matches;
True for a folder.
"""

_FOLDER = b"\0"
"""Marks a folder's path; no file name contains it."""
_CHAR = rb"[^/\0]"
_SPECIAL = re.compile(rb"[*?[\\]")
_SLASH = ord("/")
_CLASSES = {
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
    """One parsed line."""

    ignores: bool
    """False for a line that begins with `!`."""
    only_folders: bool
    by_name: bool
    """Whether only the name is matched, in any folder, and not the path."""
    text: bytes
    is_literal: bool
    """Whether `text` is compared literally; otherwise it is a regular expression."""


def matcher(lines: Iterable[bytes]) -> Matcher:
    """Return a matcher for the lines of a file. As in git, the last matching line decides."""
    parsed = [line for text in lines if (line := _parse_line(text)) is not None]
    by_name = _last_match(parsed, by_name=True)
    by_path = _last_match(parsed, by_name=False)

    def verdict(path: bytes, is_folder: bool) -> bool | None:
        end = _FOLDER if is_folder else b""
        number = max(by_name(path[path.rfind(b"/") + 1 :] + end), by_path(path + end))
        return None if number < 0 else parsed[number].ignores

    return verdict


def matches(pattern: str, path: str) -> bool:
    """Return whether one line matches a path relative to its folder, or a parent folder of it. A
    folder ends in a slash.

    A leading `!` of the line is ignored.
    """
    verdict = _cached_matcher(pattern.removeprefix("!"))
    parts = os.fsencode(path.replace(os.sep, "/")).removesuffix(b"/").split(b"/")
    folders = len(parts) if path.endswith(os.sep) else len(parts) - 1
    return any(
        verdict(b"/".join(parts[:count]), count <= folders) for count in range(1, len(parts) + 1)
    )


@cache
def _cached_matcher(pattern: str) -> Matcher:
    return matcher((os.fsencode(pattern),))


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a .gitignore file."""
    return [line.removesuffix(b"\r") for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]


def _last_match(lines: list[_Line], *, by_name: bool) -> Callable[[bytes], int]:
    """Return a function from a name or path to the index of the last line that matches it, or
    -1.
    """
    literals: dict[bytes, int] = {}
    numbers: list[int] = []
    alternatives: list[bytes] = []
    for number, line in enumerate(lines):
        if line.by_name is not by_name:
            continue
        if line.is_literal:
            literals[line.text + _FOLDER] = number
            if not line.only_folders:
                literals[line.text] = number
        else:
            numbers.append(number)
            alternatives.append(line.text + (rb"\0\Z()" if line.only_folders else rb"\0?\Z()"))

    # the regex takes the first alternative that matches, git the last line
    numbers.reverse()
    regex = re.compile(b"|".join(reversed(alternatives)), re.DOTALL)

    def last(candidate: bytes) -> int:
        match = regex.match(candidate) if numbers else None
        wild = -1 if match is None or match.lastindex is None else numbers[match.lastindex - 1]
        return max(wild, literals.get(candidate, -1))

    return last


def _parse_line(line: bytes) -> _Line | None:
    """Return the parsed line, or None for a comment or a line that matches nothing."""
    if line.startswith(b"#"):
        return None

    line, _, _ = line.partition(b"\0")
    trimmed = line.rstrip(b" ")
    backslashes = len(trimmed) - len(trimmed.rstrip(b"\\"))
    # a backslash quotes the first of the trailing spaces, and the others do not count
    line = trimmed + b" " if backslashes % 2 and trimmed != line else trimmed
    ignores = not line.startswith(b"!")
    line = line.removeprefix(b"!")
    only_folders = line.endswith(b"/")
    line = line.removesuffix(b"/")
    by_name = b"/" not in line
    special = _SPECIAL.search(line)
    if special is None:
        line = line.removeprefix(b"/")
        if line:
            return _Line(ignores, only_folders, by_name, line, True)
        return None

    # git compares the literal prefix first, and matches wildcards only after it
    start = 0 if by_name else special.start()
    parts = _split_pattern(line[start:], by_name)
    if parts is None:
        return None

    text = re.escape(line[:start].removeprefix(b"/")) + b"".join(_group_regexes(parts))
    return _Line(ignores, only_folders, by_name, text, False)


_STAR = b"*"
_REST = b"**"
_FOLDERS = b"**/"
_SOME_FOLDERS = b"**\\/"
"""The wildcards among the parts of a pattern; all other parts are regular expressions for one
byte.
"""


def _split_pattern(text: bytes, by_name: bool) -> list[bytes] | None:
    """Return the parts of a pattern, or None if it cannot match: regular expressions for one byte
    each, and wildcards.
    """
    parts: list[bytes] = []
    pos = 0
    while pos < len(text):
        char = text[pos : pos + 1]
        if char == b"*":
            part, pos = _read_stars(text, pos, by_name)
        elif char == b"?":
            part = _CHAR
            pos = pos + 1
        elif char == b"[":
            bracket = _read_bracket(text, pos + 1)
            if bracket is None:
                return None
            part, pos = bracket
        else:
            if char == b"\\":
                pos += 1
            if pos == len(text):
                return None
            part = re.escape(text[pos : pos + 1])
            pos = pos + 1

        parts.append(part)

    return parts


def _read_stars(text: bytes, pos: int, by_name: bool) -> tuple[bytes, int]:
    """Return the wildcard at `pos` and the position after it. Two stars differ from one only as a
    complete path segment.
    """
    end = pos
    while text[end : end + 1] == b"*":
        end += 1
    if end - pos > 1 and not by_name and (pos == 0 or text[pos - 1] == _SLASH):
        if end == len(text):
            return _REST, end
        if text[end] == _SLASH:
            return _FOLDERS, end + 1
        if text.startswith(b"\\/", end):
            return _SOME_FOLDERS, end + 2

    return _STAR, end


def _group_regexes(parts: list[bytes]) -> Iterator[bytes]:
    """Yield the regular expressions of a pattern's parts."""
    groups: list[bytes] = []
    begin = 0
    for index, part in enumerate([*parts, _REST]):
        if index == len(parts) or part in (_FOLDERS, _SOME_FOLDERS):
            groups.append(b"".join(_segment_regexes(parts[begin:index])))
            begin = index + 1

    yield groups[0]
    kinds = [part for part in parts if part in (_FOLDERS, _SOME_FOLDERS)]
    for number, (kind, group) in enumerate(zip(kinds, groups[1:], strict=True)):
        folders = rb"(?:[^/\0]*/)" + (b"*?" if kind == _FOLDERS else b"+?")
        yield folders + group if number == len(kinds) - 1 else b"(?>" + folders + group + b")"


def _segment_regexes(parts: list[bytes]) -> Iterator[bytes]:
    """Yield the regular expressions of the parts between two folder wildcards."""
    stars = False
    begin = 0
    for index, part in enumerate([*parts, b"/"]):
        if part not in (_STAR, b"/"):
            continue

        piece = b"".join(
            rb"[^\0]*" if segment_part == _REST else segment_part
            for segment_part in parts[begin:index]
        )
        if not stars:
            yield piece
        elif part == _STAR:
            yield b"(?>" + _CHAR + b"*?" + piece + b")"
        else:
            yield _CHAR + b"*" + piece

        stars = part == _STAR
        if part == b"/" and index < len(parts):
            yield b"/"
        begin = index + 1


def _read_bracket(text: bytes, pos: int) -> tuple[bytes, int] | None:
    """Return the regular expression of a bracket whose content begins at `pos`, and its end, or
    None if it is not valid.
    """
    negated = text[pos : pos + 1] in (b"!", b"^")
    pos += negated
    members: set[int] = set()
    first = pos
    before = 0
    while pos == first or text[pos : pos + 1] != b"]":
        step = _read_member(text, pos, before, members)
        if step is None:
            return None
        pos, before = step

    allowed = (set(range(256)) - members if negated else members) - {0, _SLASH}
    if not allowed:
        return None

    return b"[" + b"".join(_ranges(allowed)) + b"]", pos + 1


def _ranges(members: set[int]) -> Iterator[bytes]:
    """Yield the members of a bracket as ranges: the class for `[!a]` would be 40 times as long
    without them.
    """
    starts = sorted(byte for byte in members if byte - 1 not in members)
    ends = sorted(byte for byte in members if byte + 1 not in members)
    for start, end in zip(starts, ends, strict=True):
        yield b"\\x%02x-\\x%02x" % (start, end)


def _read_member(text: bytes, pos: int, before: int, members: set[int]) -> tuple[int, int] | None:
    """Add one member of a bracket. Return the position after it, and the byte that a range may
    begin with, or 0.
    """
    if pos >= len(text):
        return None

    if text.startswith(b"[:", pos):
        end = text.find(b"]", pos + 2)
        if end < 0:
            return None
        if end > pos + 2 and text[end - 1 : end] == b":":
            chosen = _CLASSES.get(text[pos + 2 : end - 1])
            if chosen is None:
                return None
            members.update(
                byte for byte in range(256) if re.match(b"[" + chosen + b"]", bytes([byte]))
            )
            return end + 1, 0

    begin = text[pos]
    is_range = begin == ord("-") and before and pos + 1 < len(text) and text[pos + 1] != ord("]")
    pos += is_range
    if text[pos] == ord("\\"):
        pos += 1
        if pos == len(text):
            return None

    members.update(range(before, text[pos] + 1) if is_range else (text[pos],))
    return pos + 1, 0 if is_range else text[pos]
