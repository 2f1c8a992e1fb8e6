"""The operator's part in a rehearsal: pods that start again, until the limits are used up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.rehearsal import Rehearsal, RehearsalSettings, fault, rehearse, text
from ptcompile.rehearsal.restarts import Restarts
from ptcompile.rehearsal.verdict import predict_end
from tests.making import smallest
from tests.rehearsal.jobs import RANGE, job
from tests.rehearsal.playing import Scripted, fake_python

PER_POD = RANGE + "\nrunPolicy: {onPodFailure: RestartPod, backoffLimit: %d}"
WHOLE = RANGE + "\nrunPolicy: {onPodFailure: RestartJob, backoffLimit: %d}"


class Crashing(Scripted):
    """A back end whose pods exit with status 1 at their first starts, so many times as `crashes` says."""

    def __init__(self, crashes: dict[int, int]) -> None:
        super().__init__()
        self.crashes = crashes

    def start(self, pod: int, config: dict[str, Any]) -> None:
        super().start(pod, config)
        if self.crashes.get(pod, 0) > 0:
            self.crashes[pod] -= 1
            self.running.discard(pod)
            self.ended.append((pod, 1))
            (self.folders[pod] / "seen.jsonl").unlink()


def play(
    tmp_path: Path, stage: Scripted, body: str, target: str, *faults: str, restarts: bool = True
) -> Rehearsal:
    settings = RehearsalSettings(fake_python(tmp_path), limit=400.0, restarts=restarts)
    injected = [fault("kill", one) for one in faults]
    return rehearse(
        job(body, target), injected, settings=settings, max_processes=1, opening=stage.opening()
    )


def starts(rehearsal: Rehearsal) -> list[int]:
    return [pod.starts for pod in rehearsal.seen]


def test_a_job_recreates_its_failed_pod_after_its_backoff(tmp_path: Path) -> None:
    stage = Crashing({1: 2})
    rehearsal = play(tmp_path, stage, PER_POD % 3, "job")
    assert rehearsal.verdict.passed, rehearsal.verdict
    assert starts(rehearsal) == [1, 3, 1]
    assert [event for _, event in rehearsal.events] == [
        "pod 1 failed with status 1: the pod is recreated (backoffLimit 3, 1 of 3), after 10 s",
        "pod 1 failed with status 1: the pod is recreated (backoffLimit 3, 2 of 3), after 20 s",
    ]
    addresses = [event[3] for event in stage.events if event[:2] == ("start", 1)]
    assert len(set(addresses)) == 3
    assert "operator" in text(rehearsal)


def test_pods_that_fail_together_are_recreated_together_after_the_last_delay(
    tmp_path: Path,
) -> None:
    stage = Crashing({0: 1, 1: 1, 2: 1})
    rehearsal = play(tmp_path, stage, PER_POD % 6, "job")
    assert starts(rehearsal) == [2, 2, 2]
    assert rehearsal.verdict.passed
    assert rehearsal.events[-1][1].endswith("(backoffLimit 6, 3 of 6), after 40 s")
    assert rehearsal.seen[0].rounds[-1].time > 40


def test_a_used_up_limit_ends_the_job(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Crashing({1: 2}), PER_POD % 1, "job")
    assert (rehearsal.verdict.seen, starts(rehearsal)) == ("fail", [1, 2, 1])
    assert rehearsal.events[-1][1] == "pod 1 failed with status 1: backoffLimit 1 used up"


def test_without_restarts_a_failed_pod_stays_failed(tmp_path: Path) -> None:
    rehearsal = play(tmp_path, Crashing({1: 1}), PER_POD % 3, "job", restarts=False)
    assert (rehearsal.verdict.seen, starts(rehearsal), rehearsal.events) == ("fail", [1, 1, 1], ())


@pytest.mark.parametrize(
    ("target", "limit"),
    [
        ("jobset", "maxRestarts 2, 1 of 2"),
        ("trainjob", "maxRestarts 2, 1 of 2"),
        ("volcano", "maxRetry 3, 1 of 2"),
    ],
)
def test_an_operator_that_restarts_the_job_recreates_all_pods(
    tmp_path: Path, target: str, limit: str
) -> None:
    stage = Crashing({1: 1})
    rehearsal = play(tmp_path, stage, WHOLE % 2, target)
    assert starts(rehearsal) == [2, 2, 2]
    assert rehearsal.verdict.passed, rehearsal.verdict
    (event,) = [event for _, event in rehearsal.events]
    assert event.startswith("pod 1 failed with status 1: all pods are recreated (")
    assert limit in event
    assert sorted(event[1:] for event in stage.events if event[0] == "signal") == [(0, 15), (2, 15)]


def test_a_pytorchjob_restarts_the_container_in_its_pod(tmp_path: Path) -> None:
    stage = Crashing({1: 2})
    body = RANGE + "\nrestartPolicy: OnFailure\nrunPolicy: {backoffLimit: 6}"
    rehearsal = play(tmp_path, stage, body, "pytorchjob")
    assert starts(rehearsal) == [1, 3, 1]
    assert len({event[3] for event in stage.events if event[:2] == ("start", 1)}) == 1, (
        "it keeps its address"
    )
    assert (
        rehearsal.events[0][1]
        == "pod 1 failed with status 1: its container starts again (backoffLimit 6, 1 of 5)"
    )
    assert rehearsal.events[1][1].endswith("after 10 s")


def test_a_pod_that_always_crashes_ends_the_rehearsal(tmp_path: Path) -> None:
    rehearsal = play(
        tmp_path, Crashing({1: 99}), RANGE + "\nrestartPolicy: OnFailure", "pytorchjob"
    )
    assert starts(rehearsal)[1] == 4
    assert (
        "for the 4th time: the rehearsal ends, the cluster would go on" in rehearsal.events[-1][1]
    )
    assert not rehearsal.limited


def test_a_lost_pod_is_counted_and_is_not_recreated_when_the_limit_is_used_up(
    tmp_path: Path,
) -> None:
    body = PER_POD.replace("{on", "{onDisruption: Count, on") % 1
    rehearsal = play(tmp_path, Scripted(), body, "job", "1@1s,back=1s", "2@8s,back=1s")
    assert starts(rehearsal) == [1, 2, 1]
    assert rehearsal.events[-1][1] == "pod 2 is lost for good: backoffLimit 1 used up"


def test_each_recreation_of_a_jobset_gives_its_jobs_new_limits() -> None:
    data = ptcompile.compile(smallest("nodes: 2"), target="jobset").manifests[0]
    child = data["spec"]["replicatedJobs"][0]["template"]["spec"]
    child["backoffLimit"] = 1
    data["spec"]["failurePolicy"] = {"maxRestarts": 2}
    operator = Restarts(ptcompile.simulate(data).jobs[0])
    scopes = [
        answer.pods for answer in (operator.answer(0, 1) for _ in range(6)) if answer is not None
    ]
    assert scopes == [(0,), (0, 1), (0,), (0, 1), (0,), ()]


def test_each_job_of_a_role_is_recreated_alone() -> None:
    data = ptcompile.compile(smallest("nodes: 4"), target="jobset").manifests[0]
    replicated = data["spec"]["replicatedJobs"][0]
    replicated["replicas"] = 2
    replicated["template"]["spec"] |= {"parallelism": 2, "completions": 2, "backoffLimit": 0}
    data["spec"]["failurePolicy"] = {
        "maxRestarts": 1,
        "rules": [{"name": "a", "action": "RestartJob"}],
    }
    operator = Restarts(ptcompile.simulate(data).jobs[0])
    answer = operator.answer(3, 1)
    assert answer is not None
    assert (answer.pods, answer.text) == ((2, 3), "pods 2, 3 are recreated (maxRestarts 1, 1 of 1)")


def test_the_prediction_includes_the_operator() -> None:
    lost = [fault("kill", "0@1s,back=1s")]
    for body, target, end in [
        (RANGE, "job", "fail"),
        (PER_POD % 3, "job", "all"),
        (PER_POD % 2, "job", "all"),
        (PER_POD % 1, "job", "fail"),
        (PER_POD % 0, "job", "fail"),
    ]:
        simulated = job(body, target)
        predicted = predict_end(simulated, lost, restarts=True)
        assert predicted.end == end, (body, target)
    crash = [fault("fail-process", "1")]
    whole = job("nodes: 2\nrunPolicy: {onPodFailure: RestartJob, backoffLimit: 2}", "jobset")
    assert predict_end(whole, crash).end == "fail"
    assert predict_end(whole, crash, restarts=True).end == "all"
    for_good = [fault("kill", "0@1s")]
    assert predict_end(whole, for_good, restarts=True).end == predict_end(whole, for_good).end
