"""What the scripts of this folder are imported as: the specs, then the findings with their lines."""

from __future__ import annotations

from pathlib import Path

import ptcompile

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.sbatch"))


def imported(script: Path) -> str:
    """Return the import of a script as text."""
    result = ptcompile.import_manifests(script.read_text(encoding="utf-8"), filename=script.name)
    findings = [
        f"{finding.span.line if finding.span else 0}: {finding.severity} {finding.code} {finding.message}\n"
        f"    {finding.help}\n"
        for finding in result.diagnostics
    ]
    return f"{result.yaml()}---\n{''.join(findings)}"
