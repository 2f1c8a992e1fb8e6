"""Upper bounds of the resources that Kueue's queues can give a job: quotas, cohorts, borrowing and lending."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import QUEUES, PodSet, Queues, api_version, find_shortage

Json = dict[str, Any]
NANO = 10**9


def cluster(name: str, *, cohort: str | None = None, flavors: dict[str, Json] | None = None, **quota: Any) -> Json:
    """Return a ClusterQueue with a quota for cpu, by default one flavor of 10."""
    rows = flavors or {"f": {"nominalQuota": 10, **quota}}
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": one, "resources": [{"name": "cpu", **row}]} for one, row in rows.items()],
    }
    spec = {"resourceGroups": [group], **({"cohortName": cohort} if cohort else {})}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def cohort(name: str, quota: int, parent: str | None = None) -> Json:
    """Return a Cohort with its own quota."""
    one = {**cluster(name, nominalQuota=quota), "kind": "Cohort"}
    if parent:
        one["spec"]["parentName"] = parent
    return one


def most(name: str, *objects: Json) -> int:
    """Return the most cpu that a queue could get, in whole CPUs."""
    return Queues(objects).most(name, "f", "cpu") // NANO


def test_borrowing_and_lending() -> None:
    lender = cluster("b", cohort="all", lendingLimit=4)
    assert most("a", cluster("a"), lender) == 10
    assert most("a", cluster("a", cohort="all", borrowingLimit=3), lender) == 13
    assert most("b", cluster("a", cohort="all", borrowingLimit=3), lender) == 20
    own = cohort("all", 5)
    assert most("a", cluster("a", cohort="all"), lender, own) == 19
    assert most("b", cluster("a", cohort="all"), lender, own) == 25


def test_cohorts_of_cohorts_and_circles() -> None:
    assert most("a", cluster("a", cohort="x"), cohort("x", 1, "y"), cohort("y", 2)) == 13
    assert most("a", cluster("a", cohort="x"), cohort("x", 1, "y"), cohort("y", 2, "x")) >= 11


def pods(name: str, count: int, cpu: int, **spec: Any) -> PodSet:
    """Return a pod set that requests cpu."""
    return PodSet(name, count, {"cpu": cpu * NANO}, spec)


def short(objects: list[Json], *sets: PodSet) -> tuple[str, bool] | None:
    """Return why queue `a` can never admit the pods and whether that is certain, or None if it can."""
    found = find_shortage(Queues(objects), "a", sets)
    return (found.why, found.certain) if found else None


def test_some_group_must_cover_each_resource() -> None:
    asked = PodSet("main", 1, {"memory": 1}, {})
    assert short([cluster("a")], asked) == ("resource memory unavailable in ClusterQueue", True)
    assert short([cluster("a")], PodSet("main", 1, {"memory": 0}, {})) is None


def test_pod_set_gets_a_single_flavor() -> None:
    two = cluster("a", flavors={"f": {"nominalQuota": 8}, "g": {"nominalQuota": 8}})
    assert short([two], pods("main", 1, 8)) is None
    assert short([two], pods("main", 2, 8)) is not None
    assert short([two], pods("one", 1, 8), pods("two", 1, 8)) is None
    assert short([two], pods("one", 1, 8), pods("two", 1, 8), pods("three", 1, 1)) is not None


def test_shortage_is_uncertain_in_a_cohort_but_certain_with_a_limit() -> None:
    assert short([cluster("a")], pods("main", 1, 11)) == (
        "insufficient quota for cpu in flavor f: request > maximum capacity (11 > 10)",
        True,
    )
    asked = pods("main", 1, 30)
    for objects, certain in (
        ([cluster("a", cohort="x")], False),
        ([cluster("a", cohort="x", borrowingLimit=5)], True),
    ):
        found = short(objects, asked)
        assert found is not None
        assert found[1] == certain


def _flavor(**spec: Any) -> Json:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": spec}


TAINT = {"key": "gpu", "value": "x", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("flavor", "pod", "suits"),
    [
        (_flavor(nodeLabels={"a": "b"}), {"nodeSelector": {"a": "c"}}, False),
        (_flavor(nodeLabels={"a": "b"}), {"nodeSelector": {"other": "c"}}, True),
        (_flavor(nodeTaints=[TAINT]), {}, False),
        (_flavor(nodeTaints=[TAINT]), {"tolerations": [{"key": "gpu", "operator": "Exists"}]}, True),
        (_flavor(nodeTaints=[TAINT], tolerations=[{"key": "gpu", "value": "x"}]), {}, True),
        (_flavor(nodeTaints=[{**TAINT, "effect": "PreferNoSchedule"}]), {}, True),
    ],
)
def test_flavor_must_fit_the_pods(flavor: Json, pod: Json, suits: bool) -> None:
    assert (short([cluster("a"), flavor], pods("main", 1, 1, **pod)) is None) == suits


def test_queues_are_written_in_the_version_that_the_release_prefers() -> None:
    versions = {release: api_version(Versions(kueue=(0, release))) for release in (14, 15, 19)}
    v1beta1, v1beta2 = "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"
    assert versions == {14: v1beta1, 15: v1beta2, 19: v1beta2}


def test_releases_count_the_claims_of_devices_by_different_settings() -> None:
    assert QUEUES.devices is not None
    advice = {release: QUEUES.devices("gpu.example.com", Versions(kueue=(0, release)))[1] for release in (17, 18, 19)}
    assert "DynamicResourceAllocation" in advice[17]
    assert advice[18] == advice[19]
    assert advice[18].startswith("resources.deviceClassMappings names gpu.example.com")
