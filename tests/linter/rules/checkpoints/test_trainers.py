"""Folders in the command line of a TrainJob's trainer, on the volumes of its runtime."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, problems_of

CLAIM: Json = {"persistentVolumeClaim": {"claimName": "data"}}
RULES = ("checkpoint-not-kept", "read-only-checkpoint", "checkpoint-on-node")


def runtime(volume: Json, *, read_only: bool = False, **container: Any) -> Json:
    mount = {"name": "data", "mountPath": "/data", **({"readOnly": True} if read_only else {})}
    node = {"name": "node", "image": "img:1", "volumeMounts": [mount], **container}
    pod = {
        "spec": {
            "restartPolicy": "Never",
            "containers": [node],
            "volumes": [{"name": "data", **volume}],
        }
    }
    step = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    jobs = [{"name": "node", "template": {"metadata": step, "spec": {"template": pod}}}]
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {"name": "ours", "labels": {"trainer.kubeflow.org/framework": "torch"}},
        "spec": {
            "mlPolicy": {"numNodes": 2, "torch": {}},
            "template": {"spec": {"replicatedJobs": jobs}},
        },
    }


def trainjob(**trainer: Any) -> Json:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t"},
        "spec": {
            "runtimeRef": {"kind": "TrainingRuntime", "name": "ours"},
            "trainer": {"numNodes": 2, **trainer},
        },
    }


def checkpoints(job: Json, *others: Json) -> dict[str, Any]:
    return {rule: problem.path for rule in RULES for problem in problems_of(rule, job, *others)}


@pytest.mark.parametrize(
    ("volume", "read_only", "folder", "rule"),
    [
        (CLAIM, False, "/data/run", None),
        (CLAIM, False, "/ckpt/run", "checkpoint-not-kept"),
        ({"emptyDir": {}}, False, "/data/run", "checkpoint-not-kept"),
        (CLAIM, True, "/data/run", "read-only-checkpoint"),
        ({"hostPath": {"path": "/mnt/nvme0"}}, False, "/data/run", "checkpoint-on-node"),
        ({"hostPath": {"path": "/mnt/lustre"}}, False, "/data/run", None),
    ],
)
def test_the_runtime_s_volumes_decide(
    volume: Json, read_only: bool, folder: str, rule: str | None
) -> None:
    job = trainjob(command=["torchrun", "train.py", f"--output_dir={folder}"])
    expected = {rule: ("spec", "trainer", "command", 2)} if rule else {}
    assert checkpoints(job, runtime(volume, read_only=read_only)) == expected


def test_arguments_of_the_job_are_read_with_the_runtime_s_command() -> None:
    command = ["torchrun", "train.py", "--output_dir=/elsewhere"]
    job = trainjob(args=["--save-dir=/ckpt"])
    assert checkpoints(job, runtime(CLAIM, command=command)) == {
        "checkpoint-not-kept": ("spec", "trainer", "args", 0)
    }


def test_the_runtime_s_own_command_is_reported_at_the_reference() -> None:
    command = ["torchrun", "train.py", "--output_dir=/elsewhere"]
    job = trainjob(env=[{"name": "OUTPUT_DIR", "value": "x"}])
    assert checkpoints(job, runtime(CLAIM, command=command)) == {
        "checkpoint-not-kept": ("spec", "runtimeRef")
    }


def test_a_runtime_in_no_file_may_have_any_volume() -> None:
    assert checkpoints(trainjob(command=["torchrun", "train.py", "--output_dir=/ckpt"])) == {}
