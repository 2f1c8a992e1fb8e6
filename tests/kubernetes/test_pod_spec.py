"""What a pod asks of nodes, and where: the values that it pins a label to, the first request of a resource."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.pod_spec import pinned_values, request_path

PATH = (
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
)


def required(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    selector = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}
    }


def among(*values: str, key: str = "disk", operator: str = "In") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": [*values]}


@pytest.mark.parametrize(
    ("spec", "pins"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param(
            {"nodeSelector": {"disk": "a", "x": "y"}},
            [(("nodeSelector", "disk"), ["a"])],
            id="a selector",
        ),
        pytest.param(
            required([among("a", "b")]),
            [((*PATH, 0, "matchExpressions", 0), ["a", "b"])],
            id="one term",
        ),
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
        pytest.param(
            required([among("a")], [among("a", key="x")]), [], id="an alternative without the label"
        ),
        pytest.param(required([among("a", operator="NotIn")]), [], id="another operator"),
        pytest.param(required(), [], id="no terms"),
        pytest.param(
            {"nodeSelector": {"disk": "a"}, **required([among("b")])},
            [(("nodeSelector", "disk"), ["a"]), ((*PATH, 0, "matchExpressions", 0), ["b"])],
            id="both",
        ),
    ],
)
def test_selectors_and_affinities_pin_values(spec: dict[str, Any], pins: list[Any]) -> None:
    assert list(pinned_values(spec, "disk")) == pins


def test_the_first_request_of_a_resource_is_found() -> None:
    containers = [
        {"resources": {"limits": {"cpu": 4}}},
        {"resources": {"limits": {"gpu": 1}, "requests": {"gpu": 1}}},
    ]
    spec = {"containers": containers, "initContainers": [{}]}
    assert request_path(spec, "gpu") == ("containers", 1, "resources", "requests", "gpu")
    assert request_path(spec, "cpu") == ("containers", 0, "resources", "limits", "cpu")
    assert request_path(spec, "memory") == ()
