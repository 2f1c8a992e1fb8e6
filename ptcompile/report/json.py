"""For programs: one JSON object, the findings under `diagnostics`; `version` changes when a field does."""

from __future__ import annotations

import json as _json
from collections.abc import Mapping, Sequence

from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.report.common import in_order

VERSION = 1


def json(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """The report as JSON, ASCII only, so that nothing in it can steer a terminal."""
    report = {"version": VERSION, "diagnostics": [d.to_dict() for d in in_order(diagnostics)]}
    return _json.dumps(report, indent=2) + "\n"
