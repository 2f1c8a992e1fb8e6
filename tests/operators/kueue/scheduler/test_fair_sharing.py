"""Who gives way under fair sharing, as Kueue's own tests say."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.kueue.scheduler.fair_sharing import _Ordering
from ptcompile.operators.kueue.scheduler.preemption import Incoming
from tests.operators.kueue.scheduler.test_preemption import check
from tests.operators.kueue.scheduler.upstream import Case, case_name, cases, read_incoming


@pytest.mark.parametrize("case", cases("fair_preemption"), ids=case_name)
def test_fair_preemptions_are_those_of_kueue(case: Case) -> None:
    strategies = case.values.get("strategies", ())
    check(
        case,
        case.state({"fairSharing": {"preemptionStrategies": strategies} if strategies else {}}),
    )


@pytest.mark.parametrize("case", cases("ordering"), ids=case_name)
def test_the_queue_with_the_largest_share_gives_first(case: Case) -> None:
    values = case.values
    state = case.state({"fairSharing": {}})
    candidates = {name: [*state.admitted[name]] for name in values["candidates"]}
    workload, _ = read_incoming("preemptor 0")
    incoming = Incoming(workload, state.queues["preemptor"], {}, frozenset(), {}, state)
    ordering = _Ordering(incoming, candidates)
    order = []
    while (queue := ordering.next_queue()) is not None:
        order.append(queue.name)
        ordering.candidates[queue.name].pop(0)
        if queue.name in values.get("dropped", ()):
            ordering.pruned.add(queue)
    assert order == values["order"]


@pytest.mark.parametrize("order", [("b", "c"), ("c", "b")])
def test_the_last_of_queues_with_equal_shares_gives_first(order: tuple[str, str]) -> None:
    queues = cases("fair_preemption")[0].values["queues"]
    queues = {name: queues[name] for name in ("a", *order)}
    case = Case(
        "",
        {
            "queues": queues,
            "admitted": ["b1 b 0 cpu=4.5", "c1 c 0 cpu=4.5"],
            "incoming": "a 0 cpu=1",
            "preempted": {f"{order[-1]}1": "InCohortReclamation"},
        },
    )
    check(case, case.state({"fairSharing": {}}))


def test_who_was_spared_may_go_once_the_queue_has_given_its_own() -> None:
    """With 2 of its own gone, queue a would borrow as much as b still does without b1, and not more."""
    case = Case(
        "",
        {
            **cases("fair_preemption")[0].values,
            "admitted": ["a_low a -1 cpu=2", "b1 b 0 cpu=3", "b2 b 1 cpu=4"],
            "incoming": "a 0 cpu=4",
            "preempted": {"a_low": "InClusterQueue", "b1": "InCohortFairSharing"},
        },
    )
    strategies = ["LessThanOrEqualToFinalShare"]
    check(case, case.state({"fairSharing": {"preemptionStrategies": strategies}}))


@pytest.mark.parametrize(
    ("total", "b1", "b2", "gone"),
    [
        (24, 1, 12, {"d1": "InCohortFairSharing", "b1": "InCohortFairSharing"}),
        (29, 2, 16, {}),
    ],
    ids=["the left cohort gives first", "the right cohort gives first"],
)
def test_the_order_counts_the_incoming_workload(
    total: int, b1: int, b2: int, gone: dict[str, str]
) -> None:
    """As in Kueue's fair_strategy.go: the left cohort's share is 17 with the workload, and 12 once d1 is gone.

    If the right cohort gives first, it is spared, and not asked again: no workload of queue a went since.
    """
    members = {"a": "left", "d": "left", "b": "right"}
    queues = {
        name: {
            "cohortName": cohort,
            "groups": [{"default": {"cpu": 0}}],
            "preemption": {"reclaimWithinCohort": "Any"},
        }
        for name, cohort in members.items()
    }
    cohorts = {
        "left": {"parentName": "root"},
        "right": {"parentName": "root"},
        "root": {"groups": [{"default": {"cpu": total}}]},
    }
    admitted = ["d1 d 0 cpu=5", "d2 d 1 cpu=6", f"b1 b 0 cpu={b1}", f"b2 b 1 cpu={b2}"]
    values = {"queues": queues, "cohorts": cohorts, "admitted": admitted, "preempted": gone}
    case = Case("", {**values, "incoming": "a 0 cpu=6"})
    strategies = ["LessThanOrEqualToFinalShare"]
    check(case, case.state({"fairSharing": {"preemptionStrategies": strategies}}))


def test_a_cohort_that_borrows_nothing_is_protected_from_others_alone() -> None:
    """Its members give to each other: from b, which borrows within the right cohort, the left one gets nothing."""
    policies = {"reclaimWithinCohort": "LowerPriority"}
    queues = {
        "a": {"cohortName": "left", "groups": [{"default": {"cpu": 5}}], "preemption": policies},
        "d": {"cohortName": "left", "groups": [{"default": {"cpu": 0}}]},
        "b": {"cohortName": "right", "groups": [{"default": {"cpu": 0}}]},
    }
    cohorts = {
        "root": {},
        "left": {"parentName": "root"},
        "right": {"parentName": "root", "groups": [{"default": {"cpu": 3}}]},
    }
    values = {"queues": queues, "cohorts": cohorts, "incoming": "a 0 cpu=3"}
    for priority, gone in ((-1, {"d1": "InCohortReclamation"}), (100, {})):
        admitted = [f"d1 d {priority} cpu=5", "b1 b -1 cpu=3"]
        case = Case("", {**values, "admitted": admitted, "preempted": gone})
        check(case, case.state({"fairSharing": {}}))


@pytest.mark.parametrize("settings", [{}, {"preemptionStrategies": ["LessThanInitialShare"]}])
def test_an_equal_share_preempts_nothing_by_the_initial_share(settings: dict[str, Any]) -> None:
    """As the second strategy, which is Kueue's default, and as the only one."""
    values = {**cases("fair_preemption")[0].values, "preempted": {}}
    admitted = ["a a 0 cpu=3", "b b 0 cpu=6"]
    case = Case("", {**values, "admitted": admitted, "incoming": "a 0 cpu=3"})
    check(case, case.state({"fairSharing": settings}))


