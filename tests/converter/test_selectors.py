"""Selectors of the old pods select the same new ones, or are reported."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kubernetes.selectors import selects
from tests.converter.jobs import Json, pytorchjob, stream

ALL = {"training.kubeflow.org/job-name": "p"}
FIRST = {**ALL, "training.kubeflow.org/replica-type": "master"}
TARGETS = ["jobset", "trainjob", "job", "volcano"]


def policy(selector: Json) -> Json:
    spec = {"podSelector": selector, "policyTypes": ["Egress"], "egress": [{}]}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "peers"},
        "spec": spec,
    }


def budget(selector: Json) -> Json:
    spec = {"minAvailable": 1, "selector": selector}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": spec,
    }


def service(selector: Json) -> Json:
    spec = {"selector": selector, "ports": [{"port": 6006}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "tb"}, "spec": spec}


def ranks(selector: Json, manifests: Any) -> list[int]:
    pods = ptcompile.simulate(list(manifests)).pods
    return [rank for rank, pod in enumerate(pods) if selects(selector, pod.view.labels)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("labels", "wanted"), [(ALL, [0, 1, 2]), (FIRST, [0])], ids=["all", "first"]
)
def test_objects_select_the_same_pods(target: str, labels: Json, wanted: list[int]) -> None:
    objects = (policy({"matchLabels": labels}), budget({"matchLabels": labels}), service(labels))
    result = ptcompile.convert(stream(*objects, pytorchjob()), target=target)
    assert result.ok, result.diagnostics
    network, disruptions, dashboard = result.manifests[:3]
    own_labels = {"matchLabels": dashboard["spec"]["selector"]}
    selectors = network["spec"]["podSelector"], disruptions["spec"]["selector"], own_labels
    assert [ranks(selector, result.manifests[3:]) for selector in selectors] == [wanted] * 3
    notes = [
        item.message
        for item in result.diagnostics
        if item.severity == "note" and "becomes" in item.message
    ]
    assert [text.split(": ")[1] for text in notes] == [
        "NetworkPolicy/peers",
        "PodDisruptionBudget/b",
        "Service/tb",
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_affinity_between_the_job_s_pods_is_kept(target: str) -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": ALL}}
    pod = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    result = ptcompile.convert(pytorchjob(pod), target=target)
    assert result.ok, result.diagnostics
    assert "training.kubeflow.org" not in result.yaml()
    assert "requiredDuringSchedulingIgnoredDuringExecution" in result.yaml()


def test_expressions_are_read() -> None:
    key = "training.kubeflow.org/replica-type"
    both = {
        "matchLabels": ALL,
        "matchExpressions": [{"key": key, "operator": "In", "values": ["master", "worker"]}],
    }
    result = ptcompile.convert(stream(policy(both), pytorchjob()), target="jobset")
    assert result.manifests[0]["spec"]["podSelector"] == {
        "matchLabels": {"jobset.sigs.k8s.io/jobset-name": "p"}
    }


def test_a_selection_that_no_labels_make_is_an_error() -> None:
    workers = {"matchLabels": {**ALL, "training.kubeflow.org/replica-type": "worker"}}
    strict, lossy = (
        ptcompile.convert(stream(policy(workers), pytorchjob()), target="jobset", lossy=lossy)
        for lossy in (False, True)
    )
    text = "NetworkPolicy/peers: spec.podSelector: no labels of the converted pods select what"
    assert [item.severity for item in strict.diagnostics if text in item.message] == ["error"]
    assert [item.severity for item in lossy.diagnostics if text in item.message] == ["warning"]
    assert "JobSet" not in [item["kind"] for item in strict.manifests]
    assert lossy.manifests[0]["spec"]["podSelector"] == workers


def test_selectors_by_labels_of_one_s_own_stay() -> None:
    job = pytorchjob()
    for role in ("Master", "Worker"):
        job["spec"]["pytorchReplicaSpecs"][role]["template"]["metadata"] = {"labels": {"app": "x"}}
    selector = {"matchLabels": {"app": "x"}}
    result = ptcompile.convert(stream(policy(selector), job), target="jobset")
    assert result.manifests[0]["spec"]["podSelector"] == selector
    assert not [
        item for item in result.diagnostics if item.severity == "note" and "becomes" in item.message
    ]


def test_selectors_of_other_jobs_stay() -> None:
    other = {"matchLabels": {"training.kubeflow.org/job-name": "other"}}
    result = ptcompile.convert(stream(policy(other), pytorchjob()), target="jobset")
    assert result.manifests[0]["spec"]["podSelector"] == other
