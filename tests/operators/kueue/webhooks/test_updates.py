"""Changes of jobs that Kueue's webhooks reject."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.operators.kueue.webhooks.making import (
    JOB,
    JOBS,
    PYTORCHJOB,
    QUEUE,
    Json,
    K,
    app_wrapper,
    labelled,
    queued,
    ray_cluster,
    ray_job,
    rejected_update,
    with_annotations,
)

PRIORITY, SECONDS = f"{K}priority-class", f"{K}max-exec-time-seconds"
PREBUILT, GATES, ELASTIC = f"{K}prebuilt-workload-name", f"{K}admission-gated-by", f"{K}elastic-job"


def suspended(manifest: Json, *, waits: bool = True) -> Json:
    """Return a copy that waits, or runs."""
    out = copy.deepcopy(manifest)
    if out["kind"] == "Pod":
        out["spec"]["schedulingGates"] = [{"name": f"{K}admission"}] if waits else []
    else:
        policy = out["kind"] == "MPIJob" or out["apiVersion"] == "kubeflow.org/v1"
        (out["spec"].setdefault("runPolicy", {}) if policy else out["spec"])["suspend"] = waits
    return out


@pytest.mark.parametrize("manifest", JOBS, ids=lambda manifest: manifest["kind"])
def test_queue_of_a_running_job(manifest: Json) -> None:
    labels, moved = {**QUEUE, SECONDS: "60"}, {f"{K}queue-name": "other", SECONDS: "70"}
    running = suspended(labelled(manifest, labels), waits=False)
    waiting = suspended(labelled(manifest, labels))
    found = rejected_update(running, {**running, "metadata": labelled(manifest, moved)["metadata"]})
    assert found == ["queue-name: field is immutable", "max-exec-time-seconds: field is immutable"]
    assert rejected_update(waiting, {**waiting, "metadata": labelled(manifest, moved)["metadata"]}) == []


CHANGES: list[tuple[str, Json, Json, Json, Json, list[str]]] = [
    ("a priority class is replaced", {PRIORITY: "low"}, {}, {PRIORITY: "high"}, {}, []),
    (
        "a priority class is removed",
        {PRIORITY: "low"},
        {},
        {},
        {},
        ["priority-class: WorkloadPriorityClass cannot be removed from a workload"],
    ),
    ("an empty priority class is none", {}, {}, {PRIORITY: ""}, {}, []),
    (
        "a priority class is added",
        {},
        {},
        {PRIORITY: "high"},
        {},
        ["priority-class: WorkloadPriorityClass cannot be added to a non-suspended workload"],
    ),
    ("a workload is named", {}, {}, {PREBUILT: "wl-1"}, {}, ["prebuilt-workload-name: field is immutable"]),
    ("a job becomes elastic", {}, {}, {}, {ELASTIC: "true"}, ["elastic-job: field is immutable"]),
    ("elastic-job is only true", {}, {}, {}, {ELASTIC: "yes"}, []),
    (
        "a gate is added",
        {},
        {},
        {},
        {GATES: "a.io/x"},
        ["admission-gated-by: cannot add admission gate after creation"],
    ),
    (
        "a gate is added to others",
        {},
        {GATES: "a.io/x"},
        {},
        {GATES: "a.io/x,a.io/y"},
        ["admission-gated-by: can only remove gates, not add new ones"],
    ),
    ("a gate is taken away", {}, {GATES: "a.io/x, a.io/y"}, {}, {GATES: "a.io/y"}, []),
    ("all gates are taken away", {}, {GATES: "a.io/x"}, {}, {}, []),
]


@pytest.mark.parametrize(
    ("before", "notes", "after", "new_notes", "why"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES]
)
def test_running_jobs(before: Json, notes: Json, after: Json, new_notes: Json, why: list[str]) -> None:
    old, new = (
        suspended(labelled(JOB, {**QUEUE, **labels}, annotations), waits=False)
        for labels, annotations in ((before, notes), (after, new_notes))
    )
    assert rejected_update(old, new) == why


def test_gates_are_not_checked_by_older_releases() -> None:
    old, new = (labelled(JOB, QUEUE, annotations) for annotations in ({}, {GATES: "bad"}))
    assert len(rejected_update(old, new)) == 2
    assert rejected_update(old, new, "0.18") == []


def test_elastic_jobs_take_another_workload() -> None:
    old, new = (
        suspended(labelled(JOB, {**QUEUE, **labels}, {ELASTIC: "true"}), waits=False)
        for labels in ({}, {PREBUILT: "w"})
    )
    assert rejected_update(old, new) == []


def test_labels_of_some_kinds_are_checked_at_creation_alone() -> None:
    """The base webhook checks only what changes; those of Jobs, JobSets and Ray's kinds check the new object again."""
    for manifest, checked in ((JOB, True), (PYTORCHJOB, False), (app_wrapper({"template": JOB}), False)):
        old, new = (suspended(labelled(manifest, {**QUEUE, SECONDS: text})) for text in ("60", "1h"))
        assert bool(rejected_update(old, new)) is checked


