"""What all text for people shares: order, places, harmless text, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile.diagnostics import Diagnostic
from ptcompile.diagnostics.codes import EFFECTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.diagnostics.terms import Effect, Severity, Stage


_STAGES: Final = {
    "apply": ("rejected when it is created", "may be rejected when it is created"),
    "pod": ("accepted, but its pods are rejected", "accepted, but its pods may be rejected"),
}
"""The sentence for an error, which is certain, and that for warnings and notes."""
_COMPILES: Final = ("it does not compile", "it compiles")
"""The same for ptcompile's own files."""
_EFFECTS: Final[dict[Effect, tuple[str, str]]] = {
    "fails": ("fails at run time", "may fail at run time"),
    "waits": ("never starts", "may never start"),
    "endless": ("never ends", "may never end"),
    "apart": ("does not train as one job", "may not train as one job"),
    "differs": ("does not run as intended", "may not run as intended"),
    "wastes": ("wastes resources", "may waste resources"),
    "slows": ("runs slower than it could", "may run slower than it could"),
    "risks": ("puts the job at risk", "puts the job at risk"),
    "exposes": ("is a security risk", "is a security risk"),
    "works": ("it works", "it works"),
    "unchecked": ("is not checked", "is not checked"),
    "unimported": ("cannot be imported", "may not be imported"),
    "unmatched": ("ignores no finding", "ignores no finding"),
}
"""The same for the stages `run` and `style`."""


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
    """Return what the finding leads to and who says so: `fails at run time (kubelet)`, `rule of ptcompile.toml`."""
    owner, authorities = diagnostic.owner, [str(diagnostic.authority)]
    if owner and diagnostic.stage == "style":
        return printable(owner)  # only a convention
    if owner:
        authorities = [*(name for name in authorities if name != "ptcompile"), printable(owner)]
    is_ours = diagnostic.authority == "ptcompile" and not owner
    if diagnostic.stage == "apply" and diagnostic.blocks_compile and is_ours:
        sentence = _COMPILES[0]
    else:
        sentence = outcome(diagnostic.name, diagnostic.severity, diagnostic.stage, is_ours=is_ours)
    return f"{sentence} ({', '.join(authorities)})"


def outcome(name: str, severity: Severity, stage: Stage, *, is_ours: bool = False) -> str:
    """Return what a finding leads to: `may waste resources`. `is_ours`: ptcompile says so, not a cluster."""
    is_uncertain = severity != "error"
    effect = EFFECTS.get(name)
    if stage in _STAGES and not is_ours:
        return _STAGES[stage][is_uncertain]
    if stage == "apply" and effect is None:
        return _COMPILES[is_uncertain]
    return _EFFECTS[effect or ("works" if stage == "style" else "fails")][is_uncertain]


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
