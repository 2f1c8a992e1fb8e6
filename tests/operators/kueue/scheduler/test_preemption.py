"""Which workloads must go for another one, as Kueue's own tests say."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.kueue.scheduler.flavors import (
    Assignment,
    Fit,
    FlavorChoice,
    PodSetAssignment,
    assign,
)
from ptcompile.operators.kueue.scheduler.objects import FlavorResource
from ptcompile.operators.kueue.scheduler.preemption import find_targets, satisfies, simulate
from ptcompile.operators.kueue.scheduler.state import QueueState, Reservation
from ptcompile.operators.kueue.scheduler.topology import leaf_key
from ptcompile.operators.kueue.scheduler.workloads import PodSet, TopologyRequest, Workload
from tests.operators.kueue.scheduler.upstream import (
    GROUP,
    Case,
    case_name,
    cases,
    node,
    read_admitted,
    read_incoming,
)


def preempted(case: Case, state: QueueState) -> dict[str, str]:
    """Return who must go for the incoming workload of a case, and why, in Kueue's words."""
    workload, usage = read_incoming(case.values["incoming"])
    assignment = Assignment()
    fits = case.values.get("fits", ())
    for (flavor, resource), amount in usage.items():
        pod_set = PodSet("main", 1, None, {}, {resource: amount}, {}, TopologyRequest())
        item = PodSetAssignment(pod_set, 1, {resource: amount})
        item.flavors = {
            resource: FlavorChoice(flavor, Fit.FIT if resource in fits else Fit.PREEMPT, 0)
        }
        item.reasons = ["insufficient unused quota"]
        assignment.append(item)
    return {
        target.workload.name: target.how for target in find_targets(workload, assignment, state)
    }


def check(case: Case, state: QueueState) -> None:
    """Compare who must go with the case; looking for them changes nothing."""
    before = in_use(state)
    assert preempted(case, state) == case.values.get("preempted", {})
    assert in_use(state) == before


def in_use(state: QueueState) -> dict[str, tuple[dict[FlavorResource, int], set[str]]]:
    """Return what each queue uses, and the workloads that it has admitted."""
    return {
        name: (
            {key: amount for key, amount in queue.usage.items() if amount},
            {w.name for w in state.admitted[name]},
        )
        for name, queue in state.queues.items()
    }


@pytest.mark.parametrize(
    "case", [*cases("preemption"), *cases("hierarchical_preemption")], ids=case_name
)
def test_preemptions_are_those_of_kueue(case: Case) -> None:
    check(case, case.state())


def case_of(**values: Any) -> Case:
    """Return a case of our own in the queues of Kueue's tests."""
    return Case("", {**cases("preemption")[0].values, "preempted": {}, **values})


def test_the_last_workloads_that_need_not_go_are_spared() -> None:
    admitted = ["low1 standalone -3 cpu=1", "low2 standalone -2 cpu=1", "mid standalone -1 cpu=4"]
    case = case_of(
        admitted=admitted, incoming="standalone 0 cpu=4", preempted={"mid": "InClusterQueue"}
    )
    check(case, case.state())


def test_an_equal_priority_is_not_lower_while_a_queue_borrows() -> None:
    for priority, gone in ((0, {}), (-1, {"w": "InCohortReclaimWhileBorrowing"})):
        admitted = [f"w a_best_effort {priority} cpu=10"]
        case = case_of(admitted=admitted, incoming="b_standard 0 cpu=10", preempted=gone)
        check(case, case.state())


@pytest.mark.parametrize(
    ("policy", "priority", "created", "may_preempt"),
    [
        ("Never", -1, 1, False),
        ("Any", 9, 0, True),
        ("LowerPriority", -1, 0, True),
        ("LowerPriority", 0, 1, False),
        ("LowerOrNewerEqualPriority", -1, 0, True),
        ("LowerOrNewerEqualPriority", 0, 1, True),
        ("LowerOrNewerEqualPriority", 0, 0, False),
        ("LowerOrNewerEqualPriority", 1, 1, False),
    ],
)
def test_a_policy_decides_who_may_be_preempted(
    policy: str, priority: int, created: int, may_preempt: bool
) -> None:
    """TestSatisfiesPreemptionPolicy of Kueue: the incoming workload has the priority 0 and was created at 0."""
    incoming, candidate = Workload("in", "", "", 0, ()), Workload("old", "", "", priority, ())
    incoming.order, candidate.order = ("", 0), ("", created)
    assert satisfies(policy, incoming, candidate) is may_preempt


