"""Effects of faults on torchrun: each condition that decides them, and their sentences."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import ptcompile
from ptcompile.simulator.agents import Agents
from ptcompile.simulator.faults import (
    Fault,
    fault_sentences,
    predict,
    recreated_with,
    restarts_as_a_whole,
)
from tests.making import smallest

RANGE = Agents(
    backend="c10d", low=2, high=3, pods=3, restarts=3, has_own_store=True, wait_for_first=900, wait_for_others=600,
    closes=False, known_at_start=False,
)  # fmt: skip
FIXED = RANGE._replace(low=3)
STATIC = FIXED._replace(backend="static", known_at_start=True, restarts=0)
SHARED = RANGE._replace(has_own_store=False)
FRAGILE = RANGE._replace(restarts=0)
STALE = SHARED._replace(shares_first_store=False)
CLOSING = RANGE._replace(closes=True)


@pytest.mark.parametrize(
    ("agents", "fault", "end"),
    [
        (RANGE, Fault("kill", 1, back=8), "all"),
        (RANGE, Fault("drain", 1, back=8), "all"),
        (STALE, Fault("kill", 1, back=8), None),
        (STALE, Fault("late", 1, 50), None),
        (STALE, Fault("late", 1, 10), "all"),
        (CLOSING, Fault("drain", 1, back=8), "fail"),
        (CLOSING, Fault("drain", 1), "fail"),
        (CLOSING, Fault("kill", 1, back=8), "all"),
        (RANGE, Fault("kill", 1), "fewer"),
        (RANGE._replace(low=3, high=4, pods=4), Fault("kill", 1), "fewer"),
        (RANGE, Fault("kill", 0, back=8), "fail"),
        (SHARED, Fault("kill", 1, back=8), "fail"),
        (SHARED, Fault("kill", 1), "fewer"),
        (FRAGILE, Fault("kill", 1, back=8), "fail"),
        (FIXED, Fault("kill", 1, back=8), "all"),
        (FIXED, Fault("kill", 1, back=601), "fail"),
        (FIXED, Fault("kill", 1), "fail"),
        (STATIC, Fault("kill", 1, back=8), "fail"),
        (RANGE, Fault("late", 1, 10), "all"),
        (RANGE, Fault("late", 1, 50), "all"),
        (SHARED, Fault("late", 1, 10), "all"),
        (SHARED, Fault("late", 1, 50), "fail"),
        (FRAGILE, Fault("late", 1, 50), None),
        (RANGE, Fault("late", 0, 150), "all"),
        (RANGE._replace(wait_for_first=60), Fault("late", 0, 40), "all"),
        (RANGE._replace(wait_for_first=60), Fault("late", 0, 75), None),
        (RANGE._replace(wait_for_first=60), Fault("late", 0, 150), "fail"),
        (FIXED, Fault("late", 2, 500), "all"),
        (FIXED, Fault("late", 2, 700), "fail"),
        (STATIC, Fault("late", 0, 240), "all"),
        (STATIC, Fault("late", 0, 900), "fail"),
        (RANGE, Fault("fail-process", 1), "all"),
        (SHARED, Fault("fail-process", 1), None),
        (FRAGILE, Fault("fail-process", 1), "fail"),
        (STATIC._replace(restarts=3), Fault("fail-process", 1), "fail"),
        (RANGE, Fault("dns-lag", 0, 6), "fail"),
        (RANGE, Fault("dns-lag", 0, 3), None),
        (RANGE, Fault("dns-lag", 0, 0.5), "all"),
        (STATIC, Fault("dns-lag", 0, 6), "all"),
    ],
)
def test_each_fault_has_its_predicted_end(agents: Agents, fault: Fault, end: str | None) -> None:
    assert predict(agents, [fault]).end == end


BUDGET = RANGE._replace(low=3, restarts=1, wait_for_others=60)
WIDER = RANGE._replace(low=2, high=4, pods=4, wait_for_others=60)


def kills(*pods: int, at: float = 2, back: float | None = 5) -> list[Fault]:
    return [Fault("kill", pod, at, back) for pod in pods]


@pytest.mark.parametrize(
    ("agents", "faults", "end"),
    [
        (WIDER, kills(0, 1, 2, 3), "all"),
        (STATIC, kills(0, 1, 2), "all"),
        (SHARED, kills(0, 1, 2), "all"),
        (FRAGILE, kills(1, 2, 0), "all"),
        (CLOSING, [Fault("drain", pod, 2, 5) for pod in range(3)], "all"),
        (RANGE, [*kills(0, 1), *kills(2, back=None)], "fewer"),
        (RANGE, [*kills(0), *kills(1, 2, back=None)], "fail"),
        (RANGE, [*kills(0, back=None), *kills(1, 2)], "fail"),
        (RANGE, kills(0, back=700) + kills(1, 2), "all"),
        (RANGE, kills(0, back=1000) + kills(1, 2), None),
        (RANGE, kills(0, 1), "fail"),
        (RANGE, kills(0) + kills(1, 2, at=20), "all"),
        (STATIC, kills(0) + kills(1, 2, at=20), "all"),
        (STATIC, kills(1, 2), "fail"),
        (BUDGET, [Fault("fail-process", 1, 2), Fault("fail-process", 1, 25)], "fail"),
        (BUDGET, [Fault("fail-process", 1, 2), Fault("fail-process", 2, 25)], "fail"),
        (BUDGET, [Fault("fail-process", 1, 2), Fault("fail-process", 2, 2)], "all"),
        (
            BUDGET._replace(restarts=2),
            [Fault("fail-process", 1, 2), Fault("fail-process", 2, 25)],
            "all",
        ),
        (BUDGET, kills(1) + kills(2, at=60), "fail"),
        (BUDGET, kills(1, 2), "all"),
        (BUDGET, kills(1, back=30) + kills(2, at=6), "all"),
        (BUDGET, [*kills(1), Fault("fail-process", 2, 1)], "fail"),
        (RANGE, kills(1) + kills(2, at=60), "all"),
        (WIDER, kills(1, 2, 3, back=None), "fail"),
        (WIDER, kills(1, 2, back=None), "fewer"),
        (WIDER, kills(3, back=None) + kills(1, at=70, back=None), "fewer"),
        (RANGE, kills(2, back=None) + kills(0, at=60), "fail"),
        (RANGE, kills(2, back=None) + kills(1, at=60), "fewer"),
        (
            RANGE._replace(wait_for_others=60),
            [Fault("drain", 1, 2), *kills(2, at=70, back=None)],
            "fail",
        ),
        (CLOSING, [*kills(1), Fault("drain", 2, 40, 5)], "fail"),
        (RANGE, [Fault("late", 2, 50), *kills(1)], "all"),
        (WIDER, [Fault("late", 2, 45), Fault("late", 3, 50)], "all"),
        (RANGE, [Fault("late", 1, 45), Fault("late", 2, 700)], "all"),
        (FIXED, [Fault("late", 0, 45), Fault("late", 2, 700)], "fail"),
        (RANGE, [Fault("dns-lag", 0, 6), *kills(1)], "fail"),
        (RANGE._replace(known_at_start=True), [Fault("dns-lag", 0, 6), *kills(1)], "all"),
        (RANGE, kills(1, back=30) + kills(1, at=20), "all"),
        (SHARED, kills(2, back=None) + kills(1, at=60), "fail"),
    ],
)
def test_several_faults_have_one_prediction(
    agents: Agents, faults: list[Fault], end: str | None
) -> None:
    assert predict(agents, faults).end == end


class Answer(NamedTuple):
    pods: tuple[int, ...]
    delay: float
    text: str


class Retries:
    """An operator that starts failed pods again, each alone or all together, until its limit is used up."""

    def __init__(self, limit: int, pods: tuple[int, ...] = ()) -> None:
        self.limit, self.pods = limit, pods

    def answer(self, pod: int, exit_code: int | None) -> Answer:
        assert exit_code == 1
        self.limit -= 1
        return Answer(() if self.limit < 0 else self.pods or (pod,), 10, "it starts again")


@pytest.mark.parametrize(
    ("agents", "faults", "limit", "pods", "end"),
    [
        (RANGE, kills(0), 2, (), "all"),
        (RANGE, kills(0), 1, (), "fail"),
        (RANGE, kills(0, back=None), 9, (), "fail"),
        (RANGE, kills(0) + kills(0, at=90), 4, (), "all"),
        (RANGE, kills(0) + kills(0, at=90), 3, (), "fail"),
        (STATIC, kills(1), 2, (), "all"),
        (BUDGET, [Fault("fail-process", 1, 2), Fault("fail-process", 1, 25)], 3, (), "all"),
        (BUDGET, [Fault("fail-process", 1, 2), Fault("fail-process", 1, 25)], 2, (), "fail"),
        (BUDGET, [Fault("fail-process", 1, 2), Fault("fail-process", 1, 25)], 1, (0, 1, 2), "all"),
        (FRAGILE, kills(1), 1, (0, 1, 2), "all"),
        (FRAGILE, kills(1) + kills(1, at=90), 1, (0, 1, 2), "fail"),
        (
            RANGE,
            [Fault("dns-lag", 0, 6)],
            1,
            (),
            None,
        ),  # pod 0 may host the store when it starts again
        (RANGE, [Fault("dns-lag", 0, 6)], 0, (), "fail"),
        (RANGE, [Fault("dns-lag", 0, 3)], 1, (), None),
        (RANGE, [Fault("dns-lag", 0, 0.5)], 0, (), "all"),
    ],
)
def test_the_operator_starts_failed_pods_again(
    agents: Agents, faults: list[Fault], limit: int, pods: tuple[int, ...], end: str | None
) -> None:
    assert predict(agents, faults, operator=lambda: Retries(limit, pods)).end == end


def test_a_round_may_count_a_pod_that_is_lost_in_its_last_call() -> None:
    """Whether the others have dropped the pod when the round begins is a matter of seconds."""
    faults = kills(3, back=None) + kills(2, at=36, back=None)
    assert predict(WIDER, faults).end is None


def test_a_prediction_lists_its_steps() -> None:
    prediction = predict(BUDGET, kills(1) + kills(2, at=60))
    assert prediction.why == "pod 0 used up maxRestarts (1), which ends the job"
    assert [step.text for step in prediction.steps[:4]] == [
        "pod 1 lost",
        "3 of 3 pods train",
        "pod 2 lost",
        "torchrun of pods 0 and 1 exits with status 1: pod 0 used up maxRestarts (1), which ends the job",
    ]


ALL = range(3)


@pytest.mark.parametrize(
    ("agents", "fault", "recreated", "end"),
    [
        (RANGE, Fault("kill", 0, back=8), ALL, "all"),
        (FRAGILE, Fault("kill", 1, back=8), ALL, "all"),
        (STATIC, Fault("kill", 1, back=8), ALL, "all"),
        (SHARED, Fault("kill", 1, back=8), ALL, "all"),
        (CLOSING, Fault("drain", 1, back=8), ALL, "all"),
        (RANGE, Fault("kill", 1), ALL, "fewer"),
        (RANGE, Fault("kill", 0), ALL, "fail"),
        (FIXED, Fault("kill", 1), ALL, "fail"),
        (RANGE, Fault("kill", 1, back=8), range(1, 3), "all"),
        (RANGE, Fault("kill", 1, back=8), range(2), "fail"),
        (STATIC, Fault("kill", 1, back=8), range(1, 3), "fail"),
    ],
)
def test_recreated_pods_change_the_prediction(
    agents: Agents, fault: Fault, recreated: range, end: str
) -> None:
    assert predict(agents, [fault], [recreated] * 3).end == end


@pytest.mark.parametrize(
    ("target", "policy", "expected"),
    [
        ("job", "onPodFailure: RestartPod, backoffLimit: 3", [range(1), range(1, 2), range(2, 3)]),
        ("job", "onDisruption: FailJob", [range(0)] * 3),
        ("jobset", "onPodFailure: RestartJob, backoffLimit: 3", [ALL] * 3),
        ("trainjob", "onPodFailure: RestartJob, backoffLimit: 3", [ALL] * 3),
        ("volcano", "onPodFailure: RestartJob, backoffLimit: 3", [ALL] * 3),
        ("pytorchjob", "backoffLimit: 3", [range(1), range(1, 2), range(2, 3)]),
    ],
)
def test_each_policy_recreates_its_pods(target: str, policy: str, expected: list[range]) -> None:
    body = C10D % "" + f"\nrunPolicy: {{{policy}}}"
    job = ptcompile.simulate(smallest(body), target=target).jobs[0]
    assert [recreated_with(job, number) for number in range(3)] == expected
    assert restarts_as_a_whole(job) == (expected[0] == ALL)
    whole = "torchrun, a lost or drained pod: the operator recreates all pods"
    assert any(text.startswith(whole) for text in job.failure) == (expected[0] == ALL)
    assert any(text.startswith("torchrun, a lost node 0") for text in job.failure) == (
        expected[0] != ALL
    )


C10D = "elastic: {nnodes: '2:3', maxRestarts: 3%s}"


@pytest.mark.parametrize(
    ("agents", "begin", "has"),
    [
        (
            RANGE,
            "torchrun, a lost node 0: it hosts the store, so the others exit with status 1",
            True,
        ),
        (RANGE, "torchrun, a recreated or late pod: it joins within 5 to 15 seconds", True),
        (
            SHARED,
            "torchrun, a pod that is recreated or joins a later rendezvous: all pods exit with status 1 after 60",
            True,
        ),
        (
            STALE,
            "torchrun, a recreated or late pod: the outcome depends on chance, because the agents of PyTorch 2.4",
            True,
        ),
        (STALE, "torchrun, a pod that is recreated or joins a later rendezvous", False),
        (
            RANGE,
            "torchrun, a lost node 0: it hosts the store, so the others exit with status 1 within 3 seconds, and "
            "each of those 2 pods has failed",
            True,
        ),
        (
            CLOSING,
            "torchrun, a drained or deleted pod: the job fails: torchrun of PyTorch 2.3 to 2.7",
            True,
        ),
        (RANGE, "torchrun, a drained", False),
        (
            RANGE,
            "torchrun, a lost pod: the others go on with at least 2, after 39 to 49 seconds",
            True,
        ),
        (
            RANGE,
            "torchrun waits 900 seconds for node 0, and 600 seconds for enough other nodes",
            True,
        ),
        (RANGE, "torchrun on node 0 resolves the endpoint", True),
        (FRAGILE, "torchrun, a late pod: the outcome depends on chance", True),
        (STATIC, "torchrun on node 0 resolves the endpoint", False),
        (STATIC, "torchrun, a lost node 0", False),
        (STATIC, "torchrun, a process that fails: the job fails: ", True),
        (FRAGILE, "torchrun, a process that fails: the job fails: ", True),
        (RANGE, "torchrun, a process that fails: the job fails", False),
        (STATIC, "torchrun, a lost pod: nodes of a static rendezvous cannot meet again", True),
    ],
)
def test_agents_have_sentences_about_faults(agents: Agents, begin: str, has: bool) -> None:
    sentences = list(fault_sentences(agents))
    assert any(sentence.startswith(begin) for sentence in sentences) is has, sentences


def test_a_job_with_a_rendezvous_has_sentences_about_torchrun() -> None:
    job = ptcompile.simulate(smallest(C10D % ""), target="job").jobs[0]
    assert any(sentence.startswith("torchrun, a lost node 0") for sentence in job.failure)
    alone = ptcompile.simulate(smallest(""), target="job").jobs[0]
    assert not any(sentence.startswith("torchrun") for sentence in alone.failure)