def test_topology_is_checked_again() -> None:
    path = ("spec", "pytorchReplicaSpecs", "Worker", "template")
    old = suspended(labelled(PYTORCHJOB, QUEUE))
    bad = with_annotations(old, path, {f"{K}podset-unconstrained-topology": "maybe"})
    assert rejected_update(old, bad) == ["podset-unconstrained-topology: must be a boolean value"]


def test_unchanged_objects_are_not_checked() -> None:
    bad = labelled(JOB, {f"{K}queue-name": "Bad_Name"})
    assert rejected_update(bad, bad) == []


def test_ray_objects_outside_of_queues_are_not_checked() -> None:
    cluster = queued("ray.io/v1", "RayCluster", ray_cluster({}))
    old, new = (labelled(cluster, {SECONDS: text}) for text in ("60", "1h"))
    assert rejected_update(old, new) == []
    queued_before = suspended(labelled(cluster, {**QUEUE}), waits=False)
    outside = suspended(labelled(cluster), waits=False)
    assert rejected_update(queued_before, outside) == ["queue-name: field is immutable"]
    assert rejected_update(queued_before, outside, "0.18") == []


def test_ray_jobs_keep_deleting_their_clusters() -> None:
    old = ray_job(ray_cluster({}))
    new = ray_job(ray_cluster({}), shutdownAfterJobFinishes=False)
    why = "shutdownAfterJobFinishes: a kueue managed job should delete the cluster after finishing"
    assert rejected_update(old, new) == [why]


def changed_job(annotations: Json, *, waits: bool, **spec: Any) -> Json:
    job = suspended(labelled(JOB, QUEUE, annotations), waits=waits)
    return {**job, "spec": {**job["spec"], "parallelism": 4, "completions": 4, **spec}}


def test_parallelism_of_a_partially_admitted_job() -> None:
    minimum = {f"{K}job-min-parallelism": "2"}
    why = "parallelism: cannot change when partial admission is enabled and the job is not suspended"
    old, new = (changed_job(minimum, waits=False, parallelism=pods) for pods in (4, 3))
    assert rejected_update(old, new) == [why]
    old, new = (changed_job(minimum, waits=True, parallelism=pods) for pods in (4, 3))
    assert rejected_update(old, new) == []


def test_least_number_of_pods_is_checked_if_it_changes() -> None:
    minimum, lower = {f"{K}job-min-parallelism": "3"}, {f"{K}job-min-parallelism": "2"}
    old = changed_job(minimum, waits=True)
    assert rejected_update(old, changed_job(minimum, waits=True, parallelism=2)) == []
    assert rejected_update(old, changed_job(lower, waits=True, parallelism=2)) == [
        "job-min-parallelism: should be between 0 and 1"
    ]


def test_a_job_without_counts_has_one_completion() -> None:
    """The API server writes it when the Job is created, so more parallelism later runs no more pods."""
    old = suspended(labelled(JOB, QUEUE))
    for count in ("parallelism", "completions"):
        old["spec"].pop(count, None)
    new = copy.deepcopy(old)
    new["spec"]["parallelism"] = 5
    new["metadata"]["annotations"] = {f"{K}job-min-parallelism": "2"}
    assert rejected_update(old, new) == ["job-min-parallelism: should be between 0 and 0"]


def test_completions_start_to_follow_the_parallelism() -> None:
    follows = {f"{K}job-completions-equal-parallelism": "true"}
    for waits, why in (
        (True, []),
        (False, ["job-completions-equal-parallelism: field is immutable while the job is not suspended"]),
    ):
        old, new = (changed_job(notes, waits=waits, completionMode="Indexed") for notes in ({}, follows))
        assert rejected_update(old, new) == why