@pytest.mark.parametrize(
    ("admitted", "incoming", "outcome"),
    [
        (["low c1 -1 cpu=6"], "c1 0 cpu=1", (Fit.PREEMPT, 0)),
        (["low c2 -1 cpu=12"], "c1 0 cpu=1", (Fit.RECLAIM, 0)),
        (["low c1 -1 cpu=2", "low2 c2 -1 cpu=10"], "c1 0 cpu=6", (Fit.PREEMPT, 0)),
        (["high c1 1 cpu=6", "high2 c2 1 cpu=6"], "c1 0 cpu=1", (Fit.NO_PREEMPTION_CANDIDATES, 1)),
        (["low c1 -1 cpu=8", "high c2 1 cpu=4"], "c1 0 cpu=7", (Fit.PREEMPT, 1)),
    ],
)  # fmt: skip
def test_a_simulated_preemption_changes_nothing(
    admitted: list[str], incoming: str, outcome: tuple[Fit, int]
) -> None:
    """How well a resource would fit, and whether the queue would still borrow it."""
    state = case_of(admitted=admitted).state()
    before = in_use(state)
    workload, usage = read_incoming(incoming)
    ((key, amount),) = usage.items()
    assert simulate(state)(workload, key, amount) == outcome
    assert in_use(state) == before


HOSTS = ("kubernetes.io/hostname",)
HIGH = "high q 1 cpu=1 x2"


def placed_state(*admitted: str) -> QueueState:
    """Return a queue with three hosts of 2 cpu each, where workloads "name queue priority usage host" are."""
    levels = {"levels": [{"nodeLabel": HOSTS[0]}]}
    objects = [
        {"apiVersion": GROUP, "kind": "Topology", "metadata": {"name": "t"}, "spec": levels},
        {"apiVersion": GROUP, "kind": "ResourceFlavor", "metadata": {"name": "default"}, "spec": {"topologyName": "t"}},
        *(node(f"{name} cpu=2", [*HOSTS]) for name in ("x1", "x2", "x3")),
    ]  # fmt: skip
    queue = {
        "groups": [{"default": {"cpu": 99}}],
        "preemption": {"withinClusterQueue": "LowerPriority"},
    }
    state = Case("", {"queues": {"q": queue}, "objects": objects}).state()
    for text in admitted:
        rest, _, host = text.rpartition(" ")
        (reservation,) = read_admitted(rest)
        usage = {"cpu": reservation.usage["default", "cpu"], "pods": 1}
        state.add(
            Reservation(
                reservation.workload, reservation.usage, {leaf_key("t", HOSTS, (host,)): usage}
            )
        )
    return state


@pytest.mark.parametrize(
    ("admitted", "pods", "gone"),
    [
        (["a q -3 cpu=1 x1", "b q -2 cpu=2 x2", "c q -1 cpu=1 x1", "d q -1 cpu=2 x3"], 1, {"b"}),
        (
            ["a q -4 cpu=1 x1", "b q -3 cpu=1 x2", "c q -2 cpu=1 x1", "d q -1 cpu=2 x3", HIGH],
            1,
            {"a", "c"},
        ),
        (
            [
                "a q -5 cpu=1 x1",
                "b q -4 cpu=1 x2",
                "c q -3 cpu=2 x3",
                "d q -2 cpu=1 x2",
                "e q -1 cpu=1 x1",
            ],
            1,
            {"c"},
        ),
        (
            ["a q -4 cpu=1 x1", "b q -3 cpu=1 x2", "c q -2 cpu=1 x1", "d q -1 cpu=2 x3", HIGH],
            2,
            {"a", "c", "d"},
        ),
        (
            ["a q -4 cpu=1 x1", "b q -3 cpu=1 x2", "c q -2 cpu=1 x1", "d q -1 cpu=2 x3"],
            3,
            {"a", "b", "c", "d"},
        ),
        (["a q -1 cpu=2 x1", "b q 1 cpu=1 x2", "c q 1 cpu=1 x3"], 2, set()),
        (["a q 1 cpu=1 x1", "b q -1 cpu=1 x1", "c q 1 cpu=2 x2", "d q 1 cpu=2 x3"], 1, set()),
    ],
)
def test_enough_go_to_place_the_pods(admitted: list[str], pods: int, gone: set[str]) -> None:
    """Pods of 2 cpu that need a host each, where the quota is enough: the fewest of the lowest priority make room."""
    state = placed_state(*admitted)
    before = in_use(state), {host: usage["cpu"] for host, usage in state.placed.items()}
    requests = {"cpu": 2000}
    pod_set = PodSet(
        "main", pods, None, {}, requests, requests, TopologyRequest(preferred=HOSTS[0])
    )
    workload = Workload("incoming", "default", "", 0, [pod_set])
    workload.cluster_queue = "q"
    assignment = assign(workload, state, simulate(state), ())
    assert {target.workload.name for target in find_targets(workload, assignment, state)} == gone
    assert (in_use(state), {host: usage["cpu"] for host, usage in state.placed.items()}) == before
