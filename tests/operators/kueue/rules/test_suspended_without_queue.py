"""Suspended jobs: who may start them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, fires

QUEUE = "kueue.x-k8s.io/queue-name"


def _job(metadata: Json | None = None, **spec: Any) -> Json:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a:1"}]}}
    about = {"name": "t", **(metadata or {})}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": about,
        "spec": {"template": template, **spec},
    }


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (_job(suspend=True), True),
        (_job(suspend=False), False),
        (_job(), False),
        (_job({"labels": {QUEUE: "q"}}, suspend=True), False),
        (_job({"labels": {"kai.scheduler/queue": "q"}}, suspend=True), False),
        (_job({"ownerReferences": [{"kind": "Workflow", "name": "w"}]}, suspend=True), False),
        (_job(suspend=True, managedBy="kueue.x-k8s.io/multikueue"), False),
    ],
)
def test_a_suspended_job_needs_a_queue_or_an_owner(job: Json, expected: bool) -> None:
    assert fires("suspended-without-queue", job) is expected


def test_suspended_jobs_of_every_operator_are_reported() -> None:
    for kind, spec in (
        (("jobset.x-k8s.io/v1alpha2", "JobSet"), {"suspend": True}),
        (("trainer.kubeflow.org/v1alpha1", "TrainJob"), {"suspend": True}),
        (("kubeflow.org/v1", "PyTorchJob"), {"runPolicy": {"suspend": True}}),
        (("kubeflow.org/v2beta1", "MPIJob"), {"runPolicy": {"suspend": True}}),
    ):
        manifest = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "t"}, "spec": spec}
        assert fires("suspended-without-queue", manifest), kind


def test_a_default_queue_counts_only_in_its_namespace() -> None:
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "spec": {"clusterQueue": "c"},
    }
    own = {**queue, "metadata": {"name": "default", "namespace": "ml"}}
    job = _job({"namespace": "ml"}, suspend=True)
    assert not fires("suspended-without-queue", job, own)
    assert fires(
        "suspended-without-queue", job, {**own, "metadata": {"name": "default", "namespace": "web"}}
    )
