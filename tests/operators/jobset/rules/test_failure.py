"""Failure policies of JobSets.

Source: docs/facts/jobset.md#fields, #failure-and-success.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.manifests import jobset, paths, replicated, rules_with_problems


def rule(action: str, **conditions: Any) -> dict[str, Any]:
    return {"name": action, "action": action, **conditions}


def policy(*rules: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return jobset(
        replicated("node"), failurePolicy={"maxRestarts": 3, "rules": list(rules), **fields}
    )


@pytest.mark.parametrize(
    ("fields", "fires"),
    [
        ({"maxRestarts": 3, "restartStrategy": "Recreate"}, False),
        ({"restartStrategy": "Recreate"}, True),
        ({"maxRestarts": 0, "restartStrategy": "Recreate"}, True),
        ({}, False),
        ({"maxRestarts": 0}, False),
        ({"rules": [rule("RestartJobSet")]}, True),
        ({"rules": [rule("FailJobSet"), rule("RestartJobSetAndIgnoreMaxRestarts")]}, False),
    ],
)
def test_rules_of_restarts_need_a_maximum(fields: dict[str, Any], fires: bool) -> None:
    assert (
        "restarts-without-max"
        in rules_with_problems(jobset(replicated("node"), failurePolicy=fields))
    ) is fires


def test_a_rule_without_conditions_shadows_those_after_it() -> None:
    some = rule("FailJobSet", onJobFailureReasons=["BackoffLimitExceeded"])
    assert paths(policy(some, rule("RestartJobSet"), some, some), "shadowed-failure-rule") == [
        ("spec", "failurePolicy", "rules", 2),
        ("spec", "failurePolicy", "rules", 3),
    ]
    assert "shadowed-failure-rule" not in rules_with_problems(policy(some, rule("RestartJobSet")))


def test_restarts_without_an_end_are_reported() -> None:
    ignore = "RestartJobSetAndIgnoreMaxRestarts"
    assert "endless-jobset-restarts" in rules_with_problems(policy(rule(ignore)))
    assert "endless-jobset-restarts" not in rules_with_problems(
        policy(rule(ignore, targetReplicatedJobs=["node"]))
    )


@pytest.mark.parametrize(
    ("reasons", "job", "fires"),
    [
        (["DeadlineExceeded"], {}, True),
        (["DeadlineExceeded"], {"activeDeadlineSeconds": 60}, False),
        (["DeadlineExceeded", "BackoffLimitExceeded"], {}, False),
        (["DeadlineExceeded", "PodFailurePolicy"], {}, True),
        (["FailedIndexes"], {"backoffLimitPerIndex": 0}, False),
        ([], {}, False),
    ],
)
def test_a_failure_reason_must_be_possible(
    reasons: list[str], job: dict[str, Any], fires: bool
) -> None:
    fields = {"maxRestarts": 1, "rules": [rule("FailJobSet", onJobFailureReasons=reasons)]}
    assert (
        "dead-failure-rule"
        in rules_with_problems(jobset(replicated("node", job=job), failurePolicy=fields))
    ) is fires
    other = replicated("other", job={"activeDeadlineSeconds": 60})
    fields["rules"] = [
        rule("FailJobSet", onJobFailureReasons=["DeadlineExceeded"], targetReplicatedJobs=["node"])
    ]
    assert "dead-failure-rule" in rules_with_problems(
        jobset(replicated("node"), other, failurePolicy=fields)
    )
