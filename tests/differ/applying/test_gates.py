"""Updates with fields that the server drops because their feature gate is off."""

from __future__ import annotations

import copy
from typing import Any

import ptcompile

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "busybox"}]},
}
PROFILE = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "metadata": {"name": "p"},
    "spec": {"featureGates": {"kubernetes": {"GenericWorkload": True}}},
}


def grouped(name: str) -> dict[str, Any]:
    pod = copy.deepcopy(POD)
    pod["spec"]["schedulingGroup"] = {"podGroupName": name}
    return pod


def rejections(old: dict[str, Any], new: dict[str, Any], profile: Any = None) -> list[str]:
    result = ptcompile.diff(old, new, from_cluster=profile, to_cluster=profile)
    return [diagnostic.name for diagnostic in result.diagnostics if diagnostic.stage == "apply"]


def test_a_dropped_field_changes_nothing() -> None:
    assert rejections(POD, grouped("g")) == []


def test_a_stored_field_is_kept_and_may_not_change() -> None:
    assert rejections(grouped("a"), grouped("b")) != []


def test_the_gate_of_the_profile_decides() -> None:
    assert rejections(POD, grouped("g"), PROFILE) != []
