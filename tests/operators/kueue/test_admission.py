"""Objects that Kueue 0.19's webhook rejects on creation: labels, groups of Pods, topology requests."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver import validate
from ptcompile.diagnostics import Path
from ptcompile.linter import run
from tests.linter.rules.launch.making import job, jobset, pod, pytorchjob, role

Json = dict[str, Any]
K = "kueue.x-k8s.io/"
QUEUE = {f"{K}queue-name": "research"}
TOP, PREF = f"{K}podset-required-topology", f"{K}podset-preferred-topology"
SLICE, SIZE = f"{K}podset-slice-required-topology", f"{K}podset-slice-size"
GROUP, TOTAL = f"{K}pod-group-name", f"{K}pod-group-total-count"

POD = pod("python")
JOB = job("python", "t.py")
JOBSET = jobset(role("python", "t.py", pods=2, replicas=2))
PYTORCHJOB = pytorchjob(master=["python", "t.py"], worker=["python", "t.py"], workers=3)
TRAINJOB = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "train"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}
TEMPLATES: dict[str, Path] = {
    "Pod": (),
    "Job": ("spec", "template"),
    "PyTorchJob": ("spec", "pytorchReplicaSpecs", "Worker", "template"),
    "JobSet": ("spec", "replicatedJobs", 0, "template", "spec", "template"),
}


def labelled(manifest: Json, labels: Json | None = None, annotations: Json | None = None) -> Json:
    out = copy.deepcopy(manifest)
    out["metadata"] |= {"labels": labels or {}, "annotations": annotations or {}}
    return out


def near(manifest: Json, annotations: Json) -> Json:
    """Return a copy of the manifest with these annotations in its pod template."""
    out = copy.deepcopy(manifest)
    at: Any = out
    for part in TEMPLATES[out["kind"]]:
        at = at[part]
    at.setdefault("metadata", {})["annotations"] = annotations
    return out


def refused(manifest: Json) -> list[tuple[str, Path]]:
    """Return the name and path of each rejection by Kueue."""
    found = [one for one in validate(manifest) if one.authority == "kueue"]
    assert all((one.severity, one.stage) == ("error", "apply") for one in found)
    return [(one.name, one.path) for one in found]


MPIJOB = {
    "apiVersion": "kubeflow.org/v2beta1",
    "kind": "MPIJob",
    "metadata": {"name": "train"},
    "spec": {"mpiReplicaSpecs": {"Launcher": {"template": JOB["spec"]["template"]}}},
}
ALL = (POD, JOB, PYTORCHJOB, JOBSET, TRAINJOB, MPIJOB)


@pytest.mark.parametrize("manifest", ALL, ids=lambda one: one["kind"])
def test_labels_of_every_supported_kind(manifest: Json) -> None:
    assert refused(manifest) == refused(labelled(manifest, QUEUE)) == []
    bad = {f"{K}queue-name": "My_Queue", f"{K}max-exec-time-seconds": "1h"}
    assert refused(labelled(manifest, bad)) == [
        ("refused-queue-label", ("metadata", "labels", f"{K}queue-name")),
        ("refused-queue-label", ("metadata", "labels", f"{K}max-exec-time-seconds")),
    ]
    assert refused(labelled(manifest, {f"{K}max-exec-time-seconds": "60"})) == []


def test_volcano_jobs_are_not_supported() -> None:
    manifest = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "a"}, "spec": {}}
    assert refused(labelled(manifest, {f"{K}queue-name": "My_Queue"})) == []


GROUPS: list[tuple[Json, Json, Path | None]] = [
    ({GROUP: "g"}, {TOTAL: "2"}, None),
    ({}, {}, None),
    ({GROUP: "g"}, {}, ("metadata", "labels", GROUP)),
    ({}, {TOTAL: "2"}, ("metadata", "annotations", TOTAL)),
    ({GROUP: "g"}, {TOTAL: "0"}, ("metadata", "annotations", TOTAL)),
    ({GROUP: "g"}, {TOTAL: "two"}, ("metadata", "annotations", TOTAL)),
]


@pytest.mark.parametrize(("labels", "annotations", "path"), GROUPS)
def test_pod_groups_need_a_name_and_a_size(labels: Json, annotations: Json, path: Path | None) -> None:
    assert refused(labelled(POD, labels, annotations)) == ([] if path is None else [("unpaired-pod-group", path)])
    assert refused(labelled(JOB, labels, annotations)) == []


TOPOLOGIES: list[tuple[Json, str | None]] = [
    ({TOP: "rack"}, None),
    ({TOP: "rack", PREF: "block"}, PREF),
    ({SLICE: "rack"}, SLICE),
    ({SIZE: "1"}, SIZE),
    ({SLICE: "rack", SIZE: "1"}, None),
    ({SLICE: "rack", SIZE: "0"}, SIZE),
    ({SLICE: "rack", SIZE: "two"}, SIZE),
    ({SLICE: "rack", SIZE: "99"}, SIZE),
]


@pytest.mark.parametrize("manifest", [POD, JOB, PYTORCHJOB, JOBSET], ids=lambda one: one["kind"])
@pytest.mark.parametrize(("annotations", "where"), TOPOLOGIES)
def test_topology_requests(manifest: Json, annotations: Json, where: str | None) -> None:
    path = (*TEMPLATES[manifest["kind"]], "metadata", "annotations", where or "")
    found = [("refused-topology-request", path)] if where else []
    assert refused(near(manifest, annotations)) == found


@pytest.mark.parametrize(
    ("manifest", "pods"), [(POD, 1), (JOB, 2), (PYTORCHJOB, 3), (JOBSET, 4)], ids=["Pod", "Job", "PyTorchJob", "JobSet"]
)
def test_slice_is_at_most_as_large_as_the_pod_set(manifest: Json, pods: int) -> None:
    assert refused(near(manifest, {SLICE: "rack", SIZE: str(pods)})) == []
    assert len(refused(near(manifest, {SLICE: "rack", SIZE: str(pods + 1)}))) == 1


def test_problems_are_those_of_a_webhook() -> None:
    bad = labelled(JOB, {f"{K}queue-name": "My_Queue"})
    assert [d.code for d in ptcompile.lint(bad).diagnostics if d.authority == "kueue"] == ["PTC229"]
    assert [d for d in ptcompile.lint(bad, webhooks=False).diagnostics if d.authority == "kueue"] == []
    assert [d.code for d in ptcompile.lint(bad, select=["PTC3"]).diagnostics if d.authority == "kueue"] == ["PTC229"]
    assert not [one for one in run(bad) if one.name == "refused-queue-label"], "it is no rule"


@pytest.mark.parametrize(
    "value", [None, [], "x", 1, {"labels": 1}, {"labels": {f"{K}queue-name": 5}, "annotations": []}]
)
def test_any_data(value: Any) -> None:
    for manifest in ALL:
        for key in ("metadata", "spec"):
            refused({**manifest, key: value})


def test_slice_size_of_wrong_type_is_rejected_once() -> None:
    """A number where a string is required is the only problem; the annotation is not also reported as missing."""
    job = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  suspend: true
  template:
    metadata:
      annotations:
        kueue.x-k8s.io/podset-slice-required-topology: rack
        kueue.x-k8s.io/podset-slice-size: 1
    spec:
      restartPolicy: Never
      containers: [{name: a, image: "a:1", resources: {requests: {cpu: 1}}}]
"""
    assert [one.name for one in ptcompile.lint(job).diagnostics if one.severity == "error"] == ["wrong-type"]
