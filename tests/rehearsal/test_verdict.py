"""The verdict of a rehearsal: the predicted end, the observed one, and the differences between them."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.rehearsal.cast import Actor, cast
from ptcompile.rehearsal.course import Observation, Round
from ptcompile.rehearsal.verdict import RehearsalVerdict, judge, predict_end
from ptcompile.simulator.faults import Fault
from tests.rehearsal.jobs import C10D, RANGE, job

STATIC = "elastic: {nnodes: 3, nprocPerNode: 2}"


def _actors(body: str) -> tuple[Actor, ...]:
    return tuple(cast(job(body), max_processes=2).actors)


def _observed(rank: int, *, exit: int | None = 0, lost: bool = False, **fields: Any) -> Observation:
    """Return a pod that trained in a world of three nodes with two processes each."""
    last = Round(time=1.0, rank=2 * rank, world=6, nodes=3, group=rank, right=True)._replace(
        **fields
    )
    return Observation((last._replace(world=1, nodes=1), last), 1, exit, lost, None)


def test_a_job_without_training_pods_fails() -> None:
    world = ptcompile.simulate(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}}
    )
    assert predict_end(world.jobs[0], ())[:2] == ("fail", "the job has no training pods")


def test_pods_that_cannot_meet_fail_for_the_rendezvous_reason() -> None:
    """Its endpoint is found by no pod and no Service."""
    command = [
        "torchrun",
        "--nnodes=2",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=a-7.a:29400",
        "t.py",
    ]
    container = {"name": "c", "image": "i", "command": command}
    template = {"restartPolicy": "Never", "subdomain": "a", "containers": [container]}
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {
        "completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": {"spec": template}}}  # fmt: skip
    prediction = predict_end(ptcompile.simulate(manifest).jobs[0], ())
    assert prediction.end == "fail"
    assert "a-7.a" in prediction.why


def test_an_image_s_own_command_decides() -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                "spec": {"containers": [{"name": "c", "image": "i"}]}}  # fmt: skip
    prediction = predict_end(ptcompile.simulate(manifest).jobs[0], ())
    assert prediction.end is None
    assert prediction.why


def test_without_faults_the_pods_meet() -> None:
    assert predict_end(job(C10D), ()) == (
        "all",
        "nothing in the manifest prevents the pods from meeting",
        (),
    )


def test_faults_are_those_of_the_launcher() -> None:
    """The operator's restarts and the release of PyTorch change the end."""
    lost = Fault("kill", 1, 2, 5)
    assert predict_end(job(RANGE), [lost._replace(back=None)]).end == "fewer"
    assert predict_end(job(C10D), [Fault("kill", 0, 2)]).end == "fail"
    drained = Fault("drain", 1, 2)
    assert predict_end(job(RANGE), [drained], (2, 5)).end == "fail"
    assert predict_end(job(RANGE), [drained], (2, 2)).end == "fewer"
    restarted = job(STATIC + "\nrunPolicy: {backoffLimit: 9, onPodFailure: RestartJob}", "jobset")
    assert predict_end(restarted, [Fault("fail-process", 1, 2)], restarts=True).end == "all"
    assert predict_end(restarted, [Fault("fail-process", 1, 2)], restarts=False).end == "fail"


def _judged(
    body: str, observations: list[Observation], *faults: Fault, blind: bool = False
) -> RehearsalVerdict:
    return judge(job(body), _actors(body), faults, observations, blind=blind)


def test_all_pods_train_as_predicted() -> None:
    verdict = _judged(STATIC, [_observed(rank) for rank in range(3)])
    assert verdict.seen == "all"
    assert verdict.differences == ()
    assert verdict.passed


