"""Quotas of ClusterQueues in cohorts: capacity, what is left, borrowing and lending."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.kueue.scheduler.objects import read_cluster
from ptcompile.operators.kueue.scheduler.quota import (
    QuotaNode,
    cohort_chain,
    dominant_share,
    quota_nodes,
)
from tests.operators.kueue.scheduler.upstream import Case, read_usage

Json = dict[str, Any]
KEY = ("f", "cpu")
NO_SHARE = (False, 0.0)
"""The dominant share of a node that borrows nothing."""


def holder(
    kind: str, name: str, parent: str = "", *, weight: str | None = None, **quota: int
) -> Json:
    """Return a ClusterQueue or Cohort with a quota for cpu."""
    resources = [{"name": "cpu", **quota}]
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": resources}]}
    word = "cohortName" if kind == "ClusterQueue" else "parentName"
    spec: Json = {"resourceGroups": [group] if quota else [], **({word: parent} if parent else {})}
    if weight is not None:
        spec["fairSharing"] = {"weight": weight}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def nodes(*objects: Json) -> dict[str, QuotaNode]:
    return quota_nodes(read_cluster(objects))


def test_borrowing_and_lending_limits_bound_the_capacity() -> None:
    both = nodes(
        holder("ClusterQueue", "a", "c", nominalQuota=4),
        holder("ClusterQueue", "b", "c", nominalQuota=6),
    )
    assert [both[name].potential_available(KEY) for name in "ab"] == [10_000, 10_000]
    limited = nodes(
        holder("ClusterQueue", "a", "c", nominalQuota=4, borrowingLimit=1),
        holder("ClusterQueue", "b", "c", nominalQuota=6, lendingLimit=2),
    )
    assert [limited[name].potential_available(KEY) for name in "ab"] == [5_000, 10_000]


def test_what_is_in_use_is_taken_from_who_lends_it() -> None:
    both = nodes(
        holder("ClusterQueue", "a", "c", nominalQuota=4, lendingLimit=1),
        holder("ClusterQueue", "b", "c", nominalQuota=6),
    )
    a, b = both["a"], both["b"]
    b.add_usage({KEY: 7_000})
    assert (a.available(KEY), b.available(KEY)) == (3_000, 0)
    a.add_usage({KEY: 3_000})
    assert (a.available(KEY), b.available(KEY)) == (0, 0)
    b.remove_usage({KEY: 2_000})
    assert (a.available(KEY), b.available(KEY)) == (2_000, 2_000)
    a.remove_usage({KEY: 3_000})
    b.remove_usage({KEY: 5_000})
    assert (a.available(KEY), b.available(KEY)) == (10_000, 7_000)
    assert {node.usage[KEY] for node in (a, b, a.root)} == {0}


def test_a_cohort_without_queues_lends_its_own_quota() -> None:
    tree = nodes(
        holder("ClusterQueue", "a", "c", nominalQuota=1),
        holder("Cohort", "c", "root"),
        holder("Cohort", "store", "root", nominalQuota=5),
    )
    assert tree["a"].potential_available(KEY) == 6_000

    height, is_below_root = tree["a"].find_height_of_lowest_subtree_that_fits(KEY, 3_000)
    assert height == 2
    assert not is_below_root

    height, is_below_root = tree["a"].find_height_of_lowest_subtree_that_fits(KEY, 1_000)
    assert height == 0
    assert is_below_root


def test_a_cycle_of_cohorts_has_no_quota() -> None:
    cluster = read_cluster(
        [
            holder("ClusterQueue", "a", "c", nominalQuota=1),
            holder("Cohort", "c", "d"),
            holder("Cohort", "d", "c"),
        ]
    )
    assert cohort_chain(cluster, cluster.queues["a"]) is None
    assert quota_nodes(cluster) == {}


@pytest.mark.parametrize(
    ("weight", "share"), [("1", (False, 400.0)), ("2", (False, 200.0)), ("0", (True, 400.0))]
)
def test_the_share_is_what_is_borrowed_of_what_can_be_lent(
    weight: str, share: tuple[bool, float]
) -> None:
    both = nodes(
        holder("ClusterQueue", "a", "c", weight=weight, nominalQuota=4),
        holder("ClusterQueue", "b", "c", nominalQuota=6),
    )
    both["a"].add_usage({KEY: 8_000})
    assert dominant_share(both["a"]) == share
    assert dominant_share(both["b"]) == NO_SHARE


SHARES: list[tuple[str, dict[str, dict[str, str]], dict[str, dict[str, str]], str, dict[str, str], float | None]] = [
    ("usage below nominal", {"default": {"cpu": "2", "gpu": "5"}}, {"default": {"cpu": "8", "gpu": "5"}},
     "cpu=1 gpu=2", {}, 0),
    ("usage above nominal", {"default": {"cpu": "2", "gpu": "5"}}, {"default": {"cpu": "8", "gpu": "5"}},
     "cpu=3 gpu=7", {}, 200),
    ("one resource above nominal", {"default": {"cpu": "2", "gpu": "5"}}, {"default": {"cpu": "8", "gpu": "5"}},
     "cpu=3 gpu=3", {}, 100),
    ("usage with workload above nominal", {"default": {"cpu": "2", "gpu": "5"}}, {"default": {"cpu": "8", "gpu": "5"}},
     "cpu=5 gpu=6", {}, 300),
    ("A resource with zero lendable", {"default": {"cpu": "2", "gpu": "2//0"}},
     {"default": {"cpu": "8", "gpu": "64//0"}}, "cpu=5 gpu=5", {}, 300),
    ("a zero-weight ClusterQueue borrowing only what nobody lends", {"default": {"gpu": "2//0"}},
     {"default": {"gpu": "64//0"}}, "gpu=3", {"weight": "0"}, None),
    ("multiple flavors", {"on-demand": {"cpu": "20"}, "spot": {"cpu": "80"}}, {"default": {"cpu": "100"}},
     "on-demand:cpu=25 spot:cpu=5", {}, 25),
    ("above nominal with integer weight", {"default": {"gpu": "5"}}, {"default": {"gpu": "5"}},
     "gpu=7", {"weight": "2"}, 100),
]  # fmt: skip
"""TestDominantResourceShare of Kueue, pkg/cache/scheduler/fair_sharing_test.go: the quotas of a ClusterQueue and of the
one that lends, what the first uses, its fair sharing, and its share in thousandths (None: of weight 0, it gives first).
"""


@pytest.mark.parametrize(("quotas", "lending", "usage", "sharing", "share"), [
    pytest.param(*values, id=name) for name, *values in SHARES
])  # fmt: skip
def test_the_dominant_share_is_as_kueue_computes_it(
    quotas: Json, lending: Json, usage: str, sharing: Json, share: float | None
) -> None:
    queues = {
        "cq": {"cohortName": "test-cohort", "groups": [quotas], "fairSharing": sharing},
        "lending-cq": {"cohortName": "test-cohort", "groups": [lending]},
    }
    queue = Case("", {"queues": queues}).state().queues["cq"]
    queue.add_usage(read_usage(usage.split()))
    assert dominant_share(queue) == ((True, 0.0) if share is None else (False, share))
    assert dominant_share(queue.root) == NO_SHARE


@pytest.mark.parametrize(
    ("amount", "fits", "remaining"), [(2_000, True, 0), (3_000, True, 1_000), (5_000, False, 3_000)]
)
def test_what_a_queue_does_not_have_is_to_come_from_its_cohort(
    amount: int, fits: bool, remaining: int
) -> None:
    """QuantitiesFitInQuota of Kueue: of 4 cpu, one may be lent, and one of the others is in use."""
    a = nodes(holder("ClusterQueue", "a", "c", nominalQuota=4, lendingLimit=1))["a"]
    a.add_usage({KEY: 1_000})
    assert a.quantities_fit_in_quota({KEY: amount}) == (fits, {KEY: remaining})
