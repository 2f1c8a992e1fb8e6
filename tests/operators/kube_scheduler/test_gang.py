"""Gangs of Kubernetes: what each release and target writes, and what they lack.

Source: docs/facts/gangs.md.
"""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.making import compiled, profile, smallest

GATES = {"GenericWorkload": True, "GangScheduling": True}
ON = {"gangScheduler": "kubernetes", "featureGates": {"kubernetes": GATES}}
ALL_ON = {**GATES, "TopologyAwareWorkloadScheduling": True, "WorkloadAwarePreemption": True}
RACK = {"topology": {"levels": {"rack": {"nodeLabel": "example.com/rack"}, "block": {}}}}


def cluster(release: str, **fields: Any) -> Any:
    return profile({**ON, "versions": {"kubernetes": release}, **fields})


def group(body: str, target: str, made_for: Any) -> dict[str, Any]:
    """Return the only object of scheduling.k8s.io, which precedes the pods that name it."""
    manifests = compiled(smallest(body), target, made_for).manifests
    (manifest,) = [one for one in manifests if one["apiVersion"].startswith("scheduling.k8s.io/")]
    assert manifests.index(manifest) < len(manifests) - 1
    return dict(manifest)


@pytest.mark.parametrize(
    ("release", "version", "disruption"),
    [
        ("1.36", "scheduling.k8s.io/v1alpha2", "PodGroup"),
        ("1.37", "scheduling.k8s.io/v1beta1", {"all": {}}),
    ],
)
@pytest.mark.parametrize("target", ["job", "jobset", "trainjob"])
def test_each_release_has_its_pod_group(
    target: str, release: str, version: str, disruption: Any
) -> None:
    made_for = cluster(release, featureGates={"kubernetes": ALL_ON}, **RACK)
    pod_group = group(
        "nodes: 3\npriorityClassName: high\ntopology: {required: rack}", target, made_for
    )
    assert (pod_group["apiVersion"], pod_group["kind"], pod_group["metadata"]) == (
        version,
        "PodGroup",
        {"name": "train"},
    )
    assert pod_group["spec"] == {
        "schedulingPolicy": {"gang": {"minCount": 3}},
        "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]},
        "priorityClassName": "high",
        "disruptionMode": disruption,
    }


def test_release_1_35_has_a_workload() -> None:
    done = compiled(smallest("nodes: 3\npriorityClassName: high"), "job", cluster("1.35"))
    pod_group = group("nodes: 3\npriorityClassName: high", "job", cluster("1.35"))
    assert (pod_group["apiVersion"], pod_group["kind"]) == (
        "scheduling.k8s.io/v1alpha1",
        "Workload",
    )
    assert pod_group["spec"] == {
        "podGroups": [{"name": "pods", "policy": {"gang": {"minCount": 3}}}]
    }
    pod = done.manifests[-1]["spec"]["template"]["spec"]
    assert pod["workloadRef"] == {"name": "train", "podGroup": "pods"}
    assert "schedulingGroup" not in pod


@pytest.mark.parametrize("target", ["jobset", "trainjob"])
def test_the_pods_of_all_roles_are_members(target: str) -> None:
    body = "elastic: {nnodes: '2:4'}\nroles: {loader: {replicas: 3, command: [serve]}}"
    manifests = compiled(smallest(body), target, cluster("1.37")).manifests
    assert group(body, target, cluster("1.37"))["spec"] == {
        "schedulingPolicy": {"gang": {"minCount": 5}}
    }
    assert str(manifests).count("'schedulingGroup': {'podGroupName': 'train'}") == 2


def test_fields_whose_gate_is_off_are_left_out() -> None:
    """1.36 drops priority and disruption mode without WorkloadAwarePreemption."""
    pod_group = group("nodes: 2\npriorityClassName: high", "job", cluster("1.36"))
    assert pod_group["spec"] == {"schedulingPolicy": {"gang": {"minCount": 2}}}


def test_group_of_the_user_is_kept() -> None:
    body = "nodes: 2\npodTemplate: {spec: {schedulingGroup: {podGroupName: mine}}}"
    (service, job) = compiled(smallest(body), "job", cluster("1.37")).manifests
    assert service["kind"] == "Service"
    assert job["spec"]["template"]["spec"]["schedulingGroup"] == {"podGroupName": "mine"}


