"""Requests of pods, gangs and node requirements."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes import amounts
from ptcompile.simulator.as_json import node_requirements
from ptcompile.simulator.world import simulate
from tests.simulator.worlds import only, volcano


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [{"resources": {"limits": {"cpu": "2"}}}]}, {"cpu": "2"}),
        ({"containers": [{"resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}]}, {"cpu": "1"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}] * 2}, {"cpu": "2"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}],
          "initContainers": [{"resources": {"requests": {"cpu": 3}}}]}, {"cpu": "3"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}],
          "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": 3}}}]}, {"cpu": "4"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}],
          "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": 1}}},
                             {"resources": {"requests": {"cpu": 2}}}]}, {"cpu": "3"}),
        ({"containers": [{}], "resources": {"requests": {"cpu": 5}}}, {"cpu": "5"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}], "resources": {"limits": {"cpu": 4}}}, {"cpu": "1"}),
        ({"containers": [{}], "resources": {"limits": {"cpu": 4, "nvidia.com/gpu": 1}}}, {"cpu": "4"}),
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}], "overhead": {"cpu": "250m"}}, {"cpu": "1250m"}),
        ({"containers": [{"resources": {"requests": {"cpu": "x"}}}]}, {}),
        ({}, {}),
    ],
)  # fmt: skip
def test_the_requests_of_a_pod_are_those_of_the_scheduler(
    spec: dict[str, Any], expected: dict[str, str]
) -> None:
    assert amounts.as_text(amounts.pod_requests(spec)) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [{"resources": {"requests": {"cpu": 1}}}]}, {}),
        ({"containers": [{"resources": {"limits": {"cpu": 1}}}] * 2,
          "initContainers": [{"resources": {"limits": {"cpu": 3}}}]}, {"cpu": "3"}),
        ({"containers": [{"resources": {"limits": {"cpu": 1}}}], "resources": {"limits": {"cpu": 4}}}, {"cpu": "4"}),
        ({"containers": [{"resources": {"limits": {"cpu": 1, "memory": 0}}}],
          "overhead": {"cpu": "250m", "memory": "1Gi"}}, {"cpu": "1250m", "memory": "0"}),
    ],
)  # fmt: skip
def test_the_limits_of_a_pod_are_those_of_kubernetes(
    spec: dict[str, Any], expected: dict[str, str]
) -> None:
    """k8s.io/component-helpers 1.36 resource/helpers.go `PodLimits`."""
    assert amounts.as_text(amounts.pod_limits(spec)) == expected


@pytest.mark.parametrize(
    ("min_available", "expected"),
    [(3, {"cpu": "12"}), (2, {"cpu": "8"}), (1, {"cpu": "4"})],
    ids=["all", "two", "one"],
)
def test_volcano_counts_only_requests_as_min_resources(
    min_available: int, expected: dict[str, str]
) -> None:
    """docs/facts/volcano.md#minresources: only requests count, so a GPU in limits alone is missing."""
    group = only(simulate([volcano(min_available=min_available)])).pod_group
    assert group["minResources"] == expected


@pytest.mark.parametrize(
    ("resources", "seen"),
    [
        ({"limits": {"nvidia.com/gpu": 8, "cpu": 4}}, {"nvidia.com/gpu": 8}),
        ({"requests": {"amd.com/gpu": "2"}, "limits": {"cpu": 4}}, {"amd.com/gpu": 2}),
        ({"requests": {"gpu": 1}, "limits": {"gpu": 2}}, {"gpu": 2}),
        ({"limits": {"example.com/gpu": 1}}, {"example.com/gpu": 1}),
        ({"limits": {"nvidia.com/gpu": 0}}, {}),
        ({"limits": {"nvidia.com/gpu": "x"}}, {}),
    ],
)
def test_a_container_sees_its_accelerators(resources: dict[str, Any], seen: dict[str, int]) -> None:
    assert amounts.visible_accelerators(resources) == seen


def test_only_accelerators_are_counted_and_only_those_above_zero() -> None:
    limits = amounts.quantities_of(
        {"limits": {"nvidia.com/gpu": 8, "example.com/gpu": 0, "cpu": 4}}, "limits"
    )
    assert amounts.accelerators(limits) == {"nvidia.com/gpu": 8}


def test_node_requirements_are_written_as_text() -> None:
    terms = [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a100", "h100"]}]}]
    spec = {
        "nodeSelector": {"zone": "a"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
            }
        },
        "tolerations": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"operator": "Exists"}],
    }
    assert list(node_requirements(spec)) == [
        "zone is a",
        "gpu In a100, h100",
        "may be tainted k=v:NoSchedule",
        "may be tainted any taint=*",
    ]
