"""The pass `restarts`: the kubelet restarts the training container in its pod by its exit status.

Source: docs/facts/gangs.md#restarts-in-place.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.restarts import restarts
from ptcompile.ir.job import Job, RestartRule, Role, RunPolicy
from tests import making
from tests.making import compiled, profile, smallest

RULES = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]


def with_rule(**main: Any) -> Job:
    job = making.job(making.template(main=main))
    return job._replace(run_policy=RunPolicy(restart_in_place=RestartRule((42,), "Restart")))


def extra_of(job: Job) -> list[dict[str, Any]]:
    done = restarts(job, making.context())
    assert restarts(done, making.context()) == done
    return [dict(role.template.main.extra) for role in done.roles]


def test_training_containers_get_the_rules() -> None:
    job = with_rule()
    roles = (*job.roles, Role("loader", 1, making.template(), "OnFailure", trains=False))
    assert extra_of(job._replace(roles=roles)) == [
        {"restartPolicy": "Never", "restartPolicyRules": RULES},
        {},
    ]


def test_the_container_has_the_policy_of_its_pod() -> None:
    job = with_rule()
    (extra,) = extra_of(job._replace(roles=(job.roles[0]._replace(restart_policy="OnFailure"),)))
    assert extra["restartPolicy"] == "OnFailure"


def test_the_user_s_rules_are_unchanged() -> None:
    mine = {"restartPolicy": "Always", "restartPolicyRules": []}
    assert extra_of(with_rule(extra=mine)) == [mine]


def test_a_job_without_the_word_is_unchanged() -> None:
    job = making.job()
    assert restarts(job, making.context()) is job


IN_PLACE = "nodes: 2\nrunPolicy: {restartInPlace: {exitCodes: [137], action: %s}}"


@pytest.mark.parametrize(
    ("release", "action", "target", "expected"),
    [
        ("1.36", "RestartAllContainers", "jobset", []),
        ("1.35", "Restart", "job", []),
        ("1.35", "RestartAllContainers", "job", ["error unsupported-by-target"]),
        ("1.34", "Restart", "jobset", ["error unsupported-by-target"]),
        ("1.33", "Restart", "job", ["error unsupported-by-target"]),
        ("1.36", "Restart", "pytorchjob", ["error unsupported-by-target"]),
        ("1.36", "Restart", "volcano", ["error unsupported-by-target"]),
    ],
)
def test_actions_that_a_release_lacks_are_errors(
    release: str, action: str, target: str, expected: list[str]
) -> None:
    done = compiled(
        smallest(IN_PLACE % action), target, profile({"versions": {"kubernetes": release}})
    )
    found = {
        f"{problem.severity} {problem.name}"
        for problem in done.problems
        if problem.severity != "note"
    }
    assert sorted(found) == expected
    assert all(
        problem.path[:3] == ("spec", "runPolicy", "restartInPlace")
        for problem in done.problems
        if problem.severity == "error"
    )


def test_nodes_that_restart_meet_by_c10d() -> None:
    done = compiled(
        smallest(IN_PLACE % "Restart"), "job", profile({"versions": {"kubernetes": "1.36"}})
    )
    assert "--rdzv-backend=c10d" in str(done.manifests)