@pytest.mark.parametrize(
    ("body", "target", "fields", "expected"),
    [
        ("nodes: 2", "job", {}, []),
        ("nodes: 1", "job", {"versions": {"kubernetes": "1.30"}}, []),  # one pod is no gang
        (
            "nodes: 2",
            "job",
            {"versions": {"kubernetes": "1.34"}},
            ["error: spec: Kubernetes schedules gangs only since 1.35"],
        ),
        (
            "nodes: 2",
            "jobset",
            {"versions": {"kubernetes": "1.35"}},
            ["error: spec: on Kubernetes 1.35, only the pods of a Job"],
        ),
        (
            "nodes: 2",
            "pytorchjob",
            {},
            ["error: spec: a PyTorchJob has the pods of Kubernetes 1.31"],
        ),
        (
            "nodes: 2",
            "volcano",
            {},
            ["warning: spec: Volcano places the pods of its Jobs itself, not Kubernetes"],
        ),
        (
            "nodes: 2",
            "jobset",
            {"versions": {"jobset": "0.11"}},
            ["error: spec: pods of this target can name a PodGroup only"],
        ),
        (
            "nodes: 2",
            "trainjob",
            {"versions": {"trainer": "2.2"}},
            ["error: spec: pods of this target can name a PodGroup only"],
        ),
        (
            "nodes: 2",
            "job",
            {"featureGates": {}},
            ["warning: spec: Kubernetes 1.37 schedules no gangs while the feature gate"],
        ),
        (
            "nodes: 2",
            "job",
            {"featureGates": {}, "versions": {"kubernetes": "1.36"}},
            [
                "warning: spec: Kubernetes 1.36 schedules no gangs while the feature gates GenericWorkload"
            ],
        ),
        (
            "nodes: 2\ntopology: {required: rack}",
            "job",
            RACK,
            ["warning: spec.topology: the API server drops the topology"],
        ),
        (
            "nodes: 2\ntopology: {preferred: rack}",
            "job",
            RACK,
            ["error: spec.topology: kube-scheduler places a group within"],
        ),
        (
            "nodes: 2\ntopology: {required: block}",
            "job",
            RACK,
            ["error: spec.topology: the profile 'default' gives block no"],
        ),
        (
            "nodes: 2\ntopology: {required: rack}",
            "job",
            {**RACK, "versions": {"kubernetes": "1.35"}},
            ["error: spec.topology: groups have a topology only since Kubernetes 1.36"],
        ),
        (
            "master: {priorityClassName: a}\nworker: {replicas: 1}",
            "jobset",
            {},
            ["warning: spec: a PodGroup has one priority, but the roles have different ones"],
        ),
        (
            "nodes: 2\nruntimeRef: {name: mine}",
            "trainjob",
            {},
            ["warning: spec.runtimeRef: the pods of an existing runtime cannot name a PodGroup"],
        ),
    ],
)
def test_a_cluster_must_support_what_the_gang_needs(
    body: str, target: str, fields: dict[str, Any], expected: list[str]
) -> None:
    made_for = profile({**ON, "versions": {"kubernetes": "1.37"}, **fields})
    problems = compiled(smallest(body), target, made_for).problems
    texts = [
        f"{problem.severity}: {problem.message}"
        for problem in problems
        if problem.severity != "note"
    ]
    assert [text[: len(start)] for text, start in zip(texts, expected, strict=True)] == expected


def test_a_queue_of_kueue_places_by_topology() -> None:
    body = "nodes: 2\nqueue: q\ntopology: {required: rack}"
    made_for = cluster("1.37", **RACK)
    assert "schedulingConstraints" not in group(body, "job", made_for)["spec"]
    assert "kueue.x-k8s.io/podset-required-topology" in str(
        compiled(smallest(body), "job", made_for).manifests
    )


def test_a_field_that_a_release_removed_is_unknown() -> None:
    pod = {
        "workloadRef": {"name": "a", "podGroup": "b"},
        "containers": [{"name": "a", "image": "b:1"}],
    }
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": pod}
    (diagnostic,) = [
        finding
        for finding in ptcompile.lint(manifest, kubernetes="1.36").diagnostics
        if finding.severity == "error"
    ]
    assert (
        diagnostic.message
        == "spec.workloadRef: unknown field in Kubernetes 1.36: removed after 1.35"
    )
    assert diagnostic.help == "remove it"