@pytest.mark.parametrize(
    "last",
    [
        _observed(2, exit=1),
        _observed(2, exit=None),
        _observed(2, nodes=2),
        _observed(2)._replace(rounds=()),
    ],
    ids=["exit status", "still running", "fewer nodes", "no round"],
)
def test_a_pod_that_does_not_train_with_all_others_fails_the_job(last: Observation) -> None:
    verdict = _judged(STATIC, [_observed(0), _observed(1), last])
    (difference,) = verdict.differences
    assert verdict.seen == "fail"
    assert not verdict.passed
    assert difference.startswith("simulate predicts: all pods ")
    assert difference.endswith("; seen: the job does not train to completion")


def test_a_script_that_reports_nothing_is_judged_by_its_exit_statuses() -> None:
    blind = [_observed(rank)._replace(rounds=()) for rank in range(3)]
    verdict = _judged(STATIC, blind, blind=True)
    assert verdict.seen == "all"
    assert verdict.differences == ()
    assert verdict.passed

    failed = [*blind[:2], blind[2]._replace(exit=1)]
    assert _judged(STATIC, failed, blind=True).seen == "fail"


def test_a_script_that_fails_after_the_pods_met_contradicts_nothing() -> None:
    failed = [_observed(rank, exit=1)._replace(rounds=()) for rank in range(3)]
    for met, faults, is_difference in (
        (True, (), False),
        (False, (), True),
        (True, (Fault("late", 1, 2),), True),
    ):
        verdict = judge(job(STATIC), _actors(STATIC), faults, failed, blind=True, met=met)
        assert verdict.seen == "fail"
        assert not verdict.passed
        assert bool(verdict.differences) == is_difference
    stub = judge(
        job(STATIC),
        _actors(STATIC),
        (),
        [_observed(rank, exit=1) for rank in range(3)],
        blind=False,
        met=True,
    )
    assert stub.differences


def test_a_predicted_failure_has_not_passed() -> None:
    failed = [_observed(rank, exit=1) for rank in range(3)]
    verdict = _judged(STATIC, failed, Fault("kill", 1, 2))
    assert verdict.seen == "fail"
    assert verdict.differences == ()
    assert not verdict.passed


def test_lost_pods_leave_fewer() -> None:
    lost = _observed(2, lost=True, exit=None)
    remaining = [_observed(rank, nodes=2, world=4) for rank in range(2)]
    fault = Fault("kill", 2, 2)
    assert _judged(RANGE, [lost, lost, lost], fault).seen == "fail"

    # with a pod gone, the others may get other node ranks than at first
    swapped = [
        remaining[0]._replace(rounds=remaining[1].rounds),
        remaining[1]._replace(rounds=remaining[0].rounds),
    ]
    for ranks in (remaining, swapped):
        verdict = _judged(RANGE, [*ranks, lost], fault)
        assert verdict.seen == "fewer"
        assert verdict.differences == ()
        assert verdict.passed


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"world": 5}, "train-1-*****: the world has 5 processes, but 6 were started"),
        ({"right": False}, "train-1-*****: the all_reduce over all ranks is wrong"),
    ],
)
def test_a_wrong_world_is_a_difference(changed: dict[str, Any], difference: str) -> None:
    observations = [_observed(0), _observed(1, **changed), _observed(2)]
    verdict = _judged(STATIC, observations)
    assert verdict.seen == "all"
    assert verdict.differences == (difference,)
    assert not verdict.passed


def test_node_ranks_are_those_that_the_manifest_sets() -> None:
    swapped = [_observed(1), _observed(0), _observed(2)]
    differences = _judged(STATIC, swapped).differences
    assert [text.partition(": ")[2] for text in differences] == [
        "simulate predicts node rank 0; seen: 1",
        "simulate predicts node rank 1; seen: 0",
    ]
    assert _judged(C10D, swapped).differences == ()  # c10d chooses the ranks


def test_each_node_rank_occurs_once() -> None:
    repeated = [_observed(0), _observed(2), _observed(2)]
    assert _judged(C10D, repeated).differences == (
        "the node ranks must be 0 to 2, each once, not 0, 2, 2",
    )
