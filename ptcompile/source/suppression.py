"""Comments that suppress findings: `# ptcompile: ignore[PTC302] why`, or `ignore[PTC302] until
2027-03-31: why`.

A comment at the end of a line covers the findings whose span includes that line; a comment on its
own line covers those of the next line that is not a comment. `# ptcompile: ignore-file[PTC302]
why`, above the first such line, covers the whole file. A comment that covers nothing is itself a
finding, and so are one that names no rule and one whose last day is over.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from ptcompile._internal.dates import is_date, today
from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic, Problem, Span, line_range
from ptcompile.diagnostics.selection import Selection, selected_names
from ptcompile.source.documents import Source, read

_COMMENT = re.compile(
    r"(?:^|(?<=\s))#[ \t]*ptcompile:[ \t]*(ignore-file|ignore)\b(?:\[([^\]\n]*)\])?"
    r"(?:[ \t]+until[ \t]+(\d{4}-\d\d-\d\d)\b)?"
)


class _Ignore(NamedTuple):
    """One comment: the names it covers, and on which lines."""

    span: Span
    names: frozenset[str]
    first: int
    last: int
    """Last line that it covers, inclusive."""


_FIRST = attrgetter("first")


class Suppressed(NamedTuple):
    """The remaining diagnostics, the suppressed ones, and the problems of the comments
    themselves.
    """

    remaining: tuple[Diagnostic, ...]
    suppressed: tuple[Diagnostic, ...]
    problems: tuple[Problem, ...]


def suppress(source: Source, diagnostics: Sequence[Diagnostic], selection: Selection) -> Suppressed:
    """Remove the diagnostics that a file's comments suppress."""
    if source.is_json:
        return Suppressed(tuple(diagnostics), (), ())

    problems: list[Problem] = []
    ignores = list(_ignores(source, selection.codes, problems))
    file_ignores = _by_name(ignore for ignore in ignores if ignore.last > ignore.first)
    line_ignores = _by_name(ignore for ignore in ignores if ignore.last == ignore.first)
    suppressed, used = _match(
        [d for d in diagnostics if not d.blocks_compile], line_ignores, file_ignores
    )
    _, useless = _match([d for d in diagnostics if d.blocks_compile], line_ignores, file_ignores)

    for ignore in ignores:
        if ignore in useless and ignore not in used:
            message = "errors that keep a spec from compiling cannot be ignored"
            help = "fix the error and remove the comment"
            problems.append(_problem("bad-ignore", ignore.span, message, help))
        elif ignore not in used and any(selection.includes(name, "style") for name in ignore.names):
            message = "unused ignore comment: it matches no finding"
            problems.append(_problem("unused-ignore", ignore.span, message, "remove it"))

    covered = {id(diagnostic) for diagnostic in suppressed}
    return Suppressed(
        tuple(diagnostic for diagnostic in diagnostics if id(diagnostic) not in covered),
        tuple(suppressed),
        tuple(p for p in problems if selection.includes(p.name, p.stage)),
    )


def _match(
    diagnostics: Iterable[Diagnostic],
    line_ignores: Mapping[str, Sequence[_Ignore]],
    file_ignores: Mapping[str, Sequence[_Ignore]],
) -> tuple[list[Diagnostic], set[_Ignore]]:
    """Return the diagnostics that comments cover, and these comments."""
    covered: list[Diagnostic] = []
    used: set[_Ignore] = set()
    hits: dict[str, set[tuple[int, int]]] = {}
    for diagnostic in diagnostics:
        span = diagnostic.span
        if span is None:
            continue
        ignores = line_ignores.get(diagnostic.name, ())
        first, last = line_range(span)
        start = bisect_left(ignores, first, key=_FIRST)
        end = bisect_right(ignores, last, lo=start, key=_FIRST)
        if start < end:
            hits.setdefault(diagnostic.name, set()).add((start, end))
        if start < end or diagnostic.name in file_ignores:
            covered.append(diagnostic)

    for name, ranges in hits.items():
        # ranges of several findings overlap: visit each line once
        done = 0
        for start, end in sorted(ranges):
            used.update(line_ignores[name][max(start, done) : end])
            done = max(done, end)
    for name in {diagnostic.name for diagnostic in covered}:
        used.update(file_ignores.get(name, ()))

    return covered, used


def _by_name(ignores: Iterable[_Ignore]) -> dict[str, list[_Ignore]]:
    """Return the comments by rule name, in their order."""
    by_name: dict[str, list[_Ignore]] = {}
    for ignore in ignores:
        for name in ignore.names:
            by_name.setdefault(name, []).append(ignore)
    return by_name


