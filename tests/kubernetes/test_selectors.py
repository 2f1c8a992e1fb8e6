"""Selectors, requirements and tolerations, as the libraries of Kubernetes answer."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.selectors import ALL, Chosen, meets, selects, tolerates, untolerated

Json = dict[str, Any]
TAINT: Json = {"key": "gpu", "value": "h100", "effect": "NoSchedule"}
SERVICE_LEVEL: Json = {"key": "sla", "value": "900", "effect": "NoExecute"}
LABELS = {"pool": "gold", "cores": "16", "size": "80Gi", "empty": ""}


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "gpu", "value": "h100"}, True),
        ({"key": "gpu", "operator": "", "value": "h100"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "h100", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "value": "a100"}, False),
        ({"key": "gpu"}, False),
        ({"key": "cpu", "value": "h100"}, False),
        ({"key": "gpu", "value": "h100", "effect": "NoExecute"}, False),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Exists", "value": "a100"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "cpu", "operator": "Exists"}, False),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        # an empty key fits every key, whatever the operator: only the API server's validation asks for Exists
        ({}, False),
        ({"value": "h100"}, True),
        ({"key": "", "operator": "Equal", "value": "h100"}, True),
        ({"key": "gpu", "operator": "Unknown", "value": "h100"}, False),
        ({"key": "gpu", "operator": "Gt", "value": "0"}, False),
    ],
)
def test_a_toleration_covers_a_taint_as_core_v1_says(toleration: Json, tolerated: bool) -> None:
    """Kubernetes 1.36, k8s.io/api core/v1/toleration.go `ToleratesTaint`."""
    assert tolerates(toleration, TAINT) is tolerated
    assert (
        untolerated([TAINT], [{"key": "other", "operator": "Exists"}, toleration]) is None
    ) is tolerated


@pytest.mark.parametrize(
    ("operator", "value", "tolerated"),
    [
        ("Lt", "950", True),
        ("Lt", "900", False),
        ("Lt", "850", False),
        ("Gt", "850", True),
        ("Gt", "900", False),
        ("Gt", "many", False),
        ("Gt", "", False),
    ],
)
def test_numbers_are_compared_behind_a_gate(operator: str, value: str, tolerated: bool) -> None:
    """The taint's value is less, or greater, than the toleration's (gate TaintTolerationComparisonOperators)."""
    toleration = {"key": "sla", "operator": operator, "value": value}
    assert tolerates(toleration, SERVICE_LEVEL, compares=True) is tolerated
    assert not tolerates(toleration, SERVICE_LEVEL)


def test_a_taint_that_only_prefers_keeps_nothing_away() -> None:
    soft = {"key": "gpu", "effect": "PreferNoSchedule"}
    assert untolerated([soft, TAINT], []) is TAINT
    assert untolerated([soft], []) is None


@pytest.mark.parametrize(
    ("key", "operator", "values", "met"),
    [
        ("pool", "In", ["gold", "silver"], True),
        ("pool", "In", ["silver"], False),
        ("absent", "In", ["gold"], False),
        ("absent", "In", [""], False),
        ("empty", "In", [""], True),
        ("pool", "NotIn", ["silver"], True),
        ("pool", "NotIn", ["gold"], False),
        ("absent", "NotIn", ["gold"], True),
        ("pool", "Exists", [], True),
        ("absent", "Exists", [], False),
        ("pool", "DoesNotExist", [], False),
        ("absent", "DoesNotExist", [], True),
        ("cores", "Gt", ["8"], True),
        ("cores", "Gt", ["16"], False),
        ("cores", "Lt", ["17"], True),
        ("cores", "Lt", ["17", "18"], False),
        ("cores", "Lt", [], False),
        ("cores", "Gt", ["1.5"], False),
        ("size", "Gt", ["40"], False),
        ("absent", "Lt", ["40"], False),
        ("pool", "in", ["gold"], False),
        ("pool", None, None, False),
        ("pool", "In", ["gold", 1], True),
        ("pool", "In", "gold", False),
        ({"a": 1}, "In", ["gold"], False),
    ],
)
def test_a_requirement_is_met_as_the_label_library_says(
    key: Any, operator: Any, values: Any, met: bool
) -> None:
    """Kubernetes 1.36, k8s.io/apimachinery pkg/labels/selector.go `Requirement.Matches`."""
    requirement = {"key": key, "operator": operator, "values": values}
    assert meets(LABELS, requirement) is met
    assert selects({"matchExpressions": [requirement]}, LABELS) is met


def test_a_selector_needs_all_of_its_labels() -> None:
    assert selects({}, LABELS)
    assert selects({"matchLabels": {"pool": "gold", "cores": "16"}}, LABELS)
    assert not selects({"matchLabels": {"pool": "gold", "zone": "b"}}, LABELS)
    assert selects({"matchLabels": {"pool": "gold", "zone": "b"}}, LABELS, partly=True)
    assert not selects({"matchLabels": {"pool": "silver"}}, LABELS, partly=True)


@pytest.mark.parametrize("value", [["a"], {"a": 1}])
def test_labels_of_any_shape_do_not_stop_the_choice_of_jobs(value: object) -> None:
    manifest: Json = {"kind": "Job", "metadata": {"labels": {"team": value}}}

    assert ALL.includes(manifest)
    assert not Chosen(labels=frozenset({("team", "a")})).includes(manifest)
    assert not Chosen(frozenset({"Job"})).includes({"kind": value})
