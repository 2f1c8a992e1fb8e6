"""Sentences on how queues affect a job, and the state of a job that waits in one."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.queues.queue_systems import queue_sentences, settled_status

OLDER, NEWER = Versions(kueue=(0, 18)), Versions(kueue=(0, 19))


def queued(api_version: str, kind: str) -> dict[str, Any]:
    labels = {"kueue.x-k8s.io/queue-name": "q"}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "labels": labels}}


def test_kueue_evicts_jobs_whose_pods_do_not_become_ready() -> None:
    """Since 0.19 by default."""
    job = queued("batch/v1", "Job")
    assert [*queue_sentences(job, OLDER)] == ["waits until Kueue admits it from the queue 'q'"]
    first, second = queue_sentences(job, NEWER)
    assert first == "waits until Kueue admits it from the queue 'q'"
    assert "evicts and requeues it if its pods are not all ready within 30 minutes" in second
    assert not [*queue_sentences({**job, "metadata": {"name": "a"}}, NEWER)]


def test_a_kind_that_kueue_leaves_out_needs_a_configuration() -> None:
    job = queued("kubeflow.org/v1", "PyTorchJob")
    first, _ = queue_sentences(job, NEWER)
    assert first.endswith(
        ", if integrations.frameworks lists kubeflow.org/pytorchjob (by default it starts at once)"
    )
    assert next(queue_sentences(job, OLDER)) == "waits until Kueue admits it from the queue 'q'"
    assert next(queue_sentences(job, NEWER, ["kubeflow.org/pytorchjob"])) == (
        "waits until Kueue admits it from the queue 'q'"
    )
    assert "integrations.frameworks" in next(queue_sentences(job, NEWER, ["kubeflow.org/tfjob"]))


@pytest.mark.parametrize(
    ("metadata", "condition", "expected"),
    [
        ({}, None, ("queued", "Suspended", None)),
        ({}, {"reason": "r", "message": "m"}, ("queued", "r", "m")),
        (
            {"labels": {"kueue.x-k8s.io/queue-name": "q"}, "uid": "1"},
            None,
            (
                "queued",
                "Suspended",
                "waits for Kueue's queue q; its Workload (label kueue.x-k8s.io/job-uid=1) says for what",
            ),
        ),
        (
            {"labels": {"kueue.x-k8s.io/queue-name": "q"}},
            {"reason": "r"},
            (
                "queued",
                "r",
                "waits for Kueue's queue q; its Workload (label kueue.x-k8s.io/job-uid) says for what",
            ),
        ),
    ],
)
def test_a_suspended_job_is_settled(
    metadata: dict[str, Any],
    condition: dict[str, Any] | None,
    expected: tuple[str, str, str | None],
) -> None:
    conditions = [] if condition is None else [{"type": "Suspended", "status": "True", **condition}]
    live = {"metadata": metadata, "spec": {"suspend": True}, "status": {"conditions": conditions}}
    assert settled_status(live, "Complete", ("spec", "suspend")) == expected
