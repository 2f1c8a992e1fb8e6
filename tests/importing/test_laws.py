"""The laws of import: what compile writes comes back as the spec, and means the same when it is compiled again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import ptcompile
from ptcompile.documents.emit import emit_all
from ptcompile.operators.targets import TARGETS
from tests.conftest import PAIRS, Case, pair_name, thinned
from tests.strategies import specs

Json = dict[str, Any]


def comes_back(spec: Any, target: str, cluster: Any = None) -> tuple[ptcompile.Result, ptcompile.Imported] | None:
    """What a spec compiles to, and what that imports to; None where the target refuses the spec."""
    made = ptcompile.compile(spec, target=target, cluster=cluster)
    if not made.ok or not made.manifests:
        return None
    return made, ptcompile.import_manifests(made.yaml(), cluster=cluster)


def assert_same(
    made: ptcompile.Result, imported: ptcompile.Imported, target: str, cluster: Any = None
) -> ptcompile.Result:
    """What was imported means what it was made from. Returns what it compiles to."""
    assert [one.message for one in imported.diagnostics] == []
    assert [(one.same_world, one.same_manifest) for one in imported.found] == [(True, True)]
    again = ptcompile.compile(imported.yaml(), cluster=cluster)
    whole = emit_all([*imported.kept, *again.manifests])  # what no spec stands for is applied as it is
    difference = ptcompile.diff(made.yaml(), whole, from_cluster=cluster, to_cluster=cluster)
    assert not difference.differs, difference.text()
    assert imported.target == target
    return again


@pytest.mark.parametrize(("case", "target"), thinned(PAIRS, 7), ids=pair_name)
def test_what_a_golden_compiles_to_imports_to_the_same(case: Case, target: str) -> None:
    found = comes_back(case.spec, target, case.cluster)
    if found is None:
        return
    made, imported = found
    compiled = assert_same(made, imported, target, case.cluster)
    assert "manifest" not in imported.specs[0]["spec"], "what compile wrote was said in words"
    again = ptcompile.import_manifests(compiled.yaml(), cluster=case.cluster)
    assert again.specs == imported.specs, "import's own output is a fixed point"


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=8)
@given(spec=specs())
def test_what_any_spec_compiles_to_imports_to_the_same(target: str, spec: Json) -> None:
    found = comes_back(spec, target)
    if found is not None:
        assert_same(*found, target)
