"""What judging one file gave, as far as a report needs it: small enough to be sent between processes, or kept."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ptcompile.findings.diagnostics import Diagnostic, Fix, Span


class Judged(NamedTuple):
    """The findings of one file, and what is counted."""

    diagnostics: tuple[Diagnostic, ...]
    """Of a fix they have the title, and not the edits."""
    documents: int
    unchecked: tuple[str, ...]
    """The documents of unknown kinds, as `Kind/name`."""
    meant: int
    """Findings that comments in the file say are meant."""
    lines: Mapping[int, str]
    """The lines that a report in full shows, secrets masked, by number; none for the other formats."""

    def encoded(self, filename: str) -> list[Any] | None:
        """As JSON without the file's name; None where something in it would not come back as it is."""
        if any(one.filename != filename for one in self.diagnostics):
            return None
        found = [_encoded(one) for one in self.diagnostics]
        return [found, self.documents, self.unchecked, self.meant, list(self.lines.items())]


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
