"""What judging a file gave as JSON, and back."""

from __future__ import annotations

from ptcompile.cli.many import Judged
from ptcompile.findings.diagnostics import Diagnostic, Fix, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def encoded(one: Judged, filename: str) -> list[Any] | None:
    """As JSON without the file's name; None where something in it would not come back as it is."""
    if any(each.filename != filename for each in one.diagnostics):
        return None
    return [[*map(_encoded, one.diagnostics)], one.documents, one.unchecked, one.meant, [*one.lines.items()]]


def decoded(told: Any, filename: str) -> Judged:
    """What `encoded` wrote. Raises ValueError, TypeError, IndexError or AttributeError for anything else."""
    found, documents, unchecked, meant, lines = told
    if not isinstance(documents, int) or not isinstance(meant, int):
        raise TypeError("counts are numbers")
    diagnostics = tuple(_decoded(one, filename) for one in found)
    return Judged(diagnostics, documents, tuple(map(_text, unchecked)), meant, {int(n): _text(one) for n, one in lines})


def _encoded(one: Diagnostic) -> list[Any]:
    return [*one._replace(filename=None, fix=None), one.fix and (one.fix.title, one.fix.safe)]


def _decoded(told: Any, filename: str) -> Diagnostic:
    *fields, fix = told
    one = Diagnostic(*fields)
    _text(one.message)
    return one._replace(
        path=tuple(one.path),
        span=one.span and Span(*one.span),
        filename=filename,
        fix=fix and Fix(_text(fix[0]), (), bool(fix[1])),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value
