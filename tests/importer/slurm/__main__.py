"""Writes what each script is imported as again: `python -m tests.importer.slurm`; review the difference."""

from tests.importer.slurm.recorded import SCRIPTS, imported

for script in SCRIPTS:
    script.with_suffix(".txt").write_text(imported(script), encoding="utf-8")
