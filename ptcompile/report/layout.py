"""What all text for people shares: order, places, harmless text, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile.diagnostics import Diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_WHEN = {
    "apply": "rejected when it is created",
    "pod": "accepted, but its pods are rejected",
    "run": "fails at run time",
    "style": "it works",
}


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file as given, then by position; findings without one first."""
    found = list(diagnostics)
    files = {name: i for i, name in reversed(list(enumerate(d.filename for d in found)))}
    return sorted(found, key=lambda d: (files[d.filename], d.span or (0,), d.document, d.code))


def format_location(diagnostic: Diagnostic) -> str:
    """`file:line:column`, as far as it is known."""
    where = printable(diagnostic.filename or "<input>")
    if diagnostic.span is not None:
        where += f":{diagnostic.span.line}:{diagnostic.span.column}"
    return where


def consequence(diagnostic: Diagnostic) -> str:
    """When it would have failed, in words."""
    if (diagnostic.stage, diagnostic.authority) == ("apply", "ptcompile"):
        return "it does not compile" if diagnostic.severity == "error" else "it compiles"
    return _WHEN[diagnostic.stage]


def printable(text: str) -> str:
    """The text with control characters and direction marks shown as escapes: a file cannot steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


LABEL: Final = 13
"""Width of the labels' column."""


def with_label(label: str, lines: Sequence[str], indent: str = "  ") -> list[str]:
    """Lines with a label before the first one; nothing for no lines."""
    return [f"{indent}{label if i == 0 else '':<{LABEL}}{line}" for i, line in enumerate(lines)]


def table(rows: Sequence[Sequence[str]], indent: str = "  ", *, cut: int = 0) -> list[str]:
    """Columns as wide as their widest cell, the last one free; `cut` shortens long cells."""
    shown = [[shorten(cell, cut) if cut else cell for cell in row] for row in rows]
    full = max((len(row) for row in shown), default=0)
    widths = [max((len(row[i]) for row in shown if i < len(row) - 1), default=0) for i in range(full)]
    return [(indent + "  ".join(f"{cell:<{widths[i]}}" for i, cell in enumerate(row))).rstrip() for row in shown]


def shorten(text: str, width: int) -> str:
    """The text, or its beginning with an ellipsis."""
    text = printable(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def join_printable(lines: Iterable[str]) -> str:
    """The lines as one text: whatever a file holds cannot steer a terminal."""
    return "".join(printable(line).rstrip() + "\n" for line in lines)


def shell_quote(words: Iterable[str]) -> str:
    """A command line as a shell would take it."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    plain = word and all(c.isalnum() or c in "@%+=:,./-_" for c in word)
    return word if plain else "'" + word.replace("'", "'\"'\"'") + "'"
