"""One line a finding: `file:line:column: severity code name: message`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.report.common import in_order, place, printable


def concise(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """One line a finding, each ending in a line feed."""
    return "".join(
        f"{place(d)}: {d.severity} {d.code} {d.name}: {printable(d.message)}\n" for d in in_order(diagnostics)
    )
