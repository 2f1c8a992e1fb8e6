"""Restarts and ends of Volcano Jobs.

Source: docs/facts/volcano.md#policies.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.manifests import paths, rules_with_problems, task, template, volcano

DONE = {"event": "TaskCompleted", "action": "CompleteJob"}
FAILED = {"event": "PodFailed", "action": "RestartJob"}
ALWAYS, IN_PLACE = template(restart="Always"), template(restart="OnFailure")


def test_never_completes() -> None:
    rule = "task-never-completes"
    assert paths(volcano(task("a", pod=ALWAYS), task("b")), rule) == [
        ("spec", "tasks", 0, "template", "spec", "restartPolicy")
    ]
    assert rule in rules_with_problems(volcano(task("a", pod=template(restart=None))))
    assert rule not in rules_with_problems(volcano(task("a", 0, pod=ALWAYS)))
    assert rule not in rules_with_problems(volcano({"name": "a", "replicas": 1, "template": None}))


@pytest.mark.parametrize(
    ("spec", "policies", "fires"),
    [
        (
            {},
            [DONE],
            False,
        ),  # the master ends the job, regardless of the workers: the usual MPI job
        ({"policies": [DONE]}, [], False),
        ({"minSuccess": 1}, [], False),
        ({"minSuccess": 2}, [], True),
        ({"policies": [FAILED]}, [], True),
    ],
)
def test_another_end_of_the_job_completes_its_tasks(
    spec: dict[str, Any], policies: list[Any], fires: bool
) -> None:
    job = volcano(task("master", policies=policies), task("worker", 2, pod=ALWAYS), **spec)
    assert ("task-never-completes" in rules_with_problems(job)) is fires


def test_a_policy_that_no_pod_triggers_is_reported() -> None:
    assert "dead-pod-failed-policy" in rules_with_problems(
        volcano(task("a", pod=IN_PLACE), policies=[FAILED])
    )
    assert "dead-pod-failed-policy" not in rules_with_problems(
        volcano(task("a", pod=IN_PLACE), task("b"), policies=[FAILED])
    )
    assert "dead-pod-failed-policy" in rules_with_problems(
        volcano(task("a", pod=IN_PLACE, policies=[FAILED]), task("b"))
    )
    code = {"exitCode": 137, "action": "RestartJob"}
    assert "dead-pod-failed-policy" in rules_with_problems(
        volcano(task("a", pod=IN_PLACE), policies=[code])
    )
    assert "dead-pod-failed-policy" not in rules_with_problems(volcano(task("a"), policies=[code]))


def test_a_policy_needs_a_task_that_counts_restarts() -> None:
    failed = {"event": "TaskFailed", "action": "TerminateJob"}
    assert "dead-task-failed-policy" in rules_with_problems(volcano(task("a"), policies=[failed]))
    assert "dead-task-failed-policy" not in rules_with_problems(
        volcano(task("a"), task("b", pod=IN_PLACE), policies=[failed])
    )
    both = {"events": ["TaskFailed", "PodFailed"], "action": "TerminateJob"}
    assert "dead-task-failed-policy" not in rules_with_problems(volcano(task("a"), policies=[both]))


@pytest.mark.parametrize(
    ("policies", "pod", "fires"),
    [
        ([], template(), True),
        ([FAILED], template(), False),
        ([{"event": "*", "action": "RestartJob"}], template(), False),
        ([{"exitCode": 1, "action": "RestartJob"}], template(), False),
        ([], IN_PLACE, False),
    ],
)
def test_pods_that_stay_failed_are_reported(
    policies: list[Any], pod: dict[str, Any], fires: bool
) -> None:
    job = volcano(
        task("master", pod=pod), task("worker", pod=pod), policies=policies, plugins={"pytorch": []}
    )
    assert ("failed-pod-stays" in rules_with_problems(job)) is fires


def test_independent_pods_may_fail_alone() -> None:
    assert "failed-pod-stays" not in rules_with_problems(volcano(task("a", 4)))


def test_jobs_completed_by_a_worker_are_reported() -> None:
    plugins: dict[str, Any] = {"pytorch": []}
    by_worker = volcano(task("master"), task("worker", policies=[DONE]), plugins=plugins)
    assert paths(by_worker, "completed-by-worker") == [("spec", "tasks", 1, "policies", 0)]
    by_master = volcano(task("master", policies=[DONE]), task("worker"), plugins=plugins)
    assert "completed-by-worker" not in rules_with_problems(by_master)
    assert "completed-by-worker" not in rules_with_problems(
        volcano(task("ps"), task("worker", policies=[DONE]))
    )


def test_retries_that_nothing_counts_are_reported() -> None:
    assert "idle-max-retry" in rules_with_problems(volcano(task("a"), maxRetry=5))
    assert "idle-max-retry" not in rules_with_problems(
        volcano(task("a", maxRetry=3), maxRetry=3)
    )  # the webhook's default
    assert "idle-max-retry" not in rules_with_problems(
        volcano(task("a"), maxRetry=5, policies=[FAILED])
    )
    counted = {"event": "TaskFailed", "action": "RestartTask"}
    assert "idle-max-retry" not in rules_with_problems(
        volcano(task("a", pod=IN_PLACE, maxRetry=5, policies=[counted]))
    )
    assert "idle-max-retry" in rules_with_problems(
        volcano(task("a", pod=IN_PLACE, maxRetry=5), task("b", policies=[counted]))
    )


def test_many_policies_of_many_tasks_are_checked_once() -> None:
    """Checks that concern all tasks run once, not once per policy; a fix for all policies is only offered for a few."""
    codes = [{"exitCode": code, "action": "RestartJob"} for code in range(1, 2000)]
    job = volcano(*(task(f"t{i}", pod=IN_PLACE) for i in range(2000)), policies=codes)
    assert len(paths(job, "dead-pod-failed-policy")) == 1999
