"""Conversion of TrainJobs of Trainer 2.0 and 2.1 to the current fields, and of paths back to theirs."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import validate
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.trainer.patches import to_current_fields, written_path

POD: dict[str, Any] = {"nodeSelector": {"a": "b"}}
TARGETS = [{"name": "node"}, {"name": "launcher"}]


def train_job(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": spec}


OLD = {
    (2, 0): train_job(podSpecOverrides=[{"targetJobs": TARGETS, **POD}]),
    (2, 1): train_job(podTemplateOverrides=[{"targetJobs": TARGETS, "spec": POD}]),
}


@pytest.mark.parametrize("version", OLD)
def test_both_old_fields_become_one_patch(version: tuple[int, int]) -> None:
    """Source: docs/facts/trainer.md#what-releases-changed."""
    (patch,) = to_current_fields(OLD[version], version)["spec"]["runtimePatches"]
    jobs = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert jobs == [
        {**target, "template": {"spec": {"template": {"spec": POD}}}} for target in TARGETS
    ]


@pytest.mark.parametrize("version", OLD)
def test_fields_of_other_releases_are_left_unchanged(version: tuple[int, int]) -> None:
    other = next(one for key, one in OLD.items() if key != version)
    assert to_current_fields(other, version) is other
    assert to_current_fields(OLD[version], (2, 2)) is OLD[version]


def test_input_and_other_kinds_are_left_unchanged() -> None:
    before = repr(OLD)
    to_current_fields(OLD[2, 0], (2, 0))
    assert repr(OLD) == before
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"podSpecOverrides": []}}
    assert to_current_fields(pod, (2, 0)) is pod


@pytest.mark.parametrize(
    ("processes", "remaining"),
    [("auto", {}), ("gpu", {}), (4, {"numProcPerNode": 4}), ("4", {"numProcPerNode": "4"})],
)
def test_before_2_2_a_word_is_dropped_from_the_number_of_processes(
    processes: Any, remaining: dict[str, Any]
) -> None:
    job = train_job(trainer={"numProcPerNode": processes})
    assert to_current_fields(job, (2, 1))["spec"]["trainer"] == remaining
    assert to_current_fields(job, (2, 2)) is job


BASE: Path = (
    "spec", "runtimePatches", 1, "trainingRuntimeSpec", "template", "spec", "replicatedJobs", 0,
    "template", "spec", "template",
)  # fmt: skip


@pytest.mark.parametrize(
    ("version", "path", "expected"),
    [
        ((2, 0), (*BASE, "spec", "volumes", 0), ("spec", "podSpecOverrides", 1, "volumes", 0)),
        (
            (2, 1),
            (*BASE, "spec", "volumes", 0),
            ("spec", "podTemplateOverrides", 1, "spec", "volumes", 0),
        ),
        ((2, 1), (*BASE[:8], "name"), ("spec", "podTemplateOverrides", 1, "targetJobs", 0, "name")),
        ((2, 2), (*BASE, "spec"), (*BASE, "spec")),
        ((2, 0), ("spec", "trainer", "env"), ("spec", "trainer", "env")),
    ],
)
def test_paths_are_mapped_back(version: tuple[int, int], path: Path, expected: Path) -> None:
    assert written_path(path, version) == expected


@pytest.mark.parametrize("value", [None, 5, [], [5], [{}], [{"targetJobs": 5}], {"a": 1}])
def test_any_data_raises_nothing(value: Any) -> None:
    to_current_fields(train_job(podSpecOverrides=value, trainer=value), (2, 0))
    to_current_fields(
        {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": value}, (2, 1)
    )


JOB = {
    **train_job(
        runtimeRef={"name": "torch-distributed"},
        labels={"a": "b"},
        podTemplateOverrides=[{"targetJobs": TARGETS[:1], "spec": POD}],
        trainer={"numNodes": 2, "numProcPerNode": "auto"},
    ),
    "metadata": {"name": "j"},
}
OLD_PATHS = [
    ("spec", "labels"),
    ("spec", "podTemplateOverrides"),
    ("spec", "trainer", "numProcPerNode"),
]
RUNTIME = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainingRuntime",
    "metadata": {"name": "r"},
    "spec": {"mlPolicy": {"torch": {"numProcPerNode": "auto", "elasticPolicy": {"minNodes": 1}}}},
}


def _problems(manifest: dict[str, Any], release: str | None) -> list[tuple[Path, str]]:
    """Return the problems with fields of other releases; without a release, the profile does not name one."""
    versions = Versions()
    if release is not None:
        minor = int(release.removeprefix("2."))
        versions = Versions(trainer=(2, minor), declared=frozenset({"trainer"}))
    problems = [p for p in validate(manifest, versions=versions) if " in Trainer 2." in p.message]
    return [(problem.path, problem.severity) for problem in problems]


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (None, [(path, "warning") for path in OLD_PATHS]),
        ("2.0", [(("spec", "podTemplateOverrides"), "error")]),
        ("2.1", []),
        ("2.2", [(path, "error") for path in OLD_PATHS]),
        ("2.3", [(path, "error") for path in OLD_PATHS]),
    ],
)
def test_each_release_has_its_fields_of_a_train_job(
    release: str | None, expected: list[tuple[Path, str]]
) -> None:
    """Source: docs/facts/trainer.md#what-releases-changed."""
    assert _problems(JOB, release) == expected


@pytest.mark.parametrize(
    ("release", "severity"), [(None, "warning"), ("2.1", None), ("2.2", "error")]
)
def test_each_release_has_its_fields_of_a_runtime(
    release: str | None, severity: str | None
) -> None:
    paths = [("spec", "mlPolicy", "torch", name) for name in ("numProcPerNode", "elasticPolicy")]
    assert _problems(RUNTIME, release) == ([(path, severity) for path in paths] if severity else [])


@pytest.mark.parametrize(
    ("manifest", "since", "path"),
    [
        (
            {**JOB, "spec": {"runtimeRef": {"name": "r"}, "activeDeadlineSeconds": 9}},
            2,
            ("spec", "activeDeadlineSeconds"),
        ),
        (
            {**RUNTIME, "spec": {"podGroupPolicy": {"volcano": {}}}},
            1,
            ("spec", "podGroupPolicy", "volcano"),
        ),
        (
            {**RUNTIME, "spec": {"mlPolicy": {"torch": {"envInjection": {}}}}},
            3,
            ("spec", "mlPolicy", "torch", "envInjection"),
        ),
    ],
)
def test_fields_need_their_release(manifest: dict[str, Any], since: int, path: Path) -> None:
    assert _problems(manifest, f"2.{since - 1}") == [(path, "error")]
    assert _problems(manifest, f"2.{since}") == []
    assert _problems(manifest, None) == []


def test_the_warning_says_how_to_name_the_release() -> None:
    problem = validate(JOB)[0]
    assert problem.message == "spec.labels: unknown field in Trainer 2.3: removed after 2.1"
    assert problem.help == (
        'remove it; if the cluster runs Trainer 2.1, set spec.versions.trainer to "2.1" in the profile'
    )
