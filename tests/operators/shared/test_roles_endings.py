"""Auxiliary roles combined with restart and completion settings, on the targets that have both."""

from __future__ import annotations

import pytest

from ptcompile.operators.targets import TARGETS
from tests import making
from tests.making import compiled, smallest
from tests.operators.shared.test_roles import ABLE, LOADER, replicated, tasks

SPOT = making.profile({"spot": {"nodeLabels": {"spot": "true"}}})

ENDS = [
    # the Job decides when a training role succeeds, and the JobSet decides which Jobs count:
    # docs/facts/jobset.md#fields, docs/facts/api-server.md#jobs 190
    ("jobset", "nodes: 2", None, ["node"], None),
    ("jobset", "nodes: 2", "Node0", ["node"], "0"),
    ("jobset", "nodes: 2", "AllNodes", ["node"], None),
    ("jobset", "elastic: {nnodes: '1:2'}", None, ["node"], "0"),
    ("jobset", "elastic: {nnodes: '1:2'}", "AllNodes", ["node"], None),
    ("jobset", "master: {}\nworker: {replicas: 2}", None, ["master", "worker"], None),
    ("jobset", "master: {}\nworker: {replicas: 2}", "Node0", ["master"], None),
    ("jobset", "master: {}\nworker: {replicas: 2}", "AllNodes", ["master", "worker"], None),
    ("trainjob", "nodes: 2", "Node0", ["node"], "0"),
    ("trainjob", "master: {}\nworker: {replicas: 2}", "Node0", ["node"], "0"),
    ("trainjob", "master: {}\nworker: {replicas: 2}", "AllNodes", ["node"], None),
]


@pytest.mark.parametrize(("target", "shape", "whose", "jobs", "index"), ENDS)
def test_success_policy_names_the_training_roles(
    target: str, shape: str, whose: str | None, jobs: list[str], index: str | None
) -> None:
    word = f"runPolicy: {{successPolicy: {whose}}}" if whose else ""
    spec, by_name = replicated(f"{shape}\n{LOADER}\n{word}", target)
    assert spec["successPolicy"] == {"operator": "All", "targetReplicatedJobs": jobs}
    first = by_name[jobs[0]]["template"]["spec"].get(
        "successPolicy", {"rules": [{"succeededIndexes": None}]}
    )
    assert first["rules"][0]["succeededIndexes"] == index
    assert "successPolicy" not in by_name["loader"]["template"]["spec"]


@pytest.mark.parametrize(
    ("body", "of_all", "of_trainers"),
    [
        ("nodes: 2\nroles: {loader: {restartPolicy: Never}}", ["PodFailed", "PodEvicted"], []),
        (
            "restartPolicy: OnFailure\nroles: {loader: {restartPolicy: Never}}",
            ["PodFailed", "PodEvicted"],
            [],
        ),
        # an evicted loader is replaced alone, regardless of the policy for training pods
        (f"nodes: 2\n{LOADER}", ["PodFailed"], ["PodEvicted"]),
        (
            f"nodes: 2\nrunPolicy: {{onPodFailure: RestartJob}}\n{LOADER}",
            ["PodFailed"],
            ["PodEvicted"],
        ),
        (f"nodes: 2\nrestartPolicy: OnFailure\n{LOADER}", [], ["PodEvicted"]),
        (
            "nodes: 2\nroles: {loader: {}, ps: {restartPolicy: Never}}",
            ["PodFailed"],
            ["PodEvicted"],
        ),
    ],
)
def test_policies_are_set_on_the_affected_tasks(
    body: str, of_all: list[str], of_trainers: list[str]
) -> None:
    """A policy for PodFailed has no effect only if all pods restart in place; a task's own policies take precedence.

    Source: docs/facts/volcano.md#policies.
    """
    spec, by_name = tasks(body)
    assert spec.get("policies", []) == (
        [{"events": of_all, "action": "RestartJob"}] if of_all else []
    )
    for name, task in by_name.items():
        restarting_events = [
            policy["event"]
            for policy in task.get("policies", [])
            if policy["action"] == "RestartJob"
        ]
        assert restarting_events == ([] if name == "loader" else of_trainers)


def test_no_task_policy_for_lost_pods_if_training_pods_are_replaced_alone() -> None:
    spec, by_name = tasks(f"nodes: 2\nrunPolicy: {{onPodFailure: RestartPod}}\n{LOADER}")
    assert spec["policies"] == [{"events": ["PodFailed"], "action": "RestartPod"}]
    assert all(
        policy["event"] != "PodEvicted"
        for task in by_name.values()
        for policy in task.get("policies", [])
    )


