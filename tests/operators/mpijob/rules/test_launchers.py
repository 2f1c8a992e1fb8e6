"""What the launcher and the workers of an MPIJob start."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter import run

RULES = {"workers-without-sshd", "launcher-without-mpirun", "idle-main-container"}


def mpijob(launcher: list[str], worker: list[str] | None = None, **fields: Any) -> dict[str, Any]:
    limits = {"resources": {"limits": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 1}}}
    first = {"name": "launcher", "image": "i:1", "command": launcher}
    second = {
        "name": "worker",
        "image": "i:1",
        **limits,
        **({"command": worker} if worker else {}),
        **fields,
    }
    replicas = {
        "Launcher": {"template": {"spec": {"containers": [first]}}},
        "Worker": {"replicas": 2, "template": {"spec": {"containers": [second]}}},
    }
    spec = {"runPolicy": {"cleanPodPolicy": "Running"}, "mpiReplicaSpecs": replicas}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "train"},
        "spec": spec,
    }


def names_and_severities(manifest: dict[str, Any]) -> set[tuple[str, str]]:
    return {(problem.name, problem.severity) for problem in run(manifest, only=RULES)}


@pytest.mark.parametrize(
    ("worker", "expected"),
    [
        (None, set()),
        (["/usr/sbin/sshd", "-De"], set()),
        (["bash", "-c", "service ssh start; sleep infinity"], set()),
        (["sleep", "infinity"], {("workers-without-sshd", "error")}),
        (["bash", "-c", "sleep infinity"], {("workers-without-sshd", "error")}),
        (["torchrun", "train.py"], {("workers-without-sshd", "warning")}),
        (["/entrypoint.sh"], set()),
    ],
)
def test_workers_must_run_sshd(worker: list[str] | None, expected: set[tuple[str, str]]) -> None:
    assert (
        names_and_severities(mpijob(["mpirun", "-np", "2", "python", "t.py"], worker)) == expected
    )


def test_a_hook_may_start_sshd() -> None:
    assert (
        names_and_severities(
            mpijob(["mpirun", "t"], ["sleep", "infinity"], lifecycle={"postStart": {}})
        )
        == set()
    )


@pytest.mark.parametrize(
    ("launcher", "expected"),
    [
        (["mpirun", "-np", "2", "python", "t.py"], set()),
        (["horovodrun", "-np", "2", "python", "t.py"], set()),
        (["deepspeed", "--hostfile=/etc/mpi/hostfile", "t.py"], set()),
        (["bash", "-c", "mpirun python t.py"], set()),
        (["./start.sh"], set()),
        (["python", "t.py"], {("launcher-without-mpirun", "warning")}),
        (["bash", "-c", "cd /app && python t.py"], {("launcher-without-mpirun", "warning")}),
        (["torchrun", "--nproc-per-node=2", "t.py"], {("launcher-without-mpirun", "warning")}),
    ],
)
def test_launchers_must_start_mpirun(launcher: list[str], expected: set[tuple[str, str]]) -> None:
    assert names_and_severities(mpijob(launcher)) == expected
