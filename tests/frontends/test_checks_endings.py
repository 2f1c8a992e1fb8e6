"""Words about restarts that contradict each other."""

from __future__ import annotations

import pytest

from tests.making import compiled, smallest

CONFLICT, LEFT = ("error", "spec-conflict"), ("warning", "no-retries-left")
ON_POD, LIMIT = "runPolicy.onPodFailure", "runPolicy.backoffLimit"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        # docs/facts/volcano.md#policies: a container that the kubelet restarts never fails its pod
        ("restartPolicy: OnFailure\nrunPolicy: {onPodFailure: RestartJob}", [(*CONFLICT, ON_POD)]),
        ("restartPolicy: Always\nrunPolicy: {onPodFailure: FailJob}", [(*CONFLICT, ON_POD)]),
        ("worker: {restartPolicy: OnFailure}\nrunPolicy: {onPodFailure: RestartPod}", [(*CONFLICT, ON_POD)]),
        ("restartPolicy: Never\nrunPolicy: {onPodFailure: RestartPod}", []),
        ("runPolicy: {onPodFailure: FailJob, backoffLimit: 2}", [(*CONFLICT, ON_POD)]),
        ("runPolicy: {onPodFailure: FailJob, backoffLimit: 0}", []),
        # 0 is a value, and it wins
        ("runPolicy: {onPodFailure: RestartPod, backoffLimit: 0}", [(*LEFT, LIMIT)]),
        ("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 0}", [(*LEFT, LIMIT)]),
        ("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 1}", []),
        ("runPolicy: {backoffLimit: 0}", []),
        ("restartPolicy: Always\nrunPolicy: {backoffLimit: 0}", []),  # Always is not for failures alone
    ],
)
def test_contradictions(body: str, wanted: list[tuple[str, str, str]]) -> None:
    problems = compiled(smallest(body), "pytorchjob").problems
    assert [(one.severity, one.name, ".".join(map(str, one.path[1:]))) for one in problems] == wanted


@pytest.mark.parametrize("target", ["job", "jobset", "pytorchjob"])
def test_no_restart_is_allowed_by_0(target: str) -> None:
    (made,) = compiled(smallest("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 0}"), target).manifests
    spec = made["spec"]
    holder = {
        "job": lambda: spec,
        "jobset": lambda: spec["replicatedJobs"][0]["template"]["spec"],
        "pytorchjob": lambda: spec["runPolicy"],
    }[target]()
    assert holder["backoffLimit"] == 0
