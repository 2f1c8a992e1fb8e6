"""Findings as text: full with code frames, concise, color."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.report.layout import (
    consequence,
    format_location,
    format_origin,
    hash_command,
    safe_text,
    sort_by_location,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.source.documents import Source


_RESET = "\x1b[0m"
_STYLES = (
    (re.compile(r"^error(?=\[)|(?<=: )error(?= PTC)", re.MULTILINE), "\x1b[1;31m"),
    (re.compile(r"^warning(?=\[)|(?<=: )warning(?= PTC)", re.MULTILINE), "\x1b[1;33m"),
    (re.compile(r"^note(?=\[)|(?<=: )note(?= PTC)", re.MULTILINE), "\x1b[1;36m"),
    (re.compile(r"^  --> ", re.MULTILINE), "\x1b[34m"),
    (re.compile(r"^ *\| +\^+$", re.MULTILINE), "\x1b[31m"),
    (re.compile(r"^  = (?:help|fix):", re.MULTILINE), "\x1b[1m"),
)


def add_color(text: str) -> str:
    """Color the severities, locations, carets and fixes of a report; change nothing else."""
    for pattern, style in _STYLES:
        text = pattern.sub(rf"{style}\g<0>{_RESET}", text)
    return text


def concise(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """Return one line per finding."""
    return "".join(f"{_concise_line(d)}\n" for d in sort_by_location(diagnostics))


def _concise_line(diagnostic: Diagnostic) -> str:
    origins = ", ".join(
        safe_text(origin) for origin in (diagnostic.resource, diagnostic.template) if origin
    )
    head = (
        f"{format_location(diagnostic)}: {diagnostic.severity} {diagnostic.code} {diagnostic.name}"
    )
    return f"{head}: {safe_text(diagnostic.message)}{f' ({origins})' if origins else ''}"


_COLUMN_WIDTH = 56
"""Number of characters of the first of two columns; the second one has two less."""
_MAX_WIDTH = 160
"""Number of characters quoted from a source line."""


def full(diagnostics: Sequence[Diagnostic], texts: Mapping[str | None, str]) -> str:
    """Return one paragraph per finding, separated by empty lines."""
    return with_frames(
        diagnostics, {name: lines_to_quote(diagnostics, text, name) for name, text in texts.items()}
    )


def with_frames(
    diagnostics: Sequence[Diagnostic], lines: Mapping[str | None, Mapping[int, str]]
) -> str:
    """Return the same as `full`, from quoted lines by file and number (see `lines_to_quote`)."""
    return "\n".join(
        "\n".join(_full_paragraph(d, lines.get(d.filename, {}))) + "\n"
        for d in sort_by_location(diagnostics)
    )


_BEGINNING = 1 << 16
"""Characters of a file that exceeds a limit: its only finding is at its first line, and masking all
of it would take minutes.
"""


def lines_to_quote(
    diagnostics: Iterable[Diagnostic], text: str, name: str | None, parsed: Source | None = None
) -> dict[int, str]:
    """Return the lines that a full report quotes from the file of that name, by number, with
    secrets masked.

    `parsed` is the text if it has been read already.
    """
    reported = {
        diagnostic.span.line
        for diagnostic in diagnostics
        if diagnostic.filename == name and diagnostic.span is not None
    }
    if not reported:
        return {}

    from ptcompile.source.documents import excess_of
    from ptcompile.source.secrets.masking import masked_lines

    numbers = reported | {line - 1 for line in reported}
    quotable = text[:_BEGINNING] if excess_of(text) else text
    lines = None
    if (name or "").endswith(".py"):
        from ptcompile.source.secrets.python import masked_python

        lines = masked_python(quotable)

    if lines is None:
        lines = masked_lines(quotable, quoted=numbers, parsed=parsed)
    return {number: lines[number - 1] for number in sorted(numbers) if 0 < number <= len(lines)}


def _full_paragraph(diagnostic: Diagnostic, lines: Mapping[int, str]) -> Iterator[str]:
    yield (
        f"{diagnostic.severity}[{diagnostic.code} {diagnostic.name}]: "
        f"{safe_text(diagnostic.message)}"
    )
    yield f"  --> {format_location(diagnostic)}{format_origin(diagnostic)}"

    if diagnostic.span is not None and diagnostic.span.line in lines:
        yield from _frame(diagnostic.span, lines)
    yield f"  = {consequence(diagnostic)}"
    if diagnostic.comparison:
        yield from _columns(diagnostic.comparison)
    if diagnostic.help:
        yield f"  = help: {safe_text(diagnostic.help)}"
    if diagnostic.fix is not None:
        option = "--fix" if diagnostic.fix.safe else "--fix --unsafe-fixes"
        yield f"  = fix: {safe_text(diagnostic.fix.title)} ({option})"


def _columns(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield rows of two texts as two columns; a long text goes on in the next line of its
    column.
    """
    from textwrap import wrap

    for number, row in enumerate(rows):
        cells = [wrap(safe_text(text), _COLUMN_WIDTH - 2, subsequent_indent="  ") for text in row]
        for left, right in zip_longest(*cells, fillvalue=""):
            yield f"  {' ' if number else '='} {left:<{_COLUMN_WIDTH}}| {right}".rstrip()


def _frame(span: Span, lines: Mapping[int, str]) -> Iterator[str]:
    """Yield the line and the one before it, and carets below the finding's span."""
    gutter = len(str(span.line))
    first = max(1, span.line - 1)
    start = max(0, span.column - _MAX_WIDTH // 2) if span.column > _MAX_WIDTH else 0
    yield f"{'':>{gutter}} |"
    for number in range(first, span.line + 1):
        yield f"{number:>{gutter}} | {_replace_unprintable(lines[number], start)}".rstrip()
    text = lines[span.line]
    end = span.end_column if span.end_line == span.line else len(text.rstrip()) + 1
    width = max(1, min(end, start + _MAX_WIDTH + 1) - span.column)
    yield f"{'':>{gutter}} | {'':>{span.column - 1 - start}}{'^' * width}"


def _replace_unprintable(line: str, start: int) -> str:
    """Return part of a source line with unprintable characters and the starts of workflow commands
    replaced one by one, so the carets fit.
    """
    part = line[start : start + _MAX_WIDTH].replace("\t", " ")
    printable = "".join(c if c.isprintable() else "�" for c in part)
    return hash_command.sub(r"#�\1", printable)
