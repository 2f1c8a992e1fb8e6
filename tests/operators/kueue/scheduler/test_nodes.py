"""Taints, selectors and node affinity (k8s.io/component-helpers 1.36, scheduling/corev1)."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.kueue.scheduler.nodes import excluding_taint, matches_affinity, selects_labels, tolerates

Json = dict[str, Any]
TAINT: Json = {"key": "gpu", "value": "h100", "effect": "NoSchedule"}


def affinity(*terms: Json) -> Json:
    required = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def expression(key: Any, operator: str, *values: Any) -> Json:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "gpu", "value": "h100"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "h100", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "value": "a100"}, False),
        ({"key": "tpu", "operator": "Exists"}, False),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "gpu", "operator": "Unknown"}, False),
    ],
)
def test_tolerations(toleration: Json, tolerated: bool) -> None:
    assert tolerates(toleration, TAINT) is tolerated
    assert (excluding_taint([TAINT], [toleration]) is None) is tolerated


@pytest.mark.parametrize(("operator", "smaller"), [("Lt", True), ("Gt", False)])
def test_a_toleration_compares_numbers(operator: str, smaller: bool) -> None:
    """The taint's value is less, or greater, than the toleration's."""
    taint = {"key": "sla", "value": "900", "effect": "NoSchedule"}
    assert tolerates({"key": "sla", "operator": operator, "value": "950"}, taint) is smaller
    assert tolerates({"key": "sla", "operator": operator, "value": "850"}, taint) is not smaller
    assert not tolerates({"key": "sla", "operator": operator, "value": "900"}, taint)
    assert not tolerates({"key": "sla", "operator": operator, "value": "many"}, taint)


def test_a_taint_that_only_prefers_keeps_nothing_away() -> None:
    soft = {"key": "gpu", "effect": "PreferNoSchedule"}
    assert excluding_taint([soft, TAINT], []) is TAINT
    assert excluding_taint([soft], []) is None


@pytest.mark.parametrize(
    ("terms", "selected"),
    [
        ([expression("gpu", "In", "h100")], True),
        ([expression("gpu", "In", "a100")], False),
        ([expression("gpu", "In", "a100"), expression("gpu", "NotIn", "a100")], True),
        ([expression("gpu", "Exists")], True),
        ([expression("gpu", "DoesNotExist")], False),
        (
            [expression("gpu", "In", "a100"), expression("zone", "In", "b")],
            True,
        ),  # the second term is not about the keys
        ([expression({"a": 1}, "In", "a100")], True),  # nor is a key of a wrong type
        ([], True),
    ],
)
def test_only_terms_about_the_flavor_s_keys_count(terms: list[Json], selected: bool) -> None:
    labels = {"gpu": "h100"}
    assert selects_labels(affinity(*terms), labels, labels.keys()) is selected


def test_the_node_selector_counts_too() -> None:
    labels = {"gpu": "h100"}
    assert selects_labels({"nodeSelector": {"gpu": "h100", "zone": "b"}}, labels, labels.keys())
    assert not selects_labels({"nodeSelector": {"gpu": "a100"}}, labels, labels.keys())


@pytest.mark.parametrize(
    ("term", "matched"),
    [
        (expression("cores", "Gt", "8"), True),
        (expression("cores", "Gt", "16"), False),
        (expression("cores", "Lt", "17"), True),
        (expression("cores", "Lt", "8", "9"), False),
        (expression("cores", "In", "x"), False),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}, True),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-2"]}]}, False),
        ({}, False),
    ],
)
def test_a_node_must_fulfill_one_term(term: Json, matched: bool) -> None:
    labels = {"cores": "16"}
    assert matches_affinity(affinity(term), labels, "node-1") is matched
    assert matches_affinity(affinity(term, expression("cores", "Exists")), labels, "node-1")
    assert matches_affinity({}, labels, "node-1")
