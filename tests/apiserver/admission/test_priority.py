"""Priorities and preemption policies that a class of the files does not give."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.admission.beside import Json, messages, pod, quota, rejections


def priority_class(name: str, value: int, **fields: Any) -> Json:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    } | fields


HIGH = priority_class("high", 1000)
DEFAULT = priority_class("usual", 50, globalDefault=True, preemptionPolicy="Never")
WRONG = "must not be provided in pod spec"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"priorityClassName": "high", "priority": 1000}, []),
        ({"priorityClassName": "high", "priority": 5}, ["error: computed 1000"]),
        (
            {"priorityClassName": "high", "preemptionPolicy": "Never"},
            ["error: computed PreemptLowerPriority"],
        ),
        (
            {"priorityClassName": "system-node-critical", "priority": 1},
            ["error: computed 2000001000"],
        ),
        ({"priorityClassName": "unknown", "priority": 1}, []),
        ({"priorityClassName": "unknown", "priority": 2 * 10**9}, ["error: "]),
        ({"priority": 7}, ["error: computed 0"]),
        ({"priority": 0}, []),
    ],
)
def test_a_pod_must_have_the_priority_of_its_class(spec: Json, expected: list[str]) -> None:
    outcomes = [
        f"{rejection.severity}: {rejection.message}"
        for rejection in rejections(HIGH, pod({}, **spec))
    ]
    assert all(WRONG in message for message in outcomes)
    marks = [(text.partition(": ")[0], text.partition(": ")[2]) for text in expected]
    assert [message.partition(": ")[0] for message in outcomes] == [
        severity for severity, _ in marks
    ]
    assert all(mark in message for message, (_, mark) in zip(outcomes, marks, strict=True))


@pytest.mark.parametrize(
    ("spec", "severity"),
    [({"priority": 7}, "warning"), ({"priority": 2 * 10**9}, "error")],
    ids=["may be", "never"],
)
def test_without_classes_in_the_files_a_wrong_priority_is_less_certain(
    spec: Json, severity: str
) -> None:
    (rejection,) = rejections(pod({}, **spec))
    assert rejection.severity == severity
    assert rejection.message.endswith(WRONG)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"priority": 50}, 0),
        ({"priority": 0}, 1),
        ({"preemptionPolicy": "PreemptLowerPriority"}, 1),
        ({}, 0),
    ],
)
def test_the_default_class_decides_for_pods_without_one(spec: Json, expected: int) -> None:
    reported = rejections(DEFAULT, pod({}, **spec))
    assert [problem.severity for problem in reported] == ["error"] * expected


def test_the_default_class_counts_for_quotas() -> None:
    selector = {"scopeName": "PriorityClass", "operator": "In", "values": ["usual"]}
    scoped = quota({"pods": 0}, scopeSelector={"matchExpressions": [selector]})
    assert messages(scoped, pod({})) == []
    assert len(messages(scoped, DEFAULT, pod({}))) == 1


def test_a_second_default_class_is_rejected() -> None:
    (rejection,) = rejections(DEFAULT, priority_class("other", 5, globalDefault=True))
    assert rejection.message.endswith(
        "PriorityClass usual is already marked as default. Only one default can exist"
    )
    assert not rejections(HIGH, DEFAULT)
