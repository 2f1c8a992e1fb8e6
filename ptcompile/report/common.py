"""What the formats for people share: where a finding is, the order of findings, harmless text."""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile.findings.diagnostics import Diagnostic

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


def place(diagnostic: Diagnostic) -> str:
    """`file:line:column`, as far as it is known."""
    where = printable(diagnostic.filename or "<input>")
    if diagnostic.span is not None:
        where += f":{diagnostic.span.line}:{diagnostic.span.column}"
    return where


def when(diagnostic: Diagnostic) -> str:
    """When it would have failed, in words."""
    if (diagnostic.stage, diagnostic.authority) == ("apply", "ptcompile"):
        return "it does not compile" if diagnostic.severity == "error" else "it compiles"
    return _WHEN[diagnostic.stage]


def printable(text: str) -> str:
    """The text with control characters and direction marks shown as escapes: a file cannot steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
