"""Pods and groups of Pods that Kueue's webhook rejects."""

from __future__ import annotations

import pytest

from ptcompile.diagnostics import Path
from tests.operators.kueue.webhooks.making import (
    JOB,
    POD,
    QUEUE,
    Json,
    K,
    labelled,
    reasons,
    rejected,
    rejected_update,
)

NAME, TOTAL = f"{K}pod-group-name", f"{K}pod-group-total-count"
PREBUILT, MANAGED, RETRIABLE = f"{K}prebuilt-workload-name", f"{K}managed", f"{K}retriable-in-group"

GROUPS: list[tuple[Json, Json, Path | None]] = [
    ({NAME: "g"}, {TOTAL: "2"}, None),
    ({}, {NAME: "g", TOTAL: "+2"}, None),
    ({NAME: "Bad"}, {NAME: "g", TOTAL: "2"}, None),
    ({}, {}, None),
    ({NAME: ""}, {NAME: ""}, None),
    ({NAME: "g"}, {}, ("metadata", "labels", NAME)),
    ({}, {NAME: "g"}, ("metadata", "annotations", NAME)),
    ({}, {TOTAL: "2"}, ("metadata", "annotations", TOTAL)),
    ({NAME: "g"}, {TOTAL: "0"}, ("metadata", "annotations", TOTAL)),
    ({NAME: "g"}, {TOTAL: "two"}, ("metadata", "annotations", TOTAL)),
]


@pytest.mark.parametrize(("labels", "annotations", "path"), GROUPS)
def test_groups_have_a_name_and_a_size(labels: Json, annotations: Json, path: Path | None) -> None:
    assert rejected(labelled(POD, labels, annotations)) == (
        [] if path is None else [("unpaired-pod-group", path)]
    )
    assert rejected(labelled(JOB, labels, annotations)) == []


def test_the_name_of_a_group_is_that_of_an_object() -> None:
    rejections = rejected(labelled(POD, {NAME: "a_b"}, {TOTAL: "2"}))
    assert rejections == [("refused-queue-label", ("metadata", "labels", NAME))]


def test_a_group_with_a_workload_shares_its_name() -> None:
    assert rejected(labelled(POD, {NAME: "g", PREBUILT: "g"}, {TOTAL: "2"})) == []
    reported = reasons(labelled(POD, {NAME: "g", PREBUILT: "h"}, {TOTAL: "2"}))
    assert reported == ['Invalid value: "h": prebuilt workload and pod group should be equal']


def test_kueue_marks_the_pods_it_manages() -> None:
    assert reasons(labelled(POD, {MANAGED: "no"})) == [
        "Forbidden: managed label value can only be 'true'"
    ]
    assert reasons(labelled(POD, {MANAGED: "no", **QUEUE})) == [], "Kueue sets the label itself"


def test_the_group_of_a_live_pod_is_immutable() -> None:
    old = labelled(POD, {NAME: "g", MANAGED: "true"}, {TOTAL: "2", RETRIABLE: "false"})
    assert rejected_update(old, old) == []
    moved = labelled(POD, {NAME: "h", MANAGED: "true"}, {TOTAL: "2", RETRIABLE: "false"})
    assert rejected_update(old, moved) == ["pod-group-name: field is immutable"]
    retriable = labelled(POD, {NAME: "g", MANAGED: "true"}, {TOTAL: "2", RETRIABLE: "true"})
    why = "retriable-in-group: unretriable pod group can't be converted to retriable"
    assert rejected_update(old, retriable) == [why]
    assert rejected_update(labelled(POD, {MANAGED: "true"}), labelled(POD, {MANAGED: "x"})) == [
        "managed: managed label value can only be 'true'"
    ]
