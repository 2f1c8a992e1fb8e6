"""Which Kubernetes nodes accept a pod: the labels that it requires and the taints that it tolerates."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.pod_spec import admits, pinned_values, tolerates

PATH = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
TAINT = ("gpu", "a100", "NoSchedule")


def required(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    selector = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}}


def among(*values: str, key: str = "disk", operator: str = "In") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": [*values]}


@pytest.mark.parametrize(
    ("spec", "pins"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"nodeSelector": {"disk": "a", "x": "y"}}, [(("nodeSelector", "disk"), ["a"])], id="a selector"),
        pytest.param(required([among("a", "b")]), [((*PATH, 0, "matchExpressions", 0), ["a", "b"])], id="one term"),
        pytest.param(
            required([among("z", key="x"), among("a"), among("c")]),
            [((*PATH, 0, "matchExpressions", 1), ["a"])],
            id="the first expression about the label",
        ),
        pytest.param(
            required([among("a", "b")], [among("b", "c")]),
            [((*PATH, 0, "matchExpressions", 0), ["a", "b", "c"])],
            id="terms are alternatives",
        ),
        pytest.param(required([among("a")], [among("a", key="x")]), [], id="an alternative without the label"),
        pytest.param(required([among("a", operator="NotIn")]), [], id="another operator"),
        pytest.param(required(), [], id="no terms"),
        pytest.param(
            {"nodeSelector": {"disk": "a"}, **required([among("b")])},
            [(("nodeSelector", "disk"), ["a"]), ((*PATH, 0, "matchExpressions", 0), ["b"])],
            id="both",
        ),
    ],
)
def test_pinned_values(spec: dict[str, Any], pins: list[Any]) -> None:
    assert list(pinned_values(spec, "disk")) == pins


@pytest.mark.parametrize(
    ("labels", "spec", "admitted"),
    [
        ({"disk": "a"}, {"nodeSelector": {"disk": "a"}}, True),
        ({"disk": "b"}, {"nodeSelector": {"disk": "a"}}, False),
        ({}, {"nodeSelector": {"disk": "a"}}, True),
        ({"disk": "b"}, required([among("a")], [among("b")]), True),
        ({"disk": "c"}, required([among("a")], [among("b")]), False),
        ({"disk": "a"}, required([among("a", operator="NotIn")]), False),
        ({"disk": "b"}, required([among("a", operator="NotIn")]), True),
        ({"disk": "b"}, required([{"key": "disk", "operator": "Exists"}]), True),
        ({"disk": "b"}, required([{"key": "disk", "operator": "DoesNotExist"}]), False),
        ({"disk": "a"}, required([among("a"), among("b")]), False),
        ({"disk": "a"}, {"nodeSelector": {"disk": "b"}, **required([among("a")])}, False),
    ],
)
def test_nodes_that_a_pod_may_run_on(labels: dict[str, str], spec: dict[str, Any], admitted: bool) -> None:
    assert admits(spec, labels) is admitted


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"key": "gpu", "value": "a100"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "value": "h100"}, False),
        ({"key": "cpu", "value": "a100"}, False),
        ({"key": "gpu", "value": "a100", "effect": "NoExecute"}, False),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "cpu", "operator": "Exists"}, False),
        ({"operator": "Exists"}, True),
        ({}, False),
        ({"value": "a100"}, False),
    ],
)
def test_a_toleration_matches_a_taint_as_core_v1_says(toleration: dict[str, Any], expected: bool) -> None:
    """Kubernetes 1.36, core/v1 `Toleration.ToleratesTaint`."""
    assert tolerates({"tolerations": [toleration]}, *TAINT) is expected
    others = [{"key": "other", "operator": "Exists"}, toleration]
    assert tolerates({"tolerations": others}, *TAINT) is expected


def test_a_pod_without_tolerations_tolerates_nothing() -> None:
    assert not tolerates({}, *TAINT)
