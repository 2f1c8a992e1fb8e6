"""What Kueue 0.19.2 did with jobs in clusters of queues (tests/recorded/kueue/admission)."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests import recorded

Json = dict[str, Any]

_MEMORY, _CREDITS = "example.com/accelerator-memory", "example.com/credits"
_TRANSFORMATIONS = [
    {
        "input": "nvidia.com/mig-4g.5gb",
        "strategy": "Replace",
        "outputs": {_MEMORY: "5Gi", _CREDITS: "10"},
    },
    {"input": "nvidia.com/mig-1g.5gb", "strategy": "Replace", "outputs": {_MEMORY: "5Gi"}},
    {"input": "example.com/gone", "strategy": "Replace", "outputs": {}},
    {"input": "example.com/kept", "strategy": "Retain", "outputs": {_CREDITS: "20"}},
]
_EXCLUDED = ["networking.example.com", "hugepages-"]
_SETTINGS: dict[str, Json] = {
    "default": {},
    "fair": {
        "fairSharing": {
            "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
        }
    },
    "transform": {
        "resources": {"excludeResourcePrefixes": _EXCLUDED, "transformations": _TRANSFORMATIONS}
    },
}


def configuration(name: str) -> Json:
    """Return Kueue's Configuration of a scenario."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        **_SETTINGS[name],
    }


@cache
def scenarios() -> list[Json]:
    """Return all scenarios."""
    return list(recorded.rows("kueue/admission"))


def objects_of(scenario: Json) -> list[Json]:
    """Return the objects of the cluster, with Kueue's Configuration."""
    return [*scenario["objects"], configuration(scenario["config"])]
