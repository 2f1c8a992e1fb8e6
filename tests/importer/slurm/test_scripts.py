"""Each script of `scripts/` becomes the spec that is recorded beside it; docs/facts/slurm.md says why."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from tests.importer.slurm.recorded import SCRIPTS, imported

REFUSED = {
    "19-submitit", "23-hetjob", "27-torchrun-in-every-task", "54-ray", "55-mpirun", "58-packed", "66-python-batch",
    "67-submits", "72-submits-here-documents", "73-server-and-trainer",
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_import_is_the_recorded_one(script: Path) -> None:
    """After a change that is meant: python -m tests.importer.slurm."""
    assert imported(script) == script.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_spec_compiles_with_an_image_unless_the_script_is_refused(script: Path) -> None:
    result = ptcompile.import_manifests(script.read_text(encoding="utf-8"), filename=script.name)
    assert result.ok == (script.stem not in REFUSED)
    assert bool(result.specs) == result.ok
    for document in result.specs:
        spec = {**document, "spec": {"image": "ghcr.io/acme/train:1.0", **document["spec"]}}
        compiled = ptcompile.compile(spec, lint=False)
        assert [
            finding.message for finding in compiled.diagnostics if finding.severity == "error"
        ] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_each_finding_has_a_line(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    for finding in ptcompile.import_manifests(text, filename=script.name).diagnostics:
        assert finding.span is not None
        assert 1 <= finding.span.line <= text.count("\n") + 1
