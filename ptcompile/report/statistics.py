"""How often each rule was found, the most frequent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ptcompile.findings.diagnostics import Diagnostic


def statistics(diagnostics: Sequence[Diagnostic]) -> str:
    """A line a rule: count, code, name, and whether some of them can be fixed automatically."""
    counts = Counter((d.code, d.name) for d in diagnostics)
    fixable = {d.code for d in diagnostics if d.fix is not None}
    width = len(str(max(counts.values(), default=0)))
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return "".join(
        f"{count:>{width}}  {code} {name}{' [fixable]' if code in fixable else ''}\n" for (code, name), count in rows
    )