@pytest.mark.parametrize(
    ("strategies", "gone"),
    [
        (["LessThanOrEqualToFinalShare"], {}),
        (["LessThanInitialShare"], {"b": "InCohortFairSharing"}),
        (["LessThanOrEqualToFinalShare", "LessThanInitialShare"], {"b": "InCohortFairSharing"}),
        ([], {"b": "InCohortFairSharing"}),
    ],
)
def test_the_second_strategy_is_tried_if_there_is_one(
    strategies: list[str], gone: dict[str, str]
) -> None:
    """Without its only workload, the other queue would have no share left, so only the share that it has now counts."""
    values = {
        **cases("fair_preemption")[0].values,
        "admitted": ["a a 0 cpu=3", "b b 0 cpu=6"],
        "preempted": gone,
    }
    case = Case("", {**values, "incoming": "a 0 cpu=1"})
    check(
        case,
        case.state({"fairSharing": {"preemptionStrategies": strategies} if strategies else {}}),
    )


@pytest.mark.parametrize("policy", ["Never", "Any"])
def test_policies_hold_under_fair_sharing(policy: str) -> None:
    queues = cases("fair_preemption")[0].values["queues"]
    queues = {**queues, "a": {**queues["a"], "preemption": {"reclaimWithinCohort": policy}}}
    gone = {"b": "InCohortReclamation"} if policy == "Any" else {}
    case = Case(
        "",
        {"queues": queues, "admitted": ["b b 0 cpu=9"], "incoming": "a 0 cpu=1", "preempted": gone},
    )
    check(case, case.state({"fairSharing": {}}))
