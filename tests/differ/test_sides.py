"""The two sides of a comparison: input forms, pairs of objects, profiles and input errors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

import ptcompile
from tests.conftest import GOOD, Case, pair_name
from tests.differ.making import job, pod
from tests.making import smallest
from tests.simulator.test_any_data import JSON
from tests.simulator.worlds import jobset, pod_of, pytorchjob, volcano

SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "a"},
    "spec": {"ports": [{"port": 1}]},
}


def _list(*objects: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


def _titles(a: Any, b: Any) -> list[tuple[str | None, str | None]]:
    return [(one.before, one.after) for one in ptcompile.diff(a, b).objects]


PAIRED: list[tuple[Any, Any, list[tuple[str | None, str | None]]]] = [
    (_list(SERVICE, job()), _list(job(), SERVICE), [("Job/a", "Job/a"), ("Service/a", "Service/a")]),
    (_list(job(), SERVICE), job(), [("Job/a", "Job/a"), ("Service/a", None)]),
    (job(), _list(SERVICE, job()), [("Job/a", "Job/a"), (None, "Service/a")]),
    (job(name="a"), job(name="b"), [("Job/a", "Job/b")]),
    (job(name="a"), _list(job(name="b"), job(name="c")), [("Job/a", None), (None, "Job/b"), (None, "Job/c")]),
    (_list(job(name="a"), job(name="b")), _list(job(name="b"), job(name="a")),
     [("Job/a", "Job/a"), ("Job/b", "Job/b")]),
    (job(), pytorchjob(), [("Job/a", "PyTorchJob/llama")]),
    (pod(), SERVICE, [("Pod/a", None), (None, "Service/a")]),
    ({**job(), "metadata": {"name": "a", "namespace": "x"}}, job(), [("Job/a", "Job/a")]),
    (_list(pod(), pod()), pod(), [("Pod/a", "Pod/a"), ("Pod/a", None)]),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "titles"), PAIRED, ids=[str(row[2]) for row in PAIRED])
def test_objects_are_paired(a: Any, b: Any, titles: list[tuple[str | None, str | None]]) -> None:
    assert _titles(a, b) == titles


def test_a_new_version_of_a_kind_is_a_change() -> None:
    old = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a"},
    }
    (difference,) = ptcompile.diff(
        old, {**old, "apiVersion": "trainer.kubeflow.org/v1beta1"}
    ).objects
    assert [change.path for change in difference.changes] == [("apiVersion",)]


@pytest.mark.parametrize("target", ["job", "pytorchjob", "volcano", "jobset"])
def test_a_spec_without_target_is_compiled_for_the_other_side(target: str) -> None:
    spec = smallest("nodes: 2")
    manifests = ptcompile.compile(spec, target=target).yaml()
    assert not ptcompile.diff(spec, manifests).differs
    assert not ptcompile.diff(manifests, spec).differs
    assert ptcompile.diff(smallest("nodes: 2\ntarget: job"), manifests).differs == (target != "job")
    assert ptcompile.diff(spec, manifests, target="trainjob").differs


def test_one_spec_differs_under_two_profiles() -> None:
    spec = smallest("resources: {gpu: 1}")
    profile = {
        "kind": "ClusterProfile",
        "spec": {"gpu": {"resourceName": "amd.com/gpu", "tolerations": []}},
    }
    (change,) = ptcompile.diff(spec, spec, to_cluster=profile).objects
    assert ("job", "amd.com/gpu in all", None, "1") in [tuple(fact)[:4] for fact in change.facts]
    assert ("rank 0", "node", "may be tainted nvidia.com/gpu=*:NoSchedule", None) in [
        tuple(f)[:4] for f in change.facts
    ]


def test_one_manifest_differs_under_two_versions() -> None:
    """training-operator 1.6 does not set PET_* variables, so the pods differ although the file is the same.

    Source: docs/facts/training-operator.md#what-releases-changed.
    """
    old, new = (
        {"kind": "ClusterProfile", "spec": {"versions": {"trainingOperator": v}}}
        for v in ("1.6", "1.9")
    )
    (change,) = ptcompile.diff(pytorchjob(), pytorchjob(), from_cluster=old, to_cluster=new).objects
    assert change.changes == ()
    assert ("env PET_NNODES", None, "4") in [
        (fact.what, fact.before, fact.after) for fact in change.facts
    ]


WRONG: list[tuple[Any, Any, dict[str, Any], str]] = [
    ("a: [", pod(), {}, "yaml-syntax"),
    (pod(), "a: [", {}, "yaml-syntax"),
    ("", pod(), {}, "no-documents"),
    (_list(1), pod(), {}, "not-a-mapping"),
    (smallest("nods: 1"), pod(), {}, "spec-unknown-field"),
    (smallest(), pod(), {"target": "slurm"}, "unknown-target"),
    (pod(), pod(), {"from_cluster": "kind: ClusterProfile\nspec: {gpus: 1}"}, "spec-unknown-field"),
    (pod(), pod(), {"to_cluster": ""}, "no-documents"),
]


@pytest.mark.parametrize(
    ("a", "b", "options", "name"), WRONG, ids=[f"{row[3]}-{i}" for i, row in enumerate(WRONG)]
)
def test_input_errors_are_reported_and_nothing_is_compared(
    a: Any, b: Any, options: dict[str, Any], name: str
) -> None:
    difference = ptcompile.diff(a, b, **options)
    assert [diagnostic.name for diagnostic in difference.diagnostics] == [name]
    assert not difference.ok
    assert difference.objects == ()


def test_a_finding_has_its_file_and_line() -> None:
    (diagnostic,) = ptcompile.diff(
        pod(), smallest("nods: 1"), filenames=("a.yaml", "b.yaml")
    ).diagnostics
    assert (diagnostic.filename, diagnostic.span and diagnostic.span.line) == ("b.yaml", 7)


@pytest.mark.parametrize(("case", "other"), [*pairwise(GOOD)], ids=pair_name)
def test_the_reverse_comparison_mirrors_the_changes(case: Case, other: Case) -> None:
    """Additions become removals, for each pair of adjacent goldens."""
    there, back = ptcompile.diff(case.spec, other.spec), ptcompile.diff(other.spec, case.spec)
    turned = {"added": "removed", "removed": "added"}
    seen = {
        (change.path, turned.get(change.kind, change.kind), str(change.after), str(change.before))
        for compared in there.objects
        for change in compared.changes
        if not change.path[-1].startswith("[")  # indexes into plain lists depend on the direction
    }
    assert seen == {
        (change.path, change.kind, str(change.before), str(change.after))
        for compared in back.objects
        for change in compared.changes
        if not change.path[-1].startswith("[")
    }


def _everything(a: Any, b: Any) -> None:
    difference = ptcompile.diff(a, b)
    difference.text()
    difference.markdown()
    difference.to_dict()


@given(st.sampled_from([pytorchjob(), volcano(), jobset(["torchrun"]), pod_of({})]), st.data())
def test_any_data_is_accepted(manifest: dict[str, Any], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(["spec", "metadata", "kind", "apiVersion"]))
    _everything(manifest, {**manifest, key: data.draw(JSON)})
    inner = data.draw(st.sampled_from(sorted(manifest["spec"])))
    _everything({**manifest, "spec": {**manifest["spec"], inner: data.draw(JSON)}}, manifest)


@given(JSON, JSON)
def test_any_two_objects_are_accepted(a: Any, b: Any) -> None:
    _everything({"kind": "X", "metadata": a}, {"kind": "X", "metadata": b})