def test_only_lost_training_nodes_are_uncounted() -> None:
    spec, by_name = tasks(f"nodes: 2\nspot: true\n{LOADER}", SPOT)
    assert spec["policies"] == [{"events": ["PodFailed"], "action": "TerminateJob"}]
    assert {"event": "PodEvicted", "action": "RestartJob"} in by_name["worker"]["policies"]


def test_success_of_all_nodes_counts_all_roles() -> None:
    """minSuccess is a number of pods of the whole job.

    Source: docs/facts/volcano.md#fields.
    """
    body = "nodes: 2\nrunPolicy: {successPolicy: AllNodes}"
    (problem,) = compiled(smallest(f"{body}\n{LOADER}"), "volcano").problems
    assert (problem.severity, problem.name) == ("warning", "done-differently")
    assert problem.path == ("spec", "runPolicy", "successPolicy")
    assert not compiled(smallest(body), "volcano").problems
    assert not compiled(smallest(f"{body}\n{LOADER}"), "jobset").problems


@pytest.mark.parametrize("target", ABLE)
@pytest.mark.parametrize(
    "words",
    [
        "runPolicy: {onPodFailure: RestartPod}",
        "runPolicy: {onPodFailure: FailJob}",
        "spot: true\nelastic: {maxRestarts: 1}\nrunPolicy: {onPodFailure: FailJob}",
        "roles: {loader: {restartPolicy: OnFailure}}\nrunPolicy: {onPodFailure: RestartJob}",
    ],
)
def test_job_policies_do_not_conflict_with_a_role_restarted_in_place(
    target: str, words: str
) -> None:
    body = words if "roles" in words else f"{words}\n{LOADER}"
    problems = compiled(smallest(body), target, SPOT).problems
    assert [
        problem for problem in problems if problem.path != ("spec", "spot")
    ] == []  # Volcano's warning


def test_role_restarted_in_place_needs_no_retries_of_the_job() -> None:
    spec, jobs = replicated(f"nodes: 2\n{LOADER}", "jobset")
    assert "failurePolicy" not in spec
    limits = {name: job["template"]["spec"]["backoffLimit"] for name, job in jobs.items()}
    assert limits == {"node": 0, "loader": 6}
    spec, _ = tasks(f"nodes: 2\n{LOADER}")
    assert spec["maxRetry"] == 1


def test_role_with_policy_never_fails_like_a_training_role() -> None:
    body = "nodes: 2\nroles: {loader: {restartPolicy: Never}}\nrunPolicy: {onDisruption: Ignore%s}"
    spec, jobs = replicated(body % "", "jobset")
    assert spec["failurePolicy"]["rules"][0]["action"] == "RestartJobSetAndIgnoreMaxRestarts"
    _, alone = replicated(body % ", onPodFailure: RestartPod", "jobset")
    for found, action, limit in ((jobs, "FailJob", 0), (alone, "Ignore", 12)):
        job = found["loader"]["template"]["spec"]
        assert [rule["action"] for rule in job["podFailurePolicy"]["rules"]] == [action]
        assert job["backoffLimit"] == limit


def test_zero_retries_for_a_role_that_restarts_is_a_warning() -> None:
    """A backoffLimit of 0 counts as set, and it also limits a role's restarts."""
    problems = compiled(
        smallest("roles: {ps: {restartPolicy: OnFailure}}\nrunPolicy: {backoffLimit: 0}")
    ).problems
    assert "no-retries-left" in [problem.name for problem in problems]
    problems = compiled(smallest("roles: {ps: {}}\nrunPolicy: {backoffLimit: 0}")).problems
    assert "no-retries-left" not in [problem.name for problem in problems]


@pytest.mark.parametrize("policy", ["OnFailure", "Never"])
@pytest.mark.parametrize("target", [name for name in TARGETS if name not in ABLE])
def test_targets_without_roles_do_not_report_role_restarts(target: str, policy: str) -> None:
    cluster = making.profile({"spot": {"nodeLabels": {"spot": "true"}}})
    body = "spot: true\nelastic: {maxRestarts: 1}\n"
    with_role = compiled(
        smallest(f"{body}roles: {{loader: {{restartPolicy: {policy}}}}}"), target, cluster
    ).problems
    refusal = [one for one in with_role if one.path == ("spec", "roles", "loader")]
    assert [one.name for one in refusal] == ["unsupported-by-target"]
    assert [one for one in with_role if one not in refusal] == [
        *compiled(smallest(body), target, cluster).problems
    ]
