"""The choice of flavors: coverage, taints, labels, and what empty queues can never admit."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.kueue.scheduler.admission import EmptyQueues, Verdict
from ptcompile.operators.kueue.scheduler.flavors import (
    Assignment,
    Fit,
    QuotaFit,
    _is_better,
    assign,
    next_flavor,
)
from ptcompile.operators.kueue.scheduler.objects import FlavorResource, read_cluster
from ptcompile.operators.kueue.scheduler.state import Reservation
from ptcompile.operators.kueue.scheduler.workloads import PodSet, TopologyRequest, Workload
from tests.operators.kueue.scheduler.upstream import (
    GROUP,
    Case,
    case_name,
    cases,
    read_usage,
    topology_objects,
    topology_request,
)

Json = dict[str, Any]


def queue(*, cohort: str = "", flavors: dict[str, Json] | None = None, **quota: int) -> Json:
    """Return a ClusterQueue with a quota for cpu, by default one flavor of 10."""
    rows = flavors or {"f": {"nominalQuota": 10, **quota}}
    group = {
        "coveredResources": ["cpu"],
        "flavors": [
            {"name": one, "resources": [{"name": "cpu", **row}]} for one, row in rows.items()
        ],
    }
    spec: Json = {
        "namespaceSelector": {},
        "resourceGroups": [group],
        **({"cohortName": cohort} if cohort else {}),
    }
    return {"apiVersion": GROUP, "kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": spec}


def flavor(**spec: Any) -> Json:
    return {"apiVersion": GROUP, "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": spec}


def pods(name: str, count: int, cpu: int, **spec: Any) -> PodSet:
    return PodSet(
        name, count, None, spec, {"cpu": cpu * 1000}, {"cpu": cpu * 1000}, TopologyRequest()
    )


def judge(objects: list[Json], *sets: PodSet) -> Verdict:
    local = {
        "apiVersion": GROUP,
        "kind": "LocalQueue",
        "metadata": {"name": "q"},
        "spec": {"clusterQueue": "a"},
    }
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
    for name, fits in (
        ("example.com/a", True),
        ("hugepages-2Mi", True),
        ("nvidia.com/mig-1g.5gb", True),
    ):
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
ABOVE_500 = {"key": "gpu", "operator": "Gt", "value": "500"}


@pytest.mark.parametrize(
    ("spec", "pod", "fits"),
    [
        ({"nodeLabels": {"a": "b"}}, {"nodeSelector": {"a": "c"}}, False),
        ({"nodeLabels": {"a": "b"}}, {"nodeSelector": {"other": "c"}}, True),
        ({"nodeTaints": [TAINT]}, {}, False),
        ({"nodeTaints": [TAINT]}, {"tolerations": [{"key": "gpu", "operator": "Exists"}]}, True),
        ({"nodeTaints": [TAINT], "tolerations": [{"key": "gpu", "value": "x"}]}, {}, True),
        ({"nodeTaints": [{**TAINT, "effect": "PreferNoSchedule"}]}, {}, True),
        ({"nodeTaints": [{**TAINT, "value": "900"}]}, {"tolerations": [ABOVE_500]}, True),
        ({"nodeTaints": [{**TAINT, "value": "400"}]}, {"tolerations": [ABOVE_500]}, False),
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
def test_required_affinity_counts_for_the_labels_of_the_flavor(
    operator: str, values: list[str], fits: bool
) -> None:
    def pod(key: str) -> Json:
        term = {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        return {"affinity": {"nodeAffinity": required}}

    labelled = flavor(nodeLabels={"a": "b"})
    assert judge([queue(), labelled], pods("main", 1, 1, **pod("a"))).fits == fits
    assert judge([queue(), labelled], pods("main", 1, 1, **pod("other"))).fits


def assigned(case: Case) -> Assignment:
    """Return what the pods of a case would get in test-clusterqueue, with the oracle of the case."""
    values = case.values
    queues = {"test-clusterqueue": values["queue"], "secondary": values.get("secondary", {})}
    objects = [
        {"apiVersion": GROUP, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}
        for name, spec in values["flavors"].items()
    ]
    objects += topology_objects(values.get("topologies", {}), values)
    cohorts = values.get("cohorts", {})
    case = Case(case.name, {"queues": queues, "cohorts": cohorts, "objects": objects})
    state = case.state(values.get("configuration"))
    for queue, used in (
        ("test-clusterqueue", values.get("used", "")),
        ("secondary", values.get("lent", "")),
    ):
        other = Workload(queue, "default", "", 0, ())
        other.cluster_queue = queue
        state.add(Reservation(other, read_usage(used.split()), {}))

    def simulate(_workload: Workload, key: FlavorResource, _amount: int) -> QuotaFit:
        fit, borrowing = values.get("simulated", {}).get(":".join(key), ("PREEMPT", 0))
        return QuotaFit(Fit[fit], borrowing)

    workload = Workload(
        "test", "default", "", 0, [read_pod_set(text, values) for text in values["pods"]]
    )
    workload.cluster_queue = "test-clusterqueue"
    return assign(workload, state, simulate, ())


def read_pod_set(text: str, values: Json) -> PodSet:
    """Return a pod set that is written "name count requests of a pod"."""
    name, count, *words = text.split()
    requests = {resource: amount for (_, resource), amount in read_usage(words).items()}
    requested = values.get("topology", {}).get(name, {})
    placement = topology_request({"group": values.get("group"), **requested})
    counted = values.get("quota only", ())
    on_nodes = {
        resource: amount for resource, amount in requests.items() if resource not in counted
    }
    return PodSet(name, int(count), None, values.get("spec", {}), requests, on_nodes, placement)


@pytest.mark.parametrize("case", [*cases("flavors"), *cases("tas")], ids=case_name)
def test_flavors_are_assigned_as_by_kueue(case: Case) -> None:
    assignment = assigned(case)
    values = case.values
    expected = values["assigned"]
    reasons = values.get("reasons", {})
    for item in assignment.pod_sets:
        written = {name: f"{c.name} {c.fit.name} {c.tried}" for name, c in item.flavors.items()}
        assert written == expected[item.pod_set.name]
        if item.fit != Fit.FIT:
            assert sorted(item.reasons) == sorted(reasons[item.pod_set.name])
    assert [item.pod_set.name for item in assignment.pod_sets] == list(expected)
    assert assignment.borrowing == values.get("borrowing", 0)
    assert assignment.usage == read_usage(values.get("usage", "").split())
    assert places(assignment) == values.get("placed", {})
    choices = [choice for flavors in expected.values() for choice in flavors.values()]
    assert (assignment.fit == Fit.NO_FIT) is (
        not choices or any("NO_FIT" in choice for choice in choices)
    )


def places(assignment: Assignment) -> dict[str, dict[str, int]]:
    """Return the number of pods by domain of each pod set that is placed."""
    return {
        item.pod_set.name: {" ".join(names): count for names, count in item.placement.domains}
        for item in assignment.pod_sets
        if item.placement is not None
    }


@pytest.mark.parametrize(
    ("a", "b", "preference", "is_better"),
    [
        (QuotaFit(Fit.NO_FIT, 0), QuotaFit(Fit.PREEMPT, 1), "PreemptionOverBorrowing", False),
        (QuotaFit(Fit.NO_FIT, 0), QuotaFit(Fit.NO_FIT, 0), "", False),
        (QuotaFit(Fit.PREEMPT, 1), QuotaFit(Fit.NO_FIT, 0), "PreemptionOverBorrowing", True),
        (
            QuotaFit(Fit.NO_PREEMPTION_CANDIDATES, 0),
            QuotaFit(Fit.PREEMPT, 1),
            "PreemptionOverBorrowing",
            False,
        ),
        (
            QuotaFit(Fit.PREEMPT, 1),
            QuotaFit(Fit.NO_PREEMPTION_CANDIDATES, 0),
            "PreemptionOverBorrowing",
            True,
        ),
        (QuotaFit(Fit.PREEMPT, 0), QuotaFit(Fit.FIT, 1), "PreemptionOverBorrowing", True),
        (QuotaFit(Fit.PREEMPT, 0), QuotaFit(Fit.FIT, 1), "", False),
        (QuotaFit(Fit.FIT, 1), QuotaFit(Fit.PREEMPT, 0), "BorrowingOverPreemption", True),
        (QuotaFit(Fit.FIT, 0), QuotaFit(Fit.PREEMPT, 0), "PreemptionOverBorrowing", True),
        (QuotaFit(Fit.FIT, 1), QuotaFit(Fit.FIT, 2), "", True),
        (QuotaFit(Fit.FIT, 1), QuotaFit(Fit.FIT, 1), "", False),
    ],
)
def test_is_preferred(a: QuotaFit, b: QuotaFit, preference: str, is_better: bool) -> None:
    """TestIsPreferred of Kueue: how well a flavor fits, how far the queue borrows, and what the queue prefers."""
    assert _is_better(a, b, preference) is is_better


def test_reclaiming_quota_is_preferred_to_preempting_in_the_queue() -> None:
    reclaim, preempt = QuotaFit(Fit.RECLAIM, 0), QuotaFit(Fit.PREEMPT, 0)
    assert _is_better(reclaim, preempt, "")
    assert not _is_better(preempt, reclaim, "")


@pytest.mark.parametrize(
    ("fair", "preemption", "fit"),
    [
        ({}, {}, Fit.NO_FIT),
        ({}, {"reclaimWithinCohort": "Any"}, Fit.NO_FIT),
        ({}, {"borrowWithinCohort": {"policy": "LowerPriority"}}, Fit.PREEMPT),
        ({"fairSharing": {}}, {}, Fit.NO_FIT),
        ({"fairSharing": {}}, {"reclaimWithinCohort": "Never"}, Fit.NO_FIT),
        ({"fairSharing": {}}, {"reclaimWithinCohort": "Any"}, Fit.PREEMPT),
    ],
)
def test_only_some_policies_preempt_while_borrowing(fair: Json, preemption: Json, fit: Fit) -> None:
    queue = {"cohortName": "c", "groups": [{"default": {"cpu": 2}}], "preemption": preemption}
    secondary = {"cohortName": "c", "groups": [{"default": {"cpu": 4}}]}
    values = {
        "flavors": {"default": {}},
        "queue": queue,
        "secondary": secondary,
        "lent": "cpu=4",
        "pods": ["main 1 cpu=3"],
    }
    assert assigned(Case("", {**values, "configuration": fair})).fit == fit


def test_a_queue_reclaims_what_its_cohort_lends_to_others() -> None:
    """The cohort of the queue has the quota, and others above it use it: the queue would not borrow from them."""
    queue = {"cohortName": "left", "groups": [{"default": {"cpu": 0}}]}
    secondary = {"cohortName": "root", "groups": [{"default": {"cpu": 0}}]}
    cohorts = {"left": {"parentName": "root", "groups": [{"default": {"cpu": 4}}]}}
    values = {
        "flavors": {"default": {}},
        "queue": queue,
        "secondary": secondary,
        "cohorts": cohorts,
    }
    assert (
        assigned(Case("", {**values, "lent": "cpu=4", "pods": ["main 1 cpu=3"]})).fit == Fit.PREEMPT
    )
    assert assigned(Case("", {**values, "lent": "cpu=1", "pods": ["main 1 cpu=3"]})).fit == Fit.FIT


def test_the_search_goes_on_after_the_flavor_that_was_tried() -> None:
    """A workload that did not fit goes on where it was, by pod set and resource; after the last (-1), at the first."""
    workload = Workload("w", "default", "q", 0, ())
    workload.cursor = [{"cpu": 0, "memory": -1}]
    assert [next_flavor(workload, 0, name) for name in ("cpu", "memory", "pods")] == [1, 0, 0]
    assert next_flavor(workload, 1, "cpu") == 0


def one_flavor(*pods: str, **values: Any) -> Assignment:
    """Return what pods would get in a queue with 4 cpu of one flavor."""
    queue = {"groups": [{"default": {"cpu": 4}}]}
    return assigned(
        Case("", {"flavors": {"default": {}}, "queue": queue, "pods": [*pods], **values})
    )


def test_pod_sets_after_one_that_never_fits_are_not_looked_at() -> None:
    assert [
        item.pod_set.name for item in one_flavor("driver 1 cpu=5", "worker 1 cpu=1").pod_sets
    ] == ["driver"]
    assert [
        item.pod_set.name for item in one_flavor("driver 1 cpu=4", "worker 1 cpu=1").pod_sets
    ] == [
        "driver",
        "worker",
    ]


def test_the_first_quota_that_is_too_small_is_named() -> None:
    assert one_flavor("main 1 cpu=4").exceeded is None
    assert one_flavor("main 1 cpu=5").exceeded == ("default", "cpu")
    assert one_flavor("main 1 cpu=2", used="cpu=3").exceeded == ("default", "cpu")


def test_a_leader_without_requests_has_the_flavor_whose_topology_places_it() -> None:
    """Its workers' flavor of the group; without a topology it has none."""
    placed: Json = {
        "flavors": {"default": {"topologyName": "t"}},
        "topologies": {"t": ["kubernetes.io/hostname"]},
        "nodes": ["x1 cpu=4"],
    }
    for values, flavors in ((placed, {"cpu": "default"}), ({}, {})):
        leader = one_flavor("workers 2 cpu=1", "leader 1", group="g", **values).pod_sets[1]
        assert {name: choice.name for name, choice in leader.flavors.items()} == flavors


