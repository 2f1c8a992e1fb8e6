"""The number of times that operators restart lost pods, as lint rules compute it, for each operator's tests."""

from __future__ import annotations

from typing import Any

from ptcompile.kinds.templates import Template
from ptcompile.operators import table as operators

JOB = ("batch/v1", "Job")
JOBSET = ("jobset.x-k8s.io/v1alpha2", "JobSet")
PYTORCHJOB = ("kubeflow.org/v1", "PyTorchJob")
VOLCANO = ("batch.volcano.sh/v1alpha1", "Job")


def _jobs(*limits: int | None) -> list[dict[str, Any]]:
    return [
        {"template": {"spec": {} if limit is None else {"backoffLimit": limit}}} for limit in limits
    ]


RETRIES: list[tuple[tuple[str, str], dict[str, Any], int]] = [
    (JOB, {}, 6),
    (JOB, {"backoffLimit": 2}, 2),
    (JOBSET, {"replicatedJobs": _jobs(None)}, 6),
    (JOBSET, {"replicatedJobs": _jobs(0, 2), "failurePolicy": {"maxRestarts": 3}}, 11),
    (PYTORCHJOB, {}, 0),
    (PYTORCHJOB, {"runPolicy": {"backoffLimit": 4}}, 4),
]
RECREATED: list[tuple[tuple[str, str], dict[str, Any], dict[str, Any], bool]] = [
    (JOB, {"backoffLimit": 0}, {}, False),
    (JOB, {}, {}, True),
    (JOBSET, {"replicatedJobs": _jobs(0)}, {}, False),
    (JOBSET, {"replicatedJobs": _jobs(0), "failurePolicy": {"maxRestarts": 1}}, {}, True),
    (PYTORCHJOB, {"pytorchReplicaSpecs": {"Worker": {}}}, {}, True),
    (PYTORCHJOB, {"pytorchReplicaSpecs": {"Worker": {"restartPolicy": "Never"}}}, {}, False),
    (PYTORCHJOB, {"runPolicy": {"backoffLimit": 0}}, {}, False),
    (VOLCANO, {}, {"restartPolicy": "Never"}, False),
    (VOLCANO, {}, {"restartPolicy": "OnFailure"}, True),
    (
        VOLCANO,
        {"tasks": [{"policies": [{"event": "PodFailed", "action": "RestartTask"}]}]},
        {},
        True,
    ),
]


def check_retries(kind: tuple[str, str], spec: dict[str, Any], expected: int) -> None:
    assert operators.kind_named(kind).retries({"spec": spec}) == expected


def check_recreates(
    kind: tuple[str, str], spec: dict[str, Any], pod: dict[str, Any], expected: bool
) -> None:
    template = Template((), {"spec": pod}, "Worker", 1)
    assert operators.kind_named(kind).recreates({"spec": spec}, template) is expected
