"""Rules for Jobs (numbers 164 to 195). Each row has the number of its rule.

Rule 196 concerns updates, which a single file does not show.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.validation.job import count_indexes

INV, R, NS, D, TL, TM = (
    "invalid-value",
    "required-value",
    "unsupported-value",
    "duplicate-value",
    "too-long-value",
    "too-many-items",
)
POLICY, RULE = "spec.podFailurePolicy", "spec.podFailurePolicy.rules[0]"
SUCCESS = "spec.successPolicy"
INDEXED = {"spec.completionMode": "Indexed", "spec.completions": 4, "spec.parallelism": 4}
CODES = {"operator": "In", "values": [1]}


def failure(**rule: Any) -> dict[str, Any]:
    return {POLICY: {"rules": [{"action": "Ignore", **rule}]}}


def codes(**fields: Any) -> dict[str, Any]:
    return failure(onExitCodes={**CODES, **fields})


def success(**rule: Any) -> dict[str, Any]:
    return {**INDEXED, SUCCESS: {"rules": [rule]}}


ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("164", {"T.spec.restartPolicy": ...}, [f"spec.template.spec.restartPolicy {R}"]),
    ("164", {"T.spec.restartPolicy": "Always"}, [f"spec.template.spec.restartPolicy {R}"]),
    (
        "164",
        {"spec": ...},
        [f"spec.template.spec.containers {R}", f"spec.template.spec.restartPolicy {R}"],
    ),
    (
        "165 one cause",
        {"T.spec.restartPolicy": "never"},
        [f"spec.template.spec.restartPolicy {NS}"],
    ),
    (
        "166",
        {"T.spec.restartPolicy": "OnFailure", **codes()},
        [f"spec.template.spec.restartPolicy {INV}"],
    ),
    ("167", {"spec.completionMode": "Indexed", "spec.parallelism": 2}, [f"spec.completions {R}"]),
    ("167 ok, both default to 1", {"spec.completionMode": "Indexed"}, []),
    ("168", {"spec.completionMode": "indexed"}, [f"spec.completionMode {NS}"]),
    (
        "169",
        {"spec.backoffLimit": -1, "spec.ttlSecondsAfterFinished": -1},
        [
            f"spec.backoffLimit {INV}",
            f"spec.ttlSecondsAfterFinished {INV}",
        ],
    ),
    ("169 ok", {"spec.activeDeadlineSeconds": 0}, []),
    ("170", {**INDEXED, "spec.parallelism": 100001}, [f"spec.parallelism {INV}"]),
    ("171", {"spec.backoffLimitPerIndex": 1}, [f"spec.backoffLimitPerIndex {INV}"]),
    ("172", {**INDEXED, "spec.maxFailedIndexes": 1}, [f"spec.backoffLimitPerIndex {R}"]),
    (
        "173",
        {**INDEXED, "spec.backoffLimitPerIndex": 1, "spec.maxFailedIndexes": 5},
        [f"spec.maxFailedIndexes {INV}"],
    ),
    (
        "174 ok",
        {**INDEXED, "spec.backoffLimitPerIndex": 1, "T.spec.restartPolicy": "OnFailure"},
        [],
    ),
    ("175", {"spec.managedBy": "me"}, [f"spec.managedBy {INV}"]),
    ("175", {"spec.managedBy": "a.io/" + "x" * 59}, [f"spec.managedBy {TL}"]),
    ("176", {"metadata.name": "a" * 62, **INDEXED}, [f"metadata.name {INV}"]),
    ("176 ok", {"metadata.name": "a" * 61, **INDEXED}, []),
    ("177", {"metadata.name": "a" * 64}, [f"spec.template.labels {INV}"]),
    ("178", {"metadata.name": "a.b", **INDEXED}, [f"metadata.name {INV}"]),
    ("178 warning only", {"metadata.name": "a.b"}, []),
    (
        "179",
        {POLICY: {"rules": [{"action": "Ignore", "onExitCodes": CODES}] * 21}},
        [f"{POLICY}.rules {TM}"],
    ),
    ("180", failure(action="", onExitCodes=CODES), [f"{RULE}.action {R}"]),
    ("180", failure(action="Fail", onExitCodes=CODES), [f"{RULE}.action {NS}"]),
    (
        "181",
        {**INDEXED, **failure(action="FailIndex", onExitCodes=CODES)},
        [f"{RULE}.action {INV}"],
    ),
    ("182", failure(), [f"{RULE} {INV}"]),
    (
        "182",
        failure(onExitCodes=CODES, onPodConditions=[{"type": "DisruptionTarget"}]),
        [f"{RULE} {INV}"],
    ),
    ("183", codes(operator=""), [f"{RULE}.onExitCodes.operator {R}"]),
    ("184", codes(values=[]), [f"{RULE}.onExitCodes.values {INV}"]),
    ("184", codes(values=[2, 1]), [f"{RULE}.onExitCodes.values {INV}"]),
    ("185", codes(values=[1, 1]), [f"{RULE}.onExitCodes.values[1] {D}"]),
    ("185", codes(values=[0]), [f"{RULE}.onExitCodes.values[0] {INV}"]),
    ("185 ok", codes(operator="NotIn", values=[0, 1]), []),
    ("186", codes(containerName="x"), [f"{RULE}.onExitCodes.containerName {INV}"]),
    (
        "187",
        failure(onPodConditions=[{"type": "a b", "status": "x"}]),
        [
            f"{RULE}.onPodConditions[0].type {INV}",
            f"{RULE}.onPodConditions[0].status {NS}",
        ],
    ),
    ("188 ok", {POLICY: {"rules": []}}, []),
    ("189", {"spec.podReplacementPolicy": "x"}, [f"spec.podReplacementPolicy {NS}"]),
    (
        "189",
        {"spec.podReplacementPolicy": "TerminatingOrFailed", **codes()},
        [f"spec.podReplacementPolicy {NS}"],
    ),
    ("190", {SUCCESS: {"rules": [{"succeededCount": 1}]}}, [f"{SUCCESS} {INV}"]),
    ("191", {**INDEXED, SUCCESS: {"rules": []}}, [f"{SUCCESS}.rules {R}"]),
    ("191", success(), [f"{SUCCESS}.rules[0] {R}"]),
    ("192", success(succeededIndexes="0,x"), [f"{SUCCESS}.rules[0].succeededIndexes {INV}"]),
    ("192", success(succeededIndexes="2,1"), [f"{SUCCESS}.rules[0].succeededIndexes {INV}"]),
    ("192", success(succeededIndexes="0-4"), [f"{SUCCESS}.rules[0].succeededIndexes {INV}"]),
    ("192 ok", success(succeededIndexes="0,2-3", succeededCount=3), []),
    ("193", success(succeededCount=5), [f"{SUCCESS}.rules[0].succeededCount {INV}"]),
    (
        "193",
        success(succeededIndexes="0-1", succeededCount=3),
        [f"{SUCCESS}.rules[0].succeededCount {INV}"],
    ),
    (
        "194",
        {"T.metadata": {"labels": {"job-name": "x"}}},
        ["spec.template.metadata.labels[job-name] " + INV],
    ),
    (
        "194 ok",
        {"T.metadata": {"labels": {"job-name": "j", "batch.kubernetes.io/job-name": "j"}}},
        [],
    ),
    (
        "194 uid",
        {"T.metadata": {"labels": {"controller-uid": "x"}}},
        [f"spec.template.metadata.labels[controller-uid] {INV}"],
    ),
    (
        "195",
        {"spec.selector": {"matchLabels": {"a": "b"}}, "T.metadata": {"labels": {"a": "b"}}},
        [f"spec.selector {INV}"],
    ),
    (
        "195 ok, what the server would make",
        {"spec.selector": {"matchLabels": {"job-name": "j"}}},
        [],
    ),
    ("195 manual", {"spec.manualSelector": True}, [f"spec.selector {R}"]),
    (
        "195 manual",
        {"spec.manualSelector": True, "spec.selector": {"matchLabels": {"a": "b"}}},
        [f"spec.template.metadata.labels {INV}"],
    ),
    (
        "195 manual ok",
        {
            "spec.manualSelector": True,
            "spec.selector": {"matchLabels": {"a": "b"}},
            "T.metadata": {"labels": {"a": "b"}},
        },
        [],
    ),
]


@pytest.mark.parametrize(("rule", "changes", "expected"), ROWS)
def test_the_rule_rejects_exactly_these_fields(
    rule: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict("job", changes) == expected, rule


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("0", 1), ("0,2-4", 4), ("1-1", None), ("3-2", None), ("1-2-3", None), ("a", None)],
)
def test_indexes_are_counted(text: str, count: int | None) -> None:
    assert count_indexes(text, 5)[0] == count
