"""Profiles: notes about what they name."""

from __future__ import annotations

import pytest

from ptcompile.compiler.reader import load_profile
from tests.operators.kueue.webhooks.making import profile


@pytest.mark.parametrize(("release", "is_noted"), [("0.15", True), ("0.18", False), ("0.19", False)])
def test_releases_that_are_not_modeled(release: str, is_noted: bool) -> None:
    read, problems = load_profile(profile(release))
    assert read is not None
    found = [(problem.code, problem.severity, problem.path) for problem in problems]
    assert found == ([("PTC068", "note", ("spec", "versions", "kueue"))] if is_noted else [])


def _with_gates(release: str = "1.37", /, **gates: dict[str, bool]) -> dict[str, object]:
    spec = {"versions": {"kubernetes": release, "jobset": "0.10"}, "featureGates": gates}
    return {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "metadata": {"name": "p"}, "spec": spec}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (_with_gates(kubernetes={"EmptyDirVolumeMode": True}), []),
        (_with_gates(jobset={"InPlaceRestart": True}), [("PTC071", "warning", "versions.jobset")]),
        (_with_gates(kubernetes={"AllAlpha": True}), []),
        (_with_gates(kubernetes={"NoSuchGate": True}), [("PTC071", "warning", "check the name")]),
        (_with_gates(kubernetes={"EmptyDirVolumeMod": True}), [("PTC071", "warning", "EmptyDirVolumeMode")]),
        (_with_gates("1.36", kubernetes={"EmptyDirVolumeMode": True}), [("PTC071", "warning", "versions.kubernetes")]),
        (_with_gates(kubernetes={"SidecarContainers": True}), []),
        (_with_gates(kubernetes={"SidecarContainers": False}), [("PTC072", "error", "remove it")]),
        (_with_gates("1.32", kubernetes={"SidecarContainers": False}), []),
    ],
)
def test_gates_of_the_release(document: dict[str, object], expected: list[tuple[str, str, str]]) -> None:
    _, problems = load_profile(document)
    assert [(problem.code, problem.severity) for problem in problems] == [row[:2] for row in expected]
    assert all(row[2] in str(problem.help) for problem, row in zip(problems, expected, strict=True))


def test_the_message_names_the_software_and_its_release() -> None:
    _, problems = load_profile(_with_gates(kubernetes={"NoSuchGate": True}, jobset={"RestartJob": True}))
    assert [problem.message for problem in problems] == [
        "spec.featureGates.kubernetes.NoSuchGate: Kubernetes 1.37 has no known feature gate of this name",
        "spec.featureGates.jobset.RestartJob: JobSet 0.10 does not have this feature gate: added in 0.12",
    ]


def test_a_gate_is_a_boolean() -> None:
    _, problems = load_profile(_with_gates(kubernetes={"EmptyDirVolumeMode": "yes"}))  # type: ignore[dict-item]
    assert [problem.path for problem in problems] == [("spec", "featureGates", "kubernetes", "EmptyDirVolumeMode")]
