"""Exclusive placement of Jobs (docs/facts/jobset.md#exclusive-placement)."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.operators.jobset.placement import placement_notes
from tests.operators.making import Json, jobset, replicated

EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
NODE_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"
LABEL = "cloud.google.com/gke-nodepool"
NAMES = {"unusable-exclusive-topology", "unread-exclusive-topology"}


def annotated(annotations: dict[str, str], **job: Any) -> Json:
    manifest = jobset(replicated("w", replicas=2, pods=2, job=job))
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def found(manifest: Json) -> list[tuple[str, str]]:
    diagnostics = ptcompile.lint(manifest).diagnostics
    return [(d.name, ".".join(map(str, d.path))) for d in diagnostics if d.name in NAMES]


def of_replicated_job(annotations: dict[str, str]) -> Json:
    manifest = jobset(replicated("w", replicas=2, pods=2))
    template = manifest["spec"]["replicatedJobs"][0]["template"]
    template["metadata"] = {"annotations": annotations}
    return manifest


@pytest.mark.parametrize(
    ("annotations", "job", "expected"),
    [
        ({EXCLUSIVE: LABEL}, {}, []),
        ({EXCLUSIVE: "rack"}, {}, []),
        ({EXCLUSIVE: LABEL, NODE_SELECTOR: "true"}, {}, []),
        ({EXCLUSIVE: ""}, {}, [("unusable-exclusive-topology", f"metadata.annotations.{EXCLUSIVE}")]),
        ({EXCLUSIVE: "a b"}, {}, [("unusable-exclusive-topology", f"metadata.annotations.{EXCLUSIVE}")]),
        (
            {EXCLUSIVE: LABEL},
            {"completionMode": "NonIndexed"},
            [("unusable-exclusive-topology", "spec.replicatedJobs.0.template.spec.completionMode")],
        ),
        ({EXCLUSIVE: LABEL, NODE_SELECTOR: "true"}, {"completionMode": "NonIndexed"}, []),
        ({NODE_SELECTOR: "true"}, {}, [("unread-exclusive-topology", f"metadata.annotations.{NODE_SELECTOR}")]),
        (
            {"jobset.sigs.k8s.io/exclusive-topology": LABEL},
            {},
            [("unread-exclusive-topology", "metadata.annotations.jobset.sigs.k8s.io/exclusive-topology")],
        ),
        (
            {f"{EXCLUSIVE[:-2]}yg": LABEL},
            {},
            [("unread-exclusive-topology", f"metadata.annotations.{EXCLUSIVE[:-2]}yg")],
        ),
        ({"acme.io/topology": LABEL}, {}, []),
    ],
)
def test_annotations_of_a_jobset(
    annotations: dict[str, str], job: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert found(annotated(annotations, **job)) == expected


def test_annotations_of_a_replicated_job() -> None:
    path = f"spec.replicatedJobs.0.template.metadata.annotations.{EXCLUSIVE}"
    assert found(of_replicated_job({EXCLUSIVE: "a b"})) == [("unusable-exclusive-topology", path)]
    assert found(of_replicated_job({EXCLUSIVE: LABEL})) == []


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (annotated({}), []),
        (
            annotated({EXCLUSIVE: LABEL}),
            [
                f"each Job runs alone in one domain of {LABEL}: its other pods are created when pod 0 has a node, and "
                "go to nodes with the same value"
            ],
        ),
        (
            annotated({EXCLUSIVE: LABEL, NODE_SELECTOR: "true"}),
            [f"each Job runs alone in one domain of {LABEL}: the nodes must be labeled for it"],
        ),
        (
            of_replicated_job({EXCLUSIVE: "rack"}),
            [
                "each Job of w runs alone in one domain of rack: its other pods are created when pod 0 has a node, and "
                "go to nodes with the same value"
            ],
        ),
    ],
)
def test_simulate_says_where_the_jobs_go(manifest: Json, expected: list[str]) -> None:
    assert list(placement_notes(manifest)) == expected
    assert set(expected) <= set(ptcompile.simulate(manifest).to_dict()["jobs"][0]["notes"])


SPEC = {
    "apiVersion": "ptcompile/v1",
    "kind": "TrainingJob",
    "metadata": {"name": "train", "annotations": {EXCLUSIVE: LABEL}},
    "spec": {"image": "ghcr.io/acme/train:1.0", "script": "train.py", "nodes": 2},
}


@pytest.mark.parametrize(("target", "expected"), [("jobset", []), ("job", ["not-carried-over"])])
def test_targets_that_ignore_the_annotation(target: str, expected: list[str]) -> None:
    result = ptcompile.compile(SPEC, target=target, lint=False)
    named = [d.name for d in result.diagnostics if d.path[:2] == ("metadata", "annotations")]
    assert named == expected


def test_convert_never_loses_the_annotation_in_silence() -> None:
    manifest = ptcompile.compile(SPEC, target="jobset", lint=False).manifests[0]
    result = ptcompile.convert(manifest, target="job")
    assert [d.severity for d in result.diagnostics if EXCLUSIVE in d.message] == ["error"]
    lossy = ptcompile.convert(manifest, target="job", lossy=True)
    assert [d.severity for d in lossy.diagnostics if EXCLUSIVE in d.message] == ["warning"]
