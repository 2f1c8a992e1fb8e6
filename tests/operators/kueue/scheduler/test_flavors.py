"""The choice of flavors: coverage, taints, labels, and what empty queues can never admit."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.kueue.scheduler.admission import EmptyQueues, Verdict
from ptcompile.operators.kueue.scheduler.objects import read_cluster
from ptcompile.operators.kueue.scheduler.workloads import PodSet, TopologyRequest, Workload

Json = dict[str, Any]
GROUP = "kueue.x-k8s.io/v1beta2"


def queue(*, cohort: str = "", flavors: dict[str, Json] | None = None, **quota: int) -> Json:
    """Return a ClusterQueue with a quota for cpu, by default one flavor of 10."""
    rows = flavors or {"f": {"nominalQuota": 10, **quota}}
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": one, "resources": [{"name": "cpu", **row}]} for one, row in rows.items()],
    }
    spec: Json = {"namespaceSelector": {}, "resourceGroups": [group], **({"cohortName": cohort} if cohort else {})}
    return {"apiVersion": GROUP, "kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": spec}


def flavor(**spec: Any) -> Json:
    return {"apiVersion": GROUP, "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": spec}


def pods(name: str, count: int, cpu: int, **spec: Any) -> PodSet:
    return PodSet(name, count, None, spec, {"cpu": cpu * 1000}, {"cpu": cpu * 1000}, TopologyRequest())


def judge(objects: list[Json], *sets: PodSet) -> Verdict:
    local = {"apiVersion": GROUP, "kind": "LocalQueue", "metadata": {"name": "q"}, "spec": {"clusterQueue": "a"}}
    cluster = read_cluster([*objects, local], is_complete=False)
    return EmptyQueues(cluster).judge([Workload("w", "default", "q", 0, sets)])


def test_some_group_must_cover_each_resource() -> None:
    memory = pods("main", 1, 1)._replace(requests={"memory": 1})
    assert judge([queue()], memory).reason == (
        "couldn't assign flavors to pod set main: resource memory unavailable in ClusterQueue"
    )
    assert judge([queue()], memory._replace(requests={"memory": 0})).fits


def test_unknown_settings_may_ignore_some_resources() -> None:
    """Kueue's Configuration excludes or replaces resources of extensions, which no queue covers then."""
    for name, fits in (("example.com/a", True), ("hugepages-2Mi", True), ("nvidia.com/mig-1g.5gb", True)):
        assert judge([queue()], pods("main", 1, 1)._replace(requests={name: 1})).fits is fits
    assert not judge([queue()], pods("main", 1, 1)._replace(requests={"nvidia.com/gpu": 1})).fits


def test_a_pod_set_gets_one_flavor() -> None:
    two = queue(flavors={"f": {"nominalQuota": 8}, "g": {"nominalQuota": 8}})
    assert judge([two], pods("main", 1, 8)).fits
    assert not judge([two], pods("main", 2, 8)).fits
    assert judge([two], pods("one", 1, 8), pods("two", 1, 8)).fits
    assert not judge([two], pods("one", 1, 8), pods("two", 1, 8), pods("three", 1, 1)).fits


def test_other_flavors_are_tried_if_a_later_pod_set_does_not_fit() -> None:
    two = queue(flavors={"f": {"nominalQuota": 4}, "g": {"nominalQuota": 2}})
    assert judge([two], pods("one", 2, 1), pods("two", 4, 1)).fits


def test_a_shortage_is_uncertain_in_a_cohort_and_certain_with_a_limit() -> None:
    wide = pods("main", 1, 30)
    assert judge([queue()], wide).is_certain
    assert judge([queue(cohort="c", borrowingLimit=5)], wide).is_certain
    assert not judge([queue(cohort="c")], wide).is_certain


TAINT = {"key": "gpu", "value": "x", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("spec", "pod", "fits"),
    [
        ({"nodeLabels": {"a": "b"}}, {"nodeSelector": {"a": "c"}}, False),
        ({"nodeLabels": {"a": "b"}}, {"nodeSelector": {"other": "c"}}, True),
        ({"nodeTaints": [TAINT]}, {}, False),
        ({"nodeTaints": [TAINT]}, {"tolerations": [{"key": "gpu", "operator": "Exists"}]}, True),
        ({"nodeTaints": [TAINT], "tolerations": [{"key": "gpu", "value": "x"}]}, {}, True),
        ({"nodeTaints": [{**TAINT, "effect": "PreferNoSchedule"}]}, {}, True),
    ],
)
def test_a_flavor_must_suit_the_pods(spec: Json, pod: Json, fits: bool) -> None:
    assert judge([queue(), flavor(**spec)], pods("main", 1, 1, **pod)).fits == fits


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["b"], True),
        ("In", ["c"], False),
        ("NotIn", ["b"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_required_affinity_counts_for_the_labels_of_the_flavor(operator: str, values: list[str], fits: bool) -> None:
    def pod(key: str) -> Json:
        term = {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        return {"affinity": {"nodeAffinity": required}}

    labelled = flavor(nodeLabels={"a": "b"})
    assert judge([queue(), labelled], pods("main", 1, 1, **pod("a"))).fits == fits
    assert judge([queue(), labelled], pods("main", 1, 1, **pod("other"))).fits
