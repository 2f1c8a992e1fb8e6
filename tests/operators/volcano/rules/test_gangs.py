"""The number of a Volcano Job's pods that must be scheduled together.

Source: docs/facts/volcano.md#gangs, #topology-and-queues.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.manifests import rules_with_problems, task, template, torchrun, volcano


@pytest.mark.parametrize(
    ("least", "nodes", "fires"),
    [
        (4, 4, False),
        (3, 4, True),
        (None, 4, False),  # by default all pods
        (2, "2:4", False),  # elastic: the minimum number is enough
        (1, "2:4", True),
        (1, 1, False),
        (3, 8, True),  # at most the task's 4 pods can meet
        (4, 8, False),
    ],
)
def test_partial_gangs_are_reported(least: int | None, nodes: int | str, fires: bool) -> None:
    pod = template(command=torchrun(nodes))
    fields: dict[str, Any] = {} if least is None else {"minAvailable": least}
    job = volcano(task("node", 4, pod=pod), **fields)
    assert ("partial-gang" in rules_with_problems(job)) is fires


def test_a_gang_needs_no_auxiliary_task_of_an_elastic_job() -> None:
    """The plugin sets WORLD_SIZE to all 4 nodes in every task, but only the tasks that torchrun starts read it."""
    options = [
        "--nnodes=2:4",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=$(MASTER_ADDR):23456",
        "--rdzv-id=train",
    ]
    pod = template(command=["torchrun", *options, "train.py"])
    tasks = [task("master", 1, pod=pod), task("worker", 3, pod=pod)]
    job = volcano(*tasks, task("loader", 1), plugins={"pytorch": [], "svc": []}, minAvailable=3)
    assert "partial-gang" not in rules_with_problems(job)
    job["spec"]["minAvailable"] = 1
    assert "partial-gang" in rules_with_problems(job)


def test_a_gang_of_independent_pods_may_be_partial() -> None:
    assert "partial-gang" not in rules_with_problems(volcano(task("node", 4), minAvailable=1))


@pytest.mark.parametrize(
    ("job", "tasks", "fires"),
    [
        (3, [1, 4], True),
        (5, [1, 4], False),
        (None, [1, 4], False),
        (1, [None, None], False),
        (1, [1, 8], False),  # the webhook sets each task's minimum to its replicas
    ],
)
def test_unused_minimums_of_tasks_are_reported(
    job: int | None, tasks: list[int | None], fires: bool
) -> None:
    listed = [
        {**task(f"t{i}", replicas), "minAvailable": least}
        for i, (replicas, least) in enumerate(zip((1, 8), tasks, strict=True))
    ]
    fields: dict[str, Any] = {} if job is None else {"minAvailable": job}
    assert ("idle-task-minimum" in rules_with_problems(volcano(*listed, **fields))) is fires


@pytest.mark.parametrize(
    ("least", "first", "fires"),
    [(3, 10, False), (1, 1, False), (2, 1, True), (None, 1, True), (None, 0, False)],
)
def test_gangs_that_wait_for_dependencies_are_reported(
    least: int | None, first: int, fires: bool
) -> None:
    """The first row is Volcano's example/task-start-dependency/mpi.yaml, which runs."""
    tasks = [task("worker", first), task("master", dependsOn={"name": ["worker"]})]
    fields: dict[str, Any] = {} if least is None else {"minAvailable": least}
    job = volcano(*tasks, **fields)
    assert ("dependency-deadlock" in rules_with_problems(job)) is fires


def test_queue_may_be_set_twice_to_the_same_name() -> None:
    job = volcano(task("a"), queue="research")
    job["metadata"]["annotations"] = {"scheduling.volcano.sh/queue-name": "research"}
    assert "misplaced-queue" not in rules_with_problems(job)
    job["spec"]["queue"] = "other"
    assert "misplaced-queue" in rules_with_problems(job)


def test_tasks_with_different_schedulers_are_reported() -> None:
    pod = template(schedulerName="volcano")
    assert (
        rules_with_problems(volcano(task("a", pod=pod)))
        & {"foreign-scheduler", "gang-on-default-scheduler"}
        == set()
    )
    assert "foreign-scheduler" in rules_with_problems(
        volcano(task("a", pod=pod), schedulerName="volcano-gpu")
    )
    assert "gang-on-default-scheduler" not in rules_with_problems(
        volcano(task("a"), schedulerName="volcano-gpu")
    )


def test_devices_only_in_limits_are_reported() -> None:
    def job(**resources: Any) -> dict[str, Any]:
        return volcano(task("a", pod=template(container={"resources": resources})))

    rule = "gpu-missing-in-min-resources"
    assert rule in rules_with_problems(job(limits={"nvidia.com/gpu": 1}))
    assert rule in rules_with_problems(job(limits={"amd.com/gpu": 1}, requests={"cpu": 1}))
    assert rule not in rules_with_problems(
        job(limits={"nvidia.com/gpu": 1}, requests={"nvidia.com/gpu": 1})
    )
    assert rule not in rules_with_problems(job(limits={"cpu": 1, "memory": "1Gi"}))
