"""MPIJobs that the controller of MPI Operator 0.8 rejects (pkg/apis/kubeflow/validation)."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.operators.mpijob.test_pods import mpijob

Json = dict[str, Any]


def changed(path: str, value: Any) -> Json:
    manifest = mpijob()
    *way, last = path.split(".")
    node = manifest
    for key in way:
        node = node.setdefault(key, {})
    if value is None:
        del node[last]
    else:
        node[last] = value
    return manifest


REPLICAS = "spec.mpiReplicaSpecs"
ROWS: list[tuple[str, Any, str]] = [
    (REPLICAS, {}, "Required value: must have replica specs"),
    (f"{REPLICAS}.Launcher", None, "Required value: must have Launcher replica spec"),
    (f"{REPLICAS}.Launcher.replicas", 2, "must be 1"),
    (f"{REPLICAS}.Worker.replicas", 0, "must be greater than or equal to 1"),
    (f"{REPLICAS}.Worker.replicas", None, "must be greater than or equal to 1"),
    (f"{REPLICAS}.Worker.restartPolicy", "ExitCode", "Unsupported value"),
    (f"{REPLICAS}.Worker.template.spec.containers", [], "must define at least one container"),
    ("spec.runPolicy.cleanPodPolicy", "Some", "Unsupported value"),
    ("spec.runPolicy.managedBy", "me", "Unsupported value"),
    ("spec.runPolicy.backoffLimit", -1, "must be greater than or equal to 0"),
    ("spec.slotsPerWorker", -1, "must be greater than or equal to 0"),
    ("metadata.name", "a" * 60, "no more than 63"),
]


@pytest.mark.parametrize(("path", "value", "text"), ROWS)
def test_the_operator_rejects_what_the_server_admits(path: str, value: Any, text: str) -> None:
    report = ptcompile.lint(changed(path, value))
    (diagnostic,) = [
        finding
        for finding in report.diagnostics
        if finding.authority == "mpi-operator" and finding.severity == "error"
    ]
    assert (".".join(map(str, diagnostic.path)), diagnostic.stage) == (path, "pod")
    assert text in diagnostic.message


def test_valid_mpijob_is_accepted() -> None:
    assert ptcompile.lint(mpijob()).ok


@pytest.mark.parametrize("junk", [None, 1, "x", [], [1], {"a": 1}, {"Launcher": 1, "Worker": []}])
def test_any_data_raises_nothing(junk: Any) -> None:
    for path in (
        "spec",
        REPLICAS,
        f"{REPLICAS}.Worker",
        f"{REPLICAS}.Worker.template",
        "spec.runPolicy",
        "metadata",
    ):
        manifest = changed(path, junk) if junk is not None else changed(path, "")
        ptcompile.lint(manifest)
        assert ptcompile.simulate(manifest) is not None


def test_one_worker_is_enough() -> None:
    assert "replicas" not in " ".join(
        d.message for d in ptcompile.lint(changed(f"{REPLICAS}.Worker.replicas", 1)).diagnostics
    )


@pytest.mark.parametrize(
    ("length", "help"), [(54, None), (55, "at most 54 characters"), (57, "at most 54 characters")]
)
def test_the_last_workers_name_is_a_label_of_63_characters(length: int, help: str | None) -> None:
    manifest = changed("metadata.name", "a" * length)
    helps = [d.help for d in ptcompile.lint(manifest).diagnostics if d.authority == "mpi-operator"]
    assert helps == ([] if help is None else [help])


def test_a_name_that_begins_with_a_digit_is_rejected() -> None:
    manifest = changed("metadata.name", "1" + "a" * 53)
    helps = [d.help for d in ptcompile.lint(manifest).diagnostics if d.authority == "mpi-operator"]
    assert helps == ["start with a letter"]
