"""Values that the kubelet computes from env, command and resources.

Source: docs/facts/api-server.md#environment, #resources-and-quantities; docs/facts/training-operator.md#environment.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.pods import ContainerView, PodView
from ptcompile.simulator.kubelet import command_line, environment, expand_vars, qos_class

POD = PodView("p", "r", 0, {}, labels={"a": "1"}, annotations={"b": "2"}, namespace="ns")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$(A)", "1"),
        ("x$(A)y$(B)z", "x1y2z"),
        ("$(C)", "$(C)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A", "$A"),
        ("$(A", "$(A"),
        ("$", "$"),
        ("a$", "a$"),
        ("$()", "$()"),
        ("$(A)$", "1$"),
        ("$$", "$"),
        ("$x$(A)", "$x1"),
    ],
)
def test_references_are_expanded_as_by_the_kubelet(text: str, expected: str) -> None:
    assert expand_vars(text, {"A": "1", "B": "2"}) == expected


def container(*env: dict[str, Any], **more: Any) -> ContainerView:
    return ContainerView("c", False, {"env": list(env), **more})


def test_a_reference_sees_only_earlier_entries() -> None:
    env = environment(
        container(
            {"name": "EARLY", "value": "$(RANK)"},
            {"name": "RANK", "value": "3"},
            {"name": "LATE", "value": "$(RANK)"},
        ),
        POD,
    )
    assert env == {"EARLY": "$(RANK)", "RANK": "3", "LATE": "3"}


def test_the_last_of_two_entries_wins() -> None:
    env = environment(
        container({"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}), POD
    )
    assert list(env.items()) == [("B", ""), ("A", "2")]


def test_field_references_that_the_manifest_decides_have_values() -> None:
    def field(path: str) -> dict[str, Any]:
        return {"name": path, "valueFrom": {"fieldRef": {"fieldPath": path}}}

    secret = {"name": "S", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}
    paths = [
        "metadata.labels['a']",
        "metadata.annotations['b']",
        "metadata.namespace",
        "metadata.name",
        "status.podIP",
    ]
    env = environment(container(*map(field, paths), secret), POD)
    assert list(env.values()) == ["1", "2", "ns", "p", "<status.podIP>", "<secret:hf/token>"]


def test_references_in_a_command_line_are_expanded() -> None:
    view = container(command=["torchrun", "--node-rank=$(RANK)"], args=["$(NOPE)"])
    assert command_line(view, {"RANK": "1"}) == (["torchrun", "--node-rank=1"], ["$(NOPE)"])
    assert command_line(container(), {}) == (None, None)


BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [{"resources": {"limits": BOTH}}]}, "Guaranteed"),
        (
            {"containers": [{"resources": {"limits": BOTH, "requests": {"cpu": "1000m"}}}]},
            "Guaranteed",
        ),
        (
            {"containers": [{"resources": {"limits": BOTH, "requests": {"cpu": "500m"}}}]},
            "Burstable",
        ),
        ({"containers": [{"resources": {"limits": BOTH}}, {}]}, "Burstable"),
        ({"containers": [{"resources": {"limits": BOTH}}], "initContainers": [{}]}, "Burstable"),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}, "BestEffort"),
        ({"containers": [{}]}, "BestEffort"),
        ({"containers": [{}], "resources": {"limits": BOTH}}, "Guaranteed"),
    ],
)
def test_resources_decide_the_qos_class(spec: dict[str, Any], expected: str) -> None:
    assert qos_class(spec) == expected