def test_a_flavor_without_topology_gives_what_only_the_quota_counts() -> None:
    """What a transformation counts is on no node, so its flavor needs no topology; a flavor for nodes does."""
    credits = "example.com/credits"
    host: Json = {"required": "kubernetes.io/hostname"}
    values: Json = {
        "flavors": {"default": {}, "tas": {"topologyName": "t"}},
        "topologies": {"t": ["kubernetes.io/hostname"]},
        "nodes": ["x1 cpu=4"],
        "queue": {"groups": [{"tas": {"cpu": 4}}, {"default": {credits: 9}}]},
        "pods": [f"main 1 cpu=1 {credits}=2"],
        "topology": {"main": host},
    }
    (item,) = assigned(Case("", {**values, "quota only": [credits]})).pod_sets
    assert {name: choice.name for name, choice in item.flavors.items()} == {
        "cpu": "tas",
        credits: "default",
    }
    (item,) = assigned(Case("", values)).pod_sets
    assert item.reasons == ['Flavor "default" does not support TopologyAwareScheduling']


def test_a_topology_that_no_file_shows_may_have_the_level() -> None:
    """Unless the files are the whole cluster: then Kueue does not know the topology, either."""
    request = TopologyRequest(required="kubernetes.io/hostname")
    main = pods("main", 1, 1)._replace(topology=request)
    assert judge([queue(), flavor(topologyName="t")], main).fits
    assert not judge([queue(), flavor()], main).fits
    values: Json = {
        "flavors": {"default": {"topologyName": "t"}},
        "topology": {"main": {"required": "kubernetes.io/hostname"}},
    }
    (item,) = one_flavor("main 1 cpu=1", **values).pod_sets
    assert item.reasons == ['Flavor "default" information missing in TAS cache']
