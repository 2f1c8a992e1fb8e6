"""Who gives way under fair sharing, as Kueue's own tests say."""

from __future__ import annotations

import pytest

from tests.operators.kueue.scheduler.test_preemption import check
from tests.operators.kueue.scheduler.upstream import Case, case_name, cases


@pytest.mark.parametrize("case", cases("fair_preemption"), ids=case_name)
def test_fair_preemptions(case: Case) -> None:
    strategies = case.values.get("strategies", ())
    check(
        case,
        case.state({"fairSharing": {"preemptionStrategies": strategies} if strategies else {}}),
    )


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
