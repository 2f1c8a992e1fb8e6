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
def test_rejected_after_admission(path: str, value: Any, text: str) -> None:
    report = ptcompile.lint(changed(path, value))
    (found,) = [one for one in report.diagnostics if one.authority == "mpi-operator" and one.severity == "error"]
    assert (".".join(map(str, found.path)), found.stage) == (path, "pod")
    assert text in found.message


def test_valid_mpijob_is_accepted() -> None:
    assert ptcompile.lint(mpijob()).ok


@pytest.mark.parametrize("junk", [None, 1, "x", [], [1], {"a": 1}, {"Launcher": 1, "Worker": []}])
def test_any_data(junk: Any) -> None:
    for path in ("spec", REPLICAS, f"{REPLICAS}.Worker", f"{REPLICAS}.Worker.template", "spec.runPolicy", "metadata"):
        manifest = changed(path, junk) if junk is not None else changed(path, "")
        ptcompile.lint(manifest)
        assert ptcompile.simulate(manifest) is not None
