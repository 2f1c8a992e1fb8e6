"""PodGroups and Workloads of scheduling.k8s.io, by the descriptions of the released schemas.

Source: docs/facts/gangs.md#objects.
"""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.apiserver.validation.small_kinds import kind
from tests.differ.applying.test_updates import changed

FIRST_GATES = {"GenericWorkload": True}
GATES = {**FIRST_GATES, "TopologyAwareWorkloadScheduling": True, "WorkloadAwarePreemption": True}
GANG = {"gang": {"minCount": 2}}
GROUP = kind("scheduling.k8s.io/v1beta1", "PodGroup", spec={"schedulingPolicy": GANG})
FIRST = kind("scheduling.k8s.io/v1alpha2", "PodGroup", spec={"schedulingPolicy": GANG})
TEMPLATES = [{"name": "a", "schedulingPolicy": GANG}]
WORKLOAD = kind("scheduling.k8s.io/v1beta1", "Workload", spec={"podGroupTemplates": TEMPLATES})
OLDEST = kind(
    "scheduling.k8s.io/v1alpha1", "Workload", spec={"podGroups": [{"name": "a", "policy": GANG}]}
)


def messages(manifest: dict[str, Any], release: str) -> list[str]:
    return [
        diagnostic.message
        for diagnostic in ptcompile.lint(manifest, cluster=cluster(release)).diagnostics
    ]


def cluster(release: str) -> dict[str, Any]:
    gates = {"kubernetes": FIRST_GATES if release == "1.35" else GATES}
    spec = {"versions": {"kubernetes": release}, "featureGates": gates}
    return {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": spec}


@pytest.mark.parametrize(
    ("manifest", "release"),
    [(GROUP, "1.37"), (FIRST, "1.36"), (WORKLOAD, "1.37"), (OLDEST, "1.35")],
)
def test_valid_objects_have_no_problem(manifest: dict[str, Any], release: str) -> None:
    assert messages(manifest, release) == []


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("schedulingPolicy", {}, "spec.schedulingPolicy: Invalid value"),
        ("schedulingPolicy", {**GANG, "basic": {}}, "spec.schedulingPolicy: Invalid value"),
        (
            "schedulingPolicy",
            {"gang": {"minCount": 0}},
            "spec.schedulingPolicy.gang.minCount: Invalid value: 0",
        ),
        ("disruptionMode", {}, "spec.disruptionMode: Invalid value"),
        ("disruptionMode", {"all": {}, "single": {}}, "spec.disruptionMode: Invalid value"),
        (
            "schedulingConstraints",
            {"topology": [{"key": ""}]},
            "spec.schedulingConstraints.topology[0].key: Required",
        ),
        (
            "schedulingConstraints",
            {"topology": [{"key": "a"}] * 2},
            "spec.schedulingConstraints.topology: Too many",
        ),
        ("workloadRef", {"workloadName": "w"}, "spec.workloadRef.templateName: Required value"),
    ],
)
def test_mistakes_in_pod_groups_are_rejected(path: str, value: Any, expected: str) -> None:
    (message,) = messages(changed(GROUP, f"spec.{path}", value), "1.37")
    assert message.startswith(expected)


def test_disruption_mode_of_1_36_is_a_word() -> None:
    assert messages(changed(FIRST, "spec.disruptionMode", "PodGroup"), "1.36") == []
    (message,) = messages(changed(FIRST, "spec.disruptionMode", "All"), "1.36")
    assert message.startswith('spec.disruptionMode: Unsupported value: "All"')


@pytest.mark.parametrize(
    ("manifest", "path", "value", "release", "expected"),
    [
        (WORKLOAD, "podGroupTemplates", [], "1.37", "spec.podGroupTemplates: Required value"),
        (
            WORKLOAD,
            "podGroupTemplates",
            TEMPLATES * 2,
            "1.37",
            "spec.podGroupTemplates[1].name: Duplicate value",
        ),
        (
            WORKLOAD,
            "podGroupTemplates.0.name",
            "A",
            "1.37",
            "spec.podGroupTemplates[0].name: Invalid value",
        ),
        (
            WORKLOAD,
            "podGroupTemplates.0.schedulingPolicy",
            {},
            "1.37",
            "spec.podGroupTemplates[0].schedulingPolicy",
        ),
        (OLDEST, "podGroups.0.policy", {}, "1.35", "spec.podGroups[0].policy: Invalid value"),
        (OLDEST, "podGroups", [], "1.35", "spec.podGroups: Required value"),
    ],
)
def test_mistakes_in_workloads_are_rejected(
    manifest: dict[str, Any], path: str, value: Any, release: str, expected: str
) -> None:
    (message,) = messages(changed(manifest, f"spec.{path}", value), release)
    assert message.startswith(expected)


def test_more_than_eight_templates_are_rejected() -> None:
    templates = [{"name": f"a{i}", "schedulingPolicy": GANG} for i in range(9)]
    (message,) = messages(changed(WORKLOAD, "spec.podGroupTemplates", templates), "1.37")
    assert message.startswith("spec.podGroupTemplates: Too many: 9")


@pytest.mark.parametrize(
    ("manifest", "path", "value", "release", "rejected"),
    [
        (GROUP, "spec.schedulingPolicy.gang.minCount", 1, "1.37", False),
        (FIRST, "spec.schedulingPolicy.gang.minCount", 1, "1.36", True),
        (GROUP, "spec.priorityClassName", "high", "1.37", True),
        (OLDEST, "spec.podGroups.0.policy.gang.minCount", 1, "1.35", True),
    ],
)
def test_updates_of_immutable_fields_are_rejected(
    manifest: dict[str, Any], path: str, value: Any, release: str, *, rejected: bool
) -> None:
    profile = cluster(release)
    report = ptcompile.diff(
        manifest, changed(manifest, path, value), from_cluster=profile, to_cluster=profile
    )
    assert (
        any("field is immutable" in diagnostic.message for diagnostic in report.diagnostics)
        is rejected
    )
