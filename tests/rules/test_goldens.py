"""What we write ourselves is what our rules ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile

GOLDEN = Path(__file__).parents[2] / "golden"
MANIFESTS = sorted(
    path.relative_to(GOLDEN).as_posix()
    for path in GOLDEN.glob("*/*.yaml")
    if path.name not in ("spec.yaml", "cluster.yaml")
)
MEANT: dict[str, set[str]] = {
    **{
        f"many-processes-auto/{target}.yaml": {"host-core-processes"}
        for target in ("job", "jobset", "pytorchjob", "trainjob", "volcano")
    },
}
"""Findings on a golden manifest that its spec asked for, by file."""


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_golden_manifest_is_clean(name: str) -> None:
    found = ptcompile.lint((GOLDEN / name).read_text())
    assert {d.name for d in found.diagnostics} == MEANT.get(name, set())
