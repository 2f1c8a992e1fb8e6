"""Plain text for a terminal: labelled paragraphs and tables. Every line is made harmless at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile.report.common import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

LABEL: Final = 13
"""Width of the labels' column."""


def labelled(label: str, lines: Sequence[str], indent: str = "  ") -> list[str]:
    """Lines with a label before the first one; nothing for no lines."""
    return [f"{indent}{label if i == 0 else '':<{LABEL}}{line}" for i, line in enumerate(lines)]


def table(rows: Sequence[Sequence[str]], indent: str = "  ", *, cut: int = 0) -> list[str]:
    """Columns as wide as their widest cell, the last one free; `cut` shortens long cells."""
    shown = [[shortened(cell, cut) if cut else cell for cell in row] for row in rows]
    full = max((len(row) for row in shown), default=0)
    widths = [max((len(row[i]) for row in shown if i < len(row) - 1), default=0) for i in range(full)]
    return [(indent + "  ".join(f"{cell:<{widths[i]}}" for i, cell in enumerate(row))).rstrip() for row in shown]


def shortened(text: str, width: int) -> str:
    """The text, or its beginning with an ellipsis."""
    text = printable(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def finished(lines: Iterable[str]) -> str:
    """The lines as one text: whatever a file holds cannot steer a terminal."""
    return "".join(printable(line).rstrip() + "\n" for line in lines)


def quoted(words: Iterable[str]) -> str:
    """A command line as a shell would take it."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    plain = word and all(c.isalnum() or c in "@%+=:,./-_" for c in word)
    return word if plain else "'" + word.replace("'", "'\"'\"'") + "'"
