"""Profiles: notes about what they name."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.reader import load_profile, read, unmodeled_release, wrong_kind
from ptcompile.spec.reader import default_cluster
from tests.making import DEFAULT_CLUSTER, documents, smallest


@pytest.mark.parametrize(
    ("software", "release", "text"),
    [
        (
            "kueue",
            "0.15",
            "Kueue 0.15 is older than 0.18, whose rules apply; the newest known is 0.19",
        ),
        ("kueue", "0.18", None),
        ("kueue", "0.19", None),
        ("kueue", "0.25", "Kueue 0.25 is newer than 0.19, the newest known, whose rules apply"),
        ("trainer", "9.9", "trainer 9.9 is newer than 2.3, the newest known, whose rules apply"),
        ("volcano", "3.0", "Volcano 3.0 is newer than 1.16, the newest known, whose rules apply"),
        ("torch", "7.1", "torch 7.1 is newer than 2.15, the newest known, whose rules apply"),
        (
            "kubernetes",
            "1.50",
            "Kubernetes 1.50 is newer than 1.37, the newest known, whose rules apply",
        ),
        (
            "kubernetes",
            "1.29",
            "Kubernetes 1.29 is older than 1.30, whose rules apply; the newest known is 1.37",
        ),
        ("nvidia_dra", "0.2", None),
    ],
)
def test_releases_that_are_not_modeled_are_warned_about(
    software: str, release: str, text: str | None
) -> None:
    field = {"nvidia_dra": "nvidiaDra"}.get(software, software)
    read, problems = load_profile(
        {
            "apiVersion": "ptcompile/v1",
            "kind": "ClusterProfile",
            "metadata": {"name": "c"},
            "spec": {"versions": {field: release}},
        }
    )
    assert read is not None
    reported = [
        (problem.code, problem.severity, problem.path, problem.text) for problem in problems
    ]
    assert reported == (
        [] if text is None else [("PTC068", "warning", ("spec", "versions", software), text)]
    )


def test_a_lost_zero_is_named() -> None:
    (problem,) = unmodeled_release("kubernetes", (1, 3), ())
    assert problem.help == "did you mean 1.30?"


def _with_gates(release: str = "1.37", /, **gates: dict[str, bool]) -> dict[str, object]:
    spec = {"versions": {"kubernetes": release, "jobset": "0.10"}, "featureGates": gates}
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "p"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (_with_gates(kubernetes={"EmptyDirVolumeMode": True}), []),
        (_with_gates(jobset={"InPlaceRestart": True}), [("PTC071", "warning", "versions.jobset")]),
        (_with_gates(kubernetes={"AllAlpha": True}), []),
        (_with_gates(kubernetes={"NoSuchGate": True}), [("PTC071", "warning", "check the name")]),
        (
            _with_gates(kubernetes={"EmptyDirVolumeMod": True}),
            [("PTC071", "warning", "EmptyDirVolumeMode")],
        ),
        (
            _with_gates("1.36", kubernetes={"EmptyDirVolumeMode": True}),
            [("PTC071", "warning", "versions.kubernetes")],
        ),
        (_with_gates(kubernetes={"SidecarContainers": True}), []),
        (_with_gates(kubernetes={"SidecarContainers": False}), [("PTC072", "error", "remove it")]),
        (_with_gates("1.32", kubernetes={"SidecarContainers": False}), []),
    ],
)
def test_unknown_gates_of_the_release_are_reported(
    document: dict[str, object], expected: list[tuple[str, str, str]]
) -> None:
    _, problems = load_profile(document)
    assert [(problem.code, problem.severity) for problem in problems] == [
        row[:2] for row in expected
    ]
    assert all(row[2] in str(problem.help) for problem, row in zip(problems, expected, strict=True))


def test_the_message_names_the_software_and_its_release() -> None:
    _, problems = load_profile(
        _with_gates(kubernetes={"NoSuchGate": True}, jobset={"RestartJob": True})
    )
    assert [problem.message for problem in problems] == [
        "spec.featureGates.kubernetes.NoSuchGate: Kubernetes 1.37 has no known feature gate of this name",
        "spec.featureGates.jobset.RestartJob: JobSet 0.10 does not have this feature gate: added in 0.12",
    ]


def test_a_gate_is_a_boolean() -> None:
    _, problems = load_profile(_with_gates(kubernetes={"EmptyDirVolumeMode": "yes"}))  # type: ignore[dict-item]
    assert [problem.path for problem in problems] == [
        ("spec", "featureGates", "kubernetes", "EmptyDirVolumeMode")
    ]


@pytest.mark.parametrize("count", [0, 2])
def test_a_profile_is_one_document(count: int) -> None:
    text = "---\n".join(["apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {}\n"] * count)
    profile, diagnostics = load_profile(text)
    assert profile is None
    assert [d.name for d in diagnostics] == ["no-documents"]
    assert f"got {count}" in diagnostics[0].message


def test_an_unreadable_profile_has_only_the_errors_of_its_text() -> None:
    profile, diagnostics = load_profile("kind: [ClusterProfile\n", filename="c.yaml")
    assert profile is None
    assert {d.name for d in diagnostics} == {"yaml-syntax"}
    assert diagnostics[0].filename == "c.yaml"


def test_a_note_about_the_text_of_a_profile_does_not_hide_the_profile() -> None:
    text = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {cloud: gke, nope: 1}\n"
    profile, diagnostics = load_profile(text)
    assert profile is None
    assert [(d.name, d.path) for d in diagnostics] == [("spec-unknown-field", ("spec", "nope"))]
    profile, diagnostics = load_profile(text.replace(", nope: 1", ""))
    assert profile is not None
    assert diagnostics == []
    assert load_profile(None) == (default_cluster(), [])


@pytest.mark.parametrize(
    ("data", "message", "help"),
    [
        ({"kind": "TrainingJob"}, None, None),
        ({"kind": "TrainingJob", "apiVersion": "v1"}, None, None),
        ({"kind": "TrainingJbo", "apiVersion": "ptcompile/v1"}, None, None),
        ({"apiVersion": "ptcompile/v1"}, None, None),
        ({"kind": "TrainingJbo", "apiVersion": "v1"}, "v1/TrainingJbo", "use ptcompile lint"),
        ({"kind": "Pod", "apiVersion": "ptcompile/v1"}, "ptcompile/v1/Pod", "use ptcompile lint"),
        ({"kind": "Pod"}, "Pod", "use ptcompile lint"),
        ({"kind": 5, "apiVersion": "ptcompile/v1"}, "ptcompile/v1/5", "use ptcompile lint"),
        (
            {"kind": "ClusterProfile", "apiVersion": "ptcompile/v1"},
            "ptcompile/v1/ClusterProfile",
            "with --cluster FILE",
        ),
        ({"apiVersion": 5}, "a document without kind", "start it with"),
        ([], "a document without kind", "start it with"),
    ],
)
def test_documents_of_another_kind_are_errors(
    data: Any, message: str | None, help: str | None
) -> None:
    problem = wrong_kind(data)
    if message is None:
        assert problem is None
        return
    assert problem is not None
    assert problem.message == f"{message} is not a TrainingJob"
    assert help is not None
    assert help in (problem.help or "")


def test_mistakes_that_hide_one_another_are_reported_together() -> None:
    """A block is only checked as a whole once its fields are right."""
    (data,) = documents(
        smallest("nods: 2\nelastic: {nnodes: '3:2'}\nvolumes: [{name: v, emptyDir: {a: b}}]")
    )
    _, stages = read(data, DEFAULT_CLUSTER, "job", None)
    assert 1 < len(stages) <= 5
    reported = {(item.problem.name, item.problem.path[1]) for stage in stages for item in stage}
    assert reported == {
        ("spec-unknown-field", "nods"),
        ("spec-invalid-value", "elastic"),
        ("unknown-field", "volumes"),
    }


def test_a_document_without_mistakes_is_read_once() -> None:
    (data,) = documents(smallest("nodes: 2"))
    parts, stages = read(data, DEFAULT_CLUSTER, "job", None)
    assert parts is not None
    assert stages == [[]]
    assert read({"kind": "Pod"}, DEFAULT_CLUSTER, "job", None)[0] is None
