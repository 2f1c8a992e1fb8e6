"""Findings for people: full with code frames, concise, statistics, colour."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.report.layout import consequence, format_location, in_order, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_RESET: Final = "\x1b[0m"
_STYLES: Final = (
    (re.compile(r"^error(?=\[)|(?<=: )error(?= PTC)", re.MULTILINE), "\x1b[1;31m"),
    (re.compile(r"^warning(?=\[)|(?<=: )warning(?= PTC)", re.MULTILINE), "\x1b[1;33m"),
    (re.compile(r"^note(?=\[)|(?<=: )note(?= PTC)", re.MULTILINE), "\x1b[1;36m"),
    (re.compile(r"^  --> ", re.MULTILINE), "\x1b[34m"),
    (re.compile(r"^ *\| +\^+$", re.MULTILINE), "\x1b[31m"),
    (re.compile(r"^  = (?:help|fix):", re.MULTILINE), "\x1b[1m"),
)


def colour(text: str) -> str:
    """The text of a report with the severities, places, carets and cures in colour. Nothing else is changed."""
    for pattern, style in _STYLES:
        text = pattern.sub(rf"{style}\g<0>{_RESET}", text)
    return text


def concise(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """One line a finding, each ending in a line feed."""
    return "".join(f"{_line(d)}\n" for d in in_order(diagnostics))


def _line(one: Diagnostic) -> str:
    resource = f" ({printable(one.resource)})" if one.resource else ""
    return f"{format_location(one)}: {one.severity} {one.code} {one.name}: {printable(one.message)}{resource}"


_WIDTH = 160
"""Characters of a source line that are shown."""


def full(diagnostics: Sequence[Diagnostic], texts: Mapping[str | None, str]) -> str:
    """A paragraph a finding, with an empty line between."""
    return framed(diagnostics, {name: lines_shown(diagnostics, text, name) for name, text in texts.items()})


def framed(diagnostics: Sequence[Diagnostic], lines: Mapping[str | None, Mapping[int, str]]) -> str:
    """The same with the lines that are shown of each file, by number: what `lines_shown` gives."""
    return "\n".join("\n".join(_finding(d, lines.get(d.filename, {}))) + "\n" for d in in_order(diagnostics))


def lines_shown(diagnostics: Iterable[Diagnostic], text: str, name: str | None) -> dict[int, str]:
    """The lines of a text that are shown with the findings in the file of that name, secrets masked."""
    spans = [one.span for one in diagnostics if one.filename == name and one.span is not None]
    if not spans:
        return {}
    from ptcompile.source.secrets.masking import masked_lines

    lines = masked_lines(text)
    last = {span.line for span in spans if span.line <= len(lines)}
    return {number: lines[number - 1] for line in sorted(last) for number in (line - 1, line) if number}


def _finding(diagnostic: Diagnostic, lines: Mapping[int, str]) -> Iterator[str]:
    yield f"{diagnostic.severity}[{diagnostic.code} {diagnostic.name}]: {printable(diagnostic.message)}"
    rendered = f" ({printable(diagnostic.template)})" if diagnostic.template else ""
    yield f"  --> {format_location(diagnostic)}{rendered}"
    if diagnostic.span is not None and diagnostic.span.line in lines:
        yield from _frame(diagnostic.span, lines)
    yield f"  = {consequence(diagnostic)}"
    if diagnostic.help:
        yield f"  = help: {printable(diagnostic.help)}"
    if diagnostic.fix is not None:
        option = "--fix" if diagnostic.fix.safe else "--fix --unsafe-fixes"
        yield f"  = fix: {printable(diagnostic.fix.title)} ({option})"


def _frame(span: Span, lines: Mapping[int, str]) -> Iterator[str]:
    """The line before, the line itself, and carets under the part of it that is meant."""
    gutter = len(str(span.line))
    first = max(1, span.line - 1)
    start = max(0, span.column - _WIDTH // 2) if span.column > _WIDTH else 0
    yield f"{'':>{gutter}} |"
    for number in range(first, span.line + 1):
        yield f"{number:>{gutter}} | {_shown(lines[number], start)}".rstrip()
    text = lines[span.line]
    end = span.end_column if span.end_line == span.line else len(text.rstrip()) + 1
    width = max(1, min(end, start + _WIDTH + 1) - span.column)
    yield f"{'':>{gutter}} | {'':>{span.column - 1 - start}}{'^' * width}"


def _shown(line: str, start: int) -> str:
    """A part of a source line, one character for each of its own, so that the carets stand right."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "�" for c in line[start : start + _WIDTH])


def statistics(diagnostics: Sequence[Diagnostic]) -> str:
    """A line a rule: count, code, name, and whether some of them can be fixed automatically."""
    counts = Counter((d.code, d.name) for d in diagnostics)
    fixable = {d.code for d in diagnostics if d.fix is not None}
    width = len(str(max(counts.values(), default=0)))
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return "".join(
        f"{count:>{width}}  {code} {name}{' [fixable]' if code in fixable else ''}\n" for (code, name), count in rows
    )
