"""Output for a terminal: long lines of a result folded to its width, color, and a progress line.

Piped output has neither folds nor color, so that nothing is cut where a program or a file reads it.
The progress line appears after a second and is erased before anything else is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from time import monotonic

from ptcompile._internal.lazy import Pattern
from ptcompile.cli import files
from ptcompile.report.layout import format_json, safe_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Styles = Sequence[tuple[Pattern, str]]
    T = TypeVar("T")


_RESET = "\x1b[0m"
_BOLD, _RED, _GREEN, _YELLOW, _BLUE, _CYAN = (f"\x1b[{code}m" for code in (1, 31, 32, 33, 34, 36))
_QUIET_SECONDS = 1.0
"""Time without a progress line; most runs end before."""
_INTERVAL_SECONDS = 0.1
"""Time between two updates of the line."""
_ERASE = "\r\x1b[K"


def _styles(*rows: tuple[str, str]) -> Styles:
    return [(Pattern(f"(?m){pattern}"), style) for pattern, style in rows]


RESULT = _styles(
    (r"^ *\+ +\S+|(?<=  )\+(?=  )", _GREEN),  # what is new: a path, or a row of a table
    (r"^ *- +\S+|(?<=  )-(?=  )", _RED),
    (r"^ *~ +\S+|(?<=  )~(?=  )", _YELLOW),
    (r"^[A-Z]\w*/[^\s,]+(?: -> [A-Z]\w*/[^\s,]+)*", _BOLD),  # objects
    (r"^\w[\w.\[\]-]*(?: \w+)?:(?= |$)", _BOLD),  # passes, and the paths of values
    (r"^  [A-Z]{2,}(?: +[A-Z]{2,})+$", _BOLD),  # the head of a table
    (r"^  [a-z][A-Za-z ]{1,24}(?=  )", _CYAN),  # labels
    (r"^ +\d+ \|", _BLUE),  # quoted lines of a file
)
"""Styles of the text of simulate, diff, explain and rehearse."""
PATCH = _styles(
    (r"^(?:---|\+\+\+) .*$", _BOLD),
    (r"^@@.*@@", _CYAN),
    (r"^\+(?!\+\+ ).*$", _GREEN),
    (r"^-(?!-- ).*$", _RED),
)
"""Styles of unified diffs."""
HELP = _styles(
    (r"^[A-Za-z][\w ,]*:(?=$| ptcompile)", _BOLD),  # headings
    (r"^  -.*?(?=  |$)", _CYAN),  # options
    (r"^  [a-z][\w|-]*(?=  )", _CYAN),  # commands
    (r"^  ptcompile .*?(?=  |$)", _GREEN),  # examples
)
"""Styles of help texts."""

_match_label = Pattern(r" *\S+(?: \S+)*  +(?:[+~-] +)?").match
_MIN_WIDTH = 40
_MAX_ROWS = 6
"""Rows of the terminal that one line may fill."""


def render(result: Any, form: str) -> str:
    """Return a result of the API as JSON, as text or as Markdown."""
    if form == "json":
        return format_json(result.to_dict())
    return str(getattr(result, form)())


def write_result(text: str, form: str = "text") -> int:
    """Write a result to standard output; return 0, or 2 if it cannot be written. Only text is
    folded and colored.
    """
    from ptcompile.cli.options import terminal_width

    if form != "text":
        return files.write_stdout(text)
    if sys.stdout is not None and sys.stdout.isatty():
        text = fold(text, terminal_width())
    return write_painted(text, RESULT)


def write_painted(text: str, styles: Styles) -> int:
    """Write a text to standard output, in color if that is to have it; return as `write_result`."""
    return files.write_stdout(paint(text, styles))


def paint(text: str, styles: Styles) -> str:
    """Return the text in color if standard output is to have it; change nothing else."""
    if not files.wants_color(sys.stdout):
        return text
    for pattern, style in styles:
        text = pattern.sub(rf"{style}\g<0>{_RESET}", text)
    return text


def fold(text: str, width: int) -> str:
    """Return the text with lines that are longer than `width` folded below the column that their
    value begins at.
    """
    return "".join(
        f"{row}\n" for line in text.removesuffix("\n").split("\n") for row in _rows(line, width)
    )


def _rows(line: str, width: int) -> list[str]:
    """Return a line as rows of a terminal; the last of many ends with an ellipsis."""
    width = max(width, _MIN_WIDTH)
    if len(line) <= width:
        return [line]

    from textwrap import TextWrapper

    leading = len(line) - len(line.lstrip())
    label = _match_label(line)
    indent = label.end() if label is not None else leading + 2
    if indent > width // 2 or any(len(word) > width - indent for word in line.split()):
        indent = min(leading + 2, width // 2)
    wrapper = TextWrapper(
        width=width,
        subsequent_indent=" " * indent,
        expand_tabs=False,
        replace_whitespace=False,
        break_on_hyphens=False,
        max_lines=_MAX_ROWS,
        placeholder=" …",
    )

    return wrapper.wrap(line)


def with_progress(items: Iterable[T], total: int) -> Iterator[T]:
    """Yield the items, one for each file, and show on the terminal how many are done."""
    if not has_terminal():
        yield from items
        return

    due = monotonic() + _QUIET_SECONDS
    try:
        for done, item in enumerate(items):
            if monotonic() >= due:
                show_progress(f"{done} of {total} files")
                due = monotonic() + _INTERVAL_SECONDS
            yield item
    finally:
        files.write_stderr("")


def has_terminal() -> bool:
    """Return whether standard error is a terminal that can erase a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def show_progress(text: str) -> None:
    """Replace the progress line."""
    files.write_stderr(f"ptcompile: {safe_text(text)}")
    files.ERASE.append(_ERASE)
