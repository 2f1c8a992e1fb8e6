"""Operators' and the kubelet's answers to a failed pod, in the order in which they decide."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kinds.model import Retry
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.operators.table import kind_named
from tests.operators.test_lost_pods import (
    CASES,
    IGNORED,
    TEMPLATE,
    batch_job,
    jobset,
    manifest,
    pytorchjob,
    rule,
    volcano,
)

ON_FAILURE = {"spec": {**TEMPLATE["spec"], "restartPolicy": "OnFailure"}}


def restarts(role: str, data: dict[str, Any], exit_code: int | None = 1) -> tuple[Retry, ...]:
    answers = kind_named(kind_of(data)).restarts(data, role, [data], exit_code)
    assert answers is not None
    return answers


def summary(
    role: str, data: dict[str, Any], exit_code: int | None = 1
) -> list[tuple[str, int | None, str]]:
    return [(retry.scope, retry.limit, retry.counted) for retry in restarts(role, data, exit_code)]


def on_exit(action: str, *codes: int, operator: str = "In") -> dict[str, Any]:
    return {
        "podFailurePolicy": {
            "rules": [{"action": action, "onExitCodes": {"operator": operator, "values": [*codes]}}]
        }
    }


def failed(action: str, event: str = "PodFailed") -> dict[str, Any]:
    return {"event": event, "action": action}


def in_place(**fields: Any) -> dict[str, Any]:
    return manifest("batch/v1", "Job", {**fields, "template": ON_FAILURE})


CHILD = {"backoffLimit": 0}
FAILED: list[tuple[str, dict[str, Any], int, list[tuple[str, int | None, str]]]] = [
    ("", batch_job(), 1, [("pod", 6, "role")]),
    ("", batch_job(backoffLimit=0), 1, [("pod", 0, "role")]),
    ("", batch_job(backoffLimitPerIndex=2, completionMode="Indexed"), 1, [("pod", 2, "pod")]),
    ("", batch_job(**on_exit("FailJob", 1, 2)), 1, []),
    ("", batch_job(**on_exit("FailJob", 1, 2)), 3, [("pod", 6, "role")]),
    ("", batch_job(**on_exit("FailJob", 3, operator="NotIn")), 1, []),
    ("", batch_job(**on_exit("Ignore", 1)), 1, [("pod", None, "pod")]),
    ("", in_place(), 1, [("container", 5, "role")]),
    ("", in_place(backoffLimit=0), 1, [("container", 0, "role")]),
    ("node", jobset(CHILD), 1, [("pod", 0, "role")]),
    ("node", jobset(CHILD, maxRestarts=3), 1, [("pod", 0, "role"), ("job", 3, "job")]),
    (
        "node",
        jobset({}, maxRestarts=3, rules=[rule("RestartJob")]),
        1,
        [("pod", 6, "role"), ("role", 3, "job")],
    ),
    ("node", jobset(CHILD, maxRestarts=3, rules=[rule("FailJobSet")]), 1, [("pod", 0, "role")]),
    ("node", jobset(CHILD, rules=[IGNORED]), 1, [("pod", 0, "role"), ("job", 0, "job")]),
    ("Worker", pytorchjob("Never"), 1, []),
    ("worker", pytorchjob("OnFailure"), 1, [("container", None, "job")]),
    ("Worker", pytorchjob("Always", backoffLimit=3), 1, [("container", 2, "job")]),
    ("Worker", pytorchjob("OnFailure", backoffLimit=0), 1, [("container", 0, "job")]),
    ("Worker", pytorchjob("ExitCode"), 1, []),
    ("Worker", pytorchjob("ExitCode"), 137, [("pod", None, "pod")]),
    ("node", volcano(), 1, []),
    ("node", volcano(failed("RestartJob")), 1, [("job", 2, "job")]),
    ("node", volcano(failed("RestartJob"), maxRetry=1), 1, [("job", 0, "job")]),
    ("node", volcano(failed("RestartTask")), 1, [("role", 2, "job")]),
    ("node", volcano(failed("AbortJob")), 1, []),
    ("node", volcano({"exitCode": 3, "action": "RestartPod"}), 3, [("pod", 2, "job")]),
    ("node", volcano({"exitCode": 3, "action": "RestartPod"}), 1, []),
    (
        "node",
        volcano(failed("AbortJob"), task=(failed("RestartJob", "*"),)),
        1,
        [("job", 2, "job")],
    ),
    ("", {"apiVersion": "v1", "kind": "Pod", "spec": {"restartPolicy": "Never"}}, 1, []),
    ("", {"apiVersion": "v1", "kind": "Pod", "spec": {}}, 1, [("container", None, "job")]),
]


@pytest.mark.parametrize(("role", "data", "exit_code", "expected"), FAILED)
def test_a_failed_pod_is_answered_as_recorded(
    role: str, data: dict[str, Any], exit_code: int, expected: list[tuple[str, int | None, str]]
) -> None:
    assert summary(role, data, exit_code) == expected


@pytest.mark.parametrize(
    ("role", "data", "recreated"), [case for case in CASES if case[1]["kind"] != "MPIJob"]
)
def test_the_first_answer_to_a_lost_pod_is_what_lost_pod_says(
    role: str, data: dict[str, Any], recreated: str
) -> None:
    usable = [retry.scope for retry in restarts(role, data, None) if retry.limit != 0]
    assert usable[:1] == ([] if recreated == "none" else [recreated])


def test_a_container_that_restarts_in_place_never_fails_its_volcano_pod() -> None:
    data = volcano(failed("RestartJob"))
    data["spec"]["tasks"][0]["template"] = ON_FAILURE
    assert summary("node", data) == [("container", None, "role")]
    data["spec"]["policies"] = [failed("RestartJob", "TaskFailed")]
    assert summary("node", data) == [("container", 2, "role"), ("job", 2, "job")]


def test_each_job_of_a_replicated_job_counts_its_own_pods() -> None:
    data = jobset({"parallelism": 2, "completions": 2}, maxRestarts=1)
    data["spec"]["replicatedJobs"][0]["replicas"] = 3
    assert [retry.size for retry in restarts("node", data)] == [2, 2]


def test_the_delays_are_those_of_the_job_controller_and_the_kubelet() -> None:
    pod, container = restarts("", batch_job())[0], restarts("", in_place())[0]
    assert pod.delay == 10
    assert pod.longest_delay == 600
    assert not pod.immediate
    assert container.delay == 10
    assert container.longest_delay == 300
    assert container.immediate
    assert (pod.text, container.text) == ("backoffLimit 6", "backoffLimit 6")


def test_a_trainjob_is_answered_as_its_jobset() -> None:
    spec = (
        "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: t}\nspec: {image: i:1, script: t.py, nodes: 2, "
        "runPolicy: {onPodFailure: RestartJob, backoffLimit: 2}}\n"
    )
    jobs = [ptcompile.simulate(spec, target=target).jobs[0] for target in ("jobset", "trainjob")]
    answers = [
        kind_named(kind_of(job.manifest)).restarts(job.manifest, job.roles[0].name, job.stream, 1)
        for job in jobs
    ]
    assert answers[0] == answers[1]
    assert [retry.text for retry in answers[0] or ()] == ["backoffLimit 0", "maxRestarts 2"]
