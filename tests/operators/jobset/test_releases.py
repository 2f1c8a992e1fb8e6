"""JobSet 0.8 to 0.12, and its feature gates (docs/facts/jobset.md#feature-gates, #what-releases-changed)."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import validate
from ptcompile.differ.changes import changes
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.jobset.admission import validate_update
from tests.operators.making import Json, jobset, replicated

PATTERNS = {"rules": [{"name": "r", "action": "FailJobSet", "onJobFailureMessagePatterns": ["x"]}]}
RESTART_JOB = {"rules": [{"name": "r", "action": "RestartJob"}]}
IN_PLACE = {"restartStrategy": "InPlaceRestart"}
IN_PLACE_JOB = {"backoffLimit": 2**31 - 1, "podReplacementPolicy": "Failed"}
DEPENDS = [{"name": "a", "status": "Ready"}, {"name": "b", "status": "Ready"}]


def names(manifest: Json, minor: int, **gates: bool) -> list[tuple[str, str, str]]:
    versions = Versions(
        jobset=(0, minor),
        gates=tuple(("jobset", *gate) for gate in gates.items()),
        declared=frozenset({"jobset"}),
    )
    return [
        (problem.name, problem.severity, ".".join(map(str, problem.path)))
        for problem in validate(manifest, versions=versions)
    ]


@pytest.mark.parametrize(
    ("manifest", "since", "path"),
    [
        (jobset(replicated("a", groupName="g")), 9, "spec.replicatedJobs.0.groupName"),
        (
            jobset(replicated("a"), failurePolicy=PATTERNS),
            10,
            "spec.failurePolicy.rules.0.onJobFailureMessagePatterns",
        ),
        (
            jobset(replicated("a"), volumeClaimPolicies=[{"templates": []}]),
            11,
            "spec.volumeClaimPolicies",
        ),
    ],
)
def test_fields_need_their_release(manifest: Json, since: int, path: str) -> None:
    assert names(manifest, since - 1) == [("version-unknown-field", "error", path)]
    assert names(manifest, since) == []


def test_the_message_names_the_release_that_added_a_field() -> None:
    versions = Versions(jobset=(0, 8), declared=frozenset({"jobset"}))
    (problem,) = validate(jobset(replicated("a", groupName="g")), versions=versions)
    assert (
        problem.message
        == "spec.replicatedJobs[0].groupName: unknown field in JobSet 0.8: added in 0.9"
    )
    assert problem.help == "remove it, or use JobSet 0.9 or newer"


@pytest.mark.parametrize(
    ("policy", "since", "gate", "path"),
    [
        (IN_PLACE, 11, "InPlaceRestart", "spec.failurePolicy.restartStrategy"),
        (RESTART_JOB, 12, "RestartJob", "spec.failurePolicy.rules.0.action"),
    ],
)
def test_values_need_their_gate(policy: Json, since: int, gate: str, path: str) -> None:
    manifest = jobset(replicated("a", pods=2, job=IN_PLACE_JOB), failurePolicy=policy)
    assert names(manifest, since - 1) == [("version-unknown-field", "error", path)]
    assert names(manifest, since) == [("webhook-refusal", "error", path)]
    assert names(manifest, since, **{gate: True}) == []
    assert names(manifest, since - 1, **{gate: True}) == [("version-unknown-field", "error", path)]


@pytest.mark.parametrize("field", ["backoffLimit", "podReplacementPolicy", "completions"])
def test_jobs_that_restart_in_place_are_checked(field: str) -> None:
    manifest = jobset(
        replicated("a", pods=2, job={**IN_PLACE_JOB, field: None}), failurePolicy=IN_PLACE
    )
    path = f"spec.replicatedJobs.0.template.spec.{field}"
    assert ("webhook-refusal", "error", path) in names(manifest, 12, InPlaceRestart=True)


def test_single_jobs_restart_among_1024_replicas() -> None:
    def of(replicas: int) -> Json:
        return jobset(replicated("a", replicas=replicas), failurePolicy=RESTART_JOB)

    assert names(of(1024), 12, RestartJob=True) == []
    assert names(of(1025), 12, RestartJob=True) == [
        ("webhook-refusal", "error", "spec.failurePolicy.rules.0.action")
    ]


def test_several_dependencies_are_allowed_since_0_9() -> None:
    manifest = jobset(replicated("a"), replicated("b"), replicated("c", dependsOn=DEPENDS))
    assert names(manifest, 8) == [("webhook-refusal", "error", "spec.replicatedJobs.2.dependsOn")]
    assert names(manifest, 9) == []


def test_the_label_of_a_coordinator_is_checked_since_0_11() -> None:
    manifest = jobset(
        replicated("w"),
        name="a" * 40,
        coordinator={"replicatedJob": "w"},
        network={"subdomain": "s" * 20},
    )
    assert names(manifest, 10) == []
    assert names(manifest, 11) == [("webhook-refusal", "error", "spec.coordinator")]


def _resized(after: dict[str, Any], status: Json | None = None, **gates: bool) -> list[str]:
    old = {
        **jobset(replicated("a", pods=2, job={"completionMode": "Indexed"})),
        **({"status": status} if status else {}),
    }
    new = jobset(replicated("a", pods=2, job={"completionMode": "Indexed", **after}))
    touched = tuple(
        change.path
        for change in changes(
            jobset(replicated("a", pods=2, job={"completionMode": "Indexed"})), new
        )
    )
    versions = Versions(gates=tuple(("jobset", *gate) for gate in gates.items()))
    return [
        ".".join(map(str, problem.path))
        for problem in validate_update(Update(old, new, versions, touched))
    ]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"parallelism": 4, "completions": 4}, []),
        ({"parallelism": 4}, ["spec.replicatedJobs.0.template.spec.completions"]),
        (
            {"parallelism": 0, "completions": 0},
            [
                "spec.replicatedJobs.0.template.spec.parallelism",
                "spec.replicatedJobs.0.template.spec.completions",
            ],
        ),
        ({"parallelism": 4, "completions": 4, "backoffLimit": 1}, ["spec.replicatedJobs"]),
    ],
)
def test_an_elastic_jobset_changes_its_size(after: dict[str, Any], expected: list[str]) -> None:
    assert _resized(after, ElasticJobSet=True) == expected
    assert _resized(after) == ["spec.replicatedJobs"]


def test_a_jobset_that_has_ended_keeps_its_size() -> None:
    ended = {"conditions": [{"type": "Completed", "status": "True"}]}
    assert _resized({"parallelism": 4, "completions": 4}, ended, ElasticJobSet=True) == [
        "spec.replicatedJobs.0.template.spec"
    ]
