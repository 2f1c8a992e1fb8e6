"""Where the rules about Volcano Jobs begin and end, and what their fixes change."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import validate
from ptcompile.operators.volcano.facts import status
from tests.linter.asking import problems_of
from tests.operators.making import Json, container, task, volcano

PYTORCH: Json = {"pytorch": [], "svc": []}


def _task(
    name: str, replicas: int = 1, *policies: Json, restart: str = "Never", **more: Any
) -> Json:
    manifest = task(name, replicas, **more, **({"policies": list(policies)} if policies else {}))
    manifest["template"]["spec"]["restartPolicy"] = restart
    return manifest


def _fixes(rule: str, manifest: Json) -> list[tuple[str, bool] | None]:
    return [
        None if problem.fix is None else (problem.fix.title, problem.fix.safe)
        for problem in problems_of(rule, manifest)
    ]


COMPLETE: Json = {"event": "TaskCompleted", "action": "CompleteJob"}
FAILED: Json = {"event": "TaskFailed", "action": "RestartJob"}
POD_FAILED: Json = {"event": "PodFailed", "action": "RestartJob"}


@pytest.mark.parametrize(
    ("master", "worker", "policies", "fixes"),
    [
        ((), (COMPLETE,), (), [("move the policy to master", False)]),
        ((COMPLETE,), (COMPLETE,), (), [("remove the policy", False)]),
        (
            ({"event": "PodFailed", "action": "RestartJob"},),
            (COMPLETE,),
            (),
            [("move the policy to master", False)],
        ),
        (
            ({"events": ["TaskCompleted"], "action": "CompleteJob"},),
            (COMPLETE,),
            (),
            [("remove the policy", False)],
        ),
        ((), (), (COMPLETE,), [("move the policy to master", False)]),
        ((COMPLETE,), (), (), []),
        ((), ({"event": "TaskCompleted", "action": "RestartJob"},), (), []),
        ((), ({"events": ["TaskCompleted", "PodFailed"], "action": "CompleteJob"},), (), [None]),
        (
            (),
            ({"event": "TaskCompleted", "action": "TerminateJob"},),
            (),
            [("move the policy to master", False)],
        ),
    ],
)
def test_a_job_that_a_worker_completes_may_have_a_fix(
    master: tuple[Json, ...], worker: tuple[Json, ...], policies: tuple[Json, ...], fixes: list[Any]
) -> None:
    manifest = volcano(
        _task("master", 1, *master),
        _task("worker", 2, *worker),
        plugins=PYTORCH,
        policies=list(policies),
    )
    assert _fixes("completed-by-worker", manifest) == fixes


@pytest.mark.parametrize(("tasks", "has_fix"), [(8, True), (9, False)])
def test_up_to_eight_tasks_are_fixed(tasks: int, has_fix: bool) -> None:
    manifest = volcano(
        *(_task(f"t{i}", restart="OnFailure") for i in range(tasks)), policies=[POD_FAILED]
    )
    assert [fix is not None for fix in _fixes("dead-pod-failed-policy", manifest)] == [has_fix]


@pytest.mark.parametrize(
    ("task_policies", "policies", "fixable"),
    [
        ((), (FAILED,), [True]),
        ((), (FAILED, POD_FAILED), [False]),
        ((POD_FAILED,), (FAILED,), [True]),
        ((FAILED, POD_FAILED), (), [False]),
        ((), ({"events": ["TaskFailed"], "action": "RestartJob"},), [False]),
        ((), (POD_FAILED,), []),
    ],
)
def test_a_policy_for_tasks_that_never_fail_may_have_a_fix(
    task_policies: tuple[Json, ...], policies: tuple[Json, ...], fixable: list[bool]
) -> None:
    manifest = volcano(_task("a", 1, *task_policies), policies=list(policies))
    assert [fix is not None for fix in _fixes("dead-task-failed-policy", manifest)] == fixable


@pytest.mark.parametrize(
    ("arguments", "index"),
    [
        (["--wait-master-timeout=10"], 0),
        (["--wait-master-enabled=false", "--wait-master-timeout=10"], 1),
        (["--wait-master-enabled=true", "--wait-master-timeout=10"], None),
        (["--wait-master-enabled=false", "--wait-master-image=a"], 1),
        (["--wait-master-enabled=false", "--port=1"], None),
        (["--port=5", "wait-master-timeout"], None),
    ],
)
def test_settings_of_waiting_need_waiting(arguments: list[str], index: int | None) -> None:
    manifest = volcano(_task("master"), _task("worker"), plugins={"pytorch": arguments, "svc": []})
    paths = [problem.path[-1] for problem in problems_of("idle-wait-master", manifest)]
    assert paths == ([] if index is None else [index])


@pytest.mark.parametrize(
    ("names", "listed", "help"),
    [
        (["a"], "(there is a)", None),
        (["a", "b", "c", "d", "e"], "(there is a, b, c, d, e)", None),
        (["a", "b", "c", "d", "e", "f"], "(there is a, b, c, d, e)", None),
        (["mastr", "worker"], "(there is mastr, worker)", "mastr"),
    ],
)
def test_tasks_without_a_master_are_listed(names: list[str], listed: str, help: str | None) -> None:
    manifest = volcano(*(_task(name, 2) for name in names), plugins=PYTORCH)
    (problem,) = problems_of("pytorch-plugin-without-master", manifest)
    assert listed in problem.message
    assert help is None or help in str(problem.fix)


@pytest.mark.parametrize(
    ("tasks", "titles"),
    [
        ([_task("master"), _task("other", 2)], [True]),
        ([_task("master"), _task("other", 2), _task("more", 2)], [False, False]),
        ([_task("master"), _task("worker", 2)], []),
    ],
)
def test_a_task_without_a_rank_becomes_the_worker_if_it_is_the_only_one(
    tasks: list[Json], titles: list[bool]
) -> None:
    manifest = volcano(*tasks, plugins=PYTORCH)
    assert [fix is not None for fix in _fixes("task-without-rank", manifest)] == titles


@pytest.mark.parametrize(
    ("network", "containers", "port", "count"),
    [
        (True, 2, "23456", 1),
        (True, 1, "23456", 0),
        (False, 2, "23456", 0),
        (False, 1, "0", 1),
        (False, 1, "1", 0),
        (False, 1, "65535", 0),
        (False, 1, "65536", 1),
    ],
)
def test_a_port_that_no_pod_can_have_is_reported(
    network: bool, containers: int, port: str, count: int
) -> None:
    master = _task("master")
    master["template"]["spec"].update(
        hostNetwork=network, containers=[container(f"c{i}") for i in range(containers)]
    )
    manifest = volcano(master, plugins={"pytorch": [f"--port={port}"]}, minAvailable=1)
    problems = [
        problem for problem in validate(manifest) if "the pytorch plugin" in problem.message
    ]
    assert len(problems) == count
    assert all(port in problem.message for problem in problems)


@pytest.mark.parametrize(
    ("live_status", "expected"),
    [
        (
            {"state": {"phase": "Pending"}},
            ("queued", None, "its PodGroup waits for the queue or for room for all pods"),
        ),
        ({"state": {"phase": "Pending", "message": "m", "reason": "r"}}, ("queued", "r", "m")),
        ({"state": {"phase": "Pending"}, "pending": 1}, ("created", None, None)),
        ({"state": {"phase": "Pending"}, "running": 1}, ("created", None, None)),
        ({"state": {"phase": "Pending"}, "retryCount": 1}, ("restarting", None, None)),
        ({"state": {"phase": "Running", "message": "m"}, "retryCount": 1}, ("running", None, "m")),
        ({"state": {"phase": "Completed"}}, ("succeeded", None, None)),
        ({}, ("created", None, None)),
    ],
)
def test_a_live_job_has_its_status(
    live_status: Json, expected: tuple[str, str | None, str | None]
) -> None:
    assert status({"status": live_status}) == expected
