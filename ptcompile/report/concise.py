"""One line a finding: `file:line:column: severity code name: message (Kind/name)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.report.common import in_order, place, printable


def concise(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """One line a finding, each ending in a line feed."""
    return "".join(f"{_line(d)}\n" for d in in_order(diagnostics))


def _line(one: Diagnostic) -> str:
    resource = f" ({printable(one.resource)})" if one.resource else ""
    return f"{place(one)}: {one.severity} {one.code} {one.name}: {printable(one.message)}{resource}"
