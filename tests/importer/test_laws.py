"""The laws of import: compiled manifests import to a spec, and that spec compiles to equivalent manifests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings

import ptcompile
from ptcompile.operators.targets import TARGETS
from ptcompile.source.emitter import emit_all
from tests.conftest import ABLE, Case, pair_name, thinned
from tests.strategies import specs

Json = dict[str, Any]


def _with_role(**words: Any) -> Json:
    """Return a one-node job with a role that differs from it only in the container's name."""
    job = {"image": "i", "roles": {"ps": {"restartPolicy": "Never"}}, **words}
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": job,
    }


def comes_back(
    spec: Any, target: str, cluster: Any = None
) -> tuple[ptcompile.Result, ptcompile.Imported] | None:
    """Return the compiled manifests and their import, or None if the target rejects the spec."""
    made = ptcompile.compile(spec, target=target, cluster=cluster)
    if not made.ok or not made.manifests:
        return None
    return made, ptcompile.import_manifests(made.yaml(), cluster=cluster)


def assert_same(
    made: ptcompile.Result, imported: ptcompile.Imported, target: str, cluster: Any = None
) -> ptcompile.Result:
    """Assert that the imported spec is equivalent to the manifests, and return its compilation."""
    assert [diagnostic.message for diagnostic in imported.diagnostics] == []
    assert [(one.same_world, one.same_manifest) for one in imported.found] == [(True, True)]
    again = ptcompile.compile(imported.yaml(), cluster=cluster)
    whole = emit_all(
        [*imported.kept, *again.manifests]
    )  # objects without a spec are applied unchanged
    difference = ptcompile.diff(made.yaml(), whole, from_cluster=cluster, to_cluster=cluster)
    assert not difference.differs, difference.text()
    assert imported.target == target
    return again


@pytest.mark.parametrize(("case", "target"), thinned(ABLE, 7), ids=pair_name)
def test_compiled_goldens_import_to_the_same_spec(case: Case, target: str) -> None:
    returned = comes_back(case.spec, target, case.cluster)
    if returned is None:
        return
    made, imported = returned
    compiled = assert_same(made, imported, target, case.cluster)
    assert "manifest" not in imported.specs[0]["spec"], "what compile wrote was said in words"
    again = ptcompile.import_manifests(compiled.yaml(), cluster=case.cluster)
    assert again.specs == imported.specs, "import's own output is a fixed point"


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=8)
@given(spec=specs())
@example(spec=_with_role())
@example(spec=_with_role(env={"X_WHERE": "$(PS_HOSTS)"}))
@example(spec=_with_role(script="train.py", elastic={}))
def test_any_compiled_spec_imports_to_the_same_spec(target: str, spec: Json) -> None:
    imported = comes_back(spec, target)
    if imported is not None:
        assert_same(*imported, target)


def test_master_and_worker_are_recognized_if_their_containers_have_different_names() -> None:
    spec = {
        "image": "i",
        "command": ["python", "train.py"],
        "master": {},
        "worker": {"replicas": 2},
    }
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": spec,
    }
    manifests = ptcompile.compile(document, target="jobset").yaml()
    master, name, worker = manifests.rpartition("- name: pytorch")
    assert name
    (imported,) = ptcompile.import_manifests(f"{master}- name: train{worker}").specs
    assert imported["spec"].keys() >= {"master", "worker"}
    assert "roles" not in imported["spec"]
