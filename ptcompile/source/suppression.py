"""Comments that say which findings of a file are meant: `# ptcompile: ignore[PTC302] why`.

At the end of a line a comment covers the findings whose span has that line; on a line of its own it covers those of the
next line that is not a comment. `# ptcompile: ignore-file[PTC302] why`, above the first such line, covers
the whole file. A comment that covers nothing is itself a finding, as is one that names no rule.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic, Problem, Span
from ptcompile.diagnostics.selection import Selection, selected_names
from ptcompile.source.documents import Source, read

_COMMENT = re.compile(r"(?:^|(?<=\s))#[ \t]*ptcompile:[ \t]*(ignore-file|ignore)\b(?:\[([^\]\n]*)\])?")


class _Ignore(NamedTuple):
    """One comment: which names it covers, on which lines."""

    span: Span
    names: frozenset[str]
    first: int
    last: int
    """The lines that it covers, both inclusive."""


class Suppressed(NamedTuple):
    """The findings that are left, those that are meant, and what is wrong with the comments."""

    left: tuple[Diagnostic, ...]
    meant: tuple[Diagnostic, ...]
    problems: tuple[Problem, ...]


def suppress(source: Source, found: Sequence[Diagnostic], selection: Selection) -> Suppressed:
    """Take away the findings that a file's comments say are meant."""
    if source.is_json:
        return Suppressed(tuple(found), (), ())
    problems: list[Problem] = []
    ignores = list(_ignores(source, selection.codes, problems))
    wide: dict[str, list[_Ignore]] = {}
    for ignore in ignores:
        for name in ignore.names if ignore.last > ignore.first else ():
            wide.setdefault(name, []).append(ignore)
    narrow = _by_name(ignores)
    used: set[_Ignore] = set()
    left: list[Diagnostic] = []
    meant: list[Diagnostic] = []
    hits: dict[str, set[tuple[int, int]]] = {}
    for one in found:
        near = _near(narrow.get(one.name, ()), one.span) if one.span else (0, 0)
        if near[0] < near[1]:
            hits.setdefault(one.name, set()).add(near)
        covered = near[0] < near[1] or (one.span is not None and one.name in wide)
        (meant if covered else left).append(one)
    for name, ranges in hits.items():
        used.update(_covering(narrow[name], ranges))
    for name in {one.name for one in meant if one.span is not None}:
        used.update(wide.get(name, ()))
    for ignore in ignores:
        if ignore not in used and any(selection.tells(name, "style") for name in ignore.names):
            problems.append(_problem("unused-ignore", ignore.span, "unused ignore comment: it matches no finding"))
    return Suppressed(tuple(left), tuple(meant), tuple(p for p in problems if selection.tells(p.name, p.stage)))


def _covering(ignores: Sequence[_Ignore], ranges: Iterable[tuple[int, int]]) -> Iterator[_Ignore]:
    """The comments in these ranges, each once, however many findings it covers."""
    done = 0
    for start, end in sorted(ranges):
        yield from ignores[max(start, done) : end]
        done = max(done, end)


def _by_name(ignores: Sequence[_Ignore]) -> dict[str, list[_Ignore]]:
    """The comments that cover one line, by what they cover, in the order of their lines."""
    out: dict[str, list[_Ignore]] = {}
    for ignore in ignores:
        for name in ignore.names if ignore.last == ignore.first else ():
            out.setdefault(name, []).append(ignore)
    return out


def _near(ignores: Sequence[_Ignore], span: Span) -> tuple[int, int]:
    """The first, and the one behind the last, of those that cover a line of the span."""
    start = bisect_left(ignores, span.line, key=_line)
    return start, bisect_right(ignores, max(span.line, _end(span)), lo=start, key=_line)


def _line(ignore: _Ignore) -> int:
    return ignore.first


def _end(span: Span) -> int:
    """The last line that has a character of the span."""
    return span.end_line - (span.end_column == 1)


def _ignores(source: Source, codes: Mapping[str, str], problems: list[Problem]) -> Iterator[_Ignore]:
    lines = source.text.split("\n")
    covered = list(range(len(lines)))  # for each line: itself, or where it is a comment the next that is none
    for at in range(len(lines) - 2, -1, -1):
        if _is_comment(lines[at]):
            covered[at] = covered[at + 1]
    left = limits().comments
    for at, line in enumerate(lines):
        for match in _COMMENT.finditer(line) if "ptcompile:" in line else ():
            span = Span(at + 1, match.start() + 1, at + 1, match.end() + 1)
            if source.in_scalar(at + 1, match.start() + 1):
                continue
            left -= 1 + (match[2] or "").count(",")
            if left < 0:
                message = f"the file has more than {limits().comments} names in comments, and the others are not read"
                problems.append(_problem("too-large", span, message)._replace(severity="error", help="remove some"))
                return
            names = _names(match[2], codes, span, problems)
            if match[1] == "ignore-file" and at >= covered[0]:
                why = "an ignore-file comment must come before the first line that is not a comment"
                problems.append(_problem("bad-ignore", span, why))
            elif match[1] == "ignore-file":
                yield _Ignore(span, names, 1, len(lines))
            elif names:
                yield _Ignore(span, names, covered[at] + 1, covered[at] + 1)


def _is_comment(line: str) -> bool:
    text = line.strip()
    return not text or text[0] == "#"


def _names(listed: str | None, codes: Mapping[str, str], span: Span, problems: list[Problem]) -> frozenset[str]:
    if listed is None or not listed.strip():
        problems.append(_problem("bad-ignore", span, "the comment does not say what to ignore"))
        return frozenset()
    found: set[str] = set()
    for selector in listed.split(","):
        try:
            found |= selected_names([selector], codes)
        except ValueError as error:
            problems.append(_problem("bad-ignore", span, str(error)))
    return frozenset(found)


def _problem(name: str, span: Span, message: str) -> Problem:
    cure = "remove it" if name == "unused-ignore" else "write # ptcompile: ignore[CODE] and why"
    return Problem(name, (), message, cure, "warning", "style", "ptcompile", span=span)


def add_ignores(text: str, found: Sequence[Diagnostic]) -> tuple[str, int]:
    """The text with a comment for each finding, and how many findings those cover.

    A comment stands at the end of the finding's line, or on a line of its own above it where a value goes on to the
    next line. JSON has no comments, and a finding without a place or one of the file's own text has no line for one.
    """
    source = read(text)
    if source.is_json:
        return text, 0
    lines = text.split("\n")
    by_line: dict[int, dict[str, None]] = {}
    done = 0
    for one in found:
        if one.span is not None and one.resource is not None and not source.in_scalar(one.span.line, 1):
            by_line.setdefault(one.span.line, {})[one.code] = None
            done += 1
    for line in sorted(by_line, reverse=True):
        words = lines[line - 1].removesuffix("\r")
        end = lines[line - 1][len(words) :]
        comment = f"# ptcompile: ignore[{','.join(by_line[line])}]"
        if source.in_scalar(line, len(words) + 1):
            indent = words[: len(words) - len(words.lstrip())]
            lines.insert(line - 1, f"{indent}{comment}{end}")
        else:
            lines[line - 1] = f"{words.rstrip()}  {comment}{end}"
    return "\n".join(lines), done