def _ignores(
    source: Source, codes: Mapping[str, str], problems: list[Problem]
) -> Iterator[_Ignore]:
    lines = source.text.split("\n")
    # for each line: itself, or the next line that is not a comment
    covered = list(range(len(lines)))
    for index in range(len(lines) - 2, -1, -1):
        if lines[index].strip()[:1] in ("", "#"):
            covered[index] = covered[index + 1]
    remaining = limits().comments
    for index, line in enumerate(lines):
        for match in _COMMENT.finditer(line) if "ptcompile:" in line else ():
            span = Span(index + 1, match.start() + 1, index + 1, match.end() + 1)
            if source.in_scalar(index + 1, match.start() + 1):
                continue

            keyword, listed, last_day = match.groups()
            remaining -= 1 + (listed or "").count(",")
            if remaining < 0:
                message = (
                    f"the file has more than {limits().comments} names in comments, and the "
                    "others are not read"
                )
                excess = _problem("too-large", span, message, "remove some")
                problems.append(excess._replace(severity="error"))
                return

            names = _covered_names(listed, codes, span, problems)
            if problem := _misplaced_ignore(keyword, span, covered[0]) or _out_of_date(
                last_day, span
            ):
                problems.append(problem)
            elif keyword == "ignore-file":
                yield _Ignore(span, names, 1, len(lines))
            elif names:
                yield _Ignore(span, names, covered[index] + 1, covered[index] + 1)


def _misplaced_ignore(keyword: str, span: Span, first: int) -> Problem | None:
    """Return the problem of an ignore-file comment below line `first`, the first (from 0) that is
    not a comment; None for other comments.
    """
    if keyword != "ignore-file" or span.line <= first:
        return None
    return _problem(
        "bad-ignore",
        span,
        "an ignore-file comment must come before the first line that is not a comment",
    )


def _out_of_date(last_day: str | None, span: Span) -> Problem | None:
    """Return the problem of a comment that no longer applies or whose date does not exist, or
    None.
    """
    if last_day is None:
        return None
    if not is_date(last_day):
        return _problem("bad-ignore", span, f"{last_day} is not a date")
    if today() <= last_day:
        return None

    return _problem(
        "expired-ignore",
        span,
        f"the comment applied until {last_day}: it no longer ignores findings",
        "fix the finding and remove the comment, or set a later date",
    )


def _covered_names(
    listed: str | None, codes: Mapping[str, str], span: Span, problems: list[Problem]
) -> frozenset[str]:
    if listed is None or not listed.strip():
        problems.append(_problem("bad-ignore", span, "the comment does not say what to ignore"))
        return frozenset()

    names: set[str] = set()
    for selector in listed.split(","):
        try:
            names |= selected_names([selector], codes)
        except ValueError as error:
            problems.append(_problem("bad-ignore", span, str(error)))

    return frozenset(names)


def _problem(
    name: str, span: Span, message: str, help: str = "write # ptcompile: ignore[CODE] and why"
) -> Problem:
    return Problem(name, (), message, help, "warning", "style", "ptcompile", span=span)


def add_ignores(text: str, diagnostics: Sequence[Diagnostic]) -> tuple[str, int]:
    """Return the text with an ignore comment for each finding, and the number of findings covered.

    Each comment goes at the end of the finding's line, or on its own line above if the value
    continues on the next line. JSON has no comments, a finding without a position or about the file
    itself has no line for one, and errors that keep a spec from compiling cannot be ignored.
    """
    source = read(text)
    if source.is_json:
        return text, 0

    lines = text.split("\n")
    by_line: dict[int, dict[str, None]] = {}
    count = 0
    for diagnostic in diagnostics:
        if (
            diagnostic.span is not None
            and not diagnostic.blocks_compile
            and diagnostic.resource is not None
            and not source.continues_scalar(diagnostic.span.line)
        ):
            by_line.setdefault(diagnostic.span.line, {})[diagnostic.code] = None
            count += 1

    for line in sorted(by_line, reverse=True):
        content = lines[line - 1].rstrip("\r")
        end = lines[line - 1][len(content) :]
        comment = f"# ptcompile: ignore[{','.join(by_line[line])}]"
        if source.in_scalar(line, len(content) + 1):
            indent = content[: len(content) - len(content.lstrip())]
            lines.insert(line - 1, f"{indent}{comment}{end}")
        else:
            lines[line - 1] = content.rstrip(" \t") + f"  {comment}{end}"

    return "\n".join(lines), count
