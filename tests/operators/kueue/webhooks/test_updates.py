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
    SERVING,
    TEMPLATE,
    Json,
    K,
    app_wrapper,
    labelled,
    leader_worker_set,
    queued,
    ray_cluster,
    ray_job,
    rejected_update,
    serving,
    template,
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
def test_the_queue_of_a_running_job_is_immutable(manifest: Json) -> None:
    labels, moved = {**QUEUE, SECONDS: "60"}, {f"{K}queue-name": "other", SECONDS: "70"}
    running = suspended(labelled(manifest, labels), waits=False)
    waiting = suspended(labelled(manifest, labels))
    rejections = rejected_update(
        running, {**running, "metadata": labelled(manifest, moved)["metadata"]}
    )
    assert rejections == [
        "queue-name: field is immutable",
        "max-exec-time-seconds: field is immutable",
    ]
    assert (
        rejected_update(waiting, {**waiting, "metadata": labelled(manifest, moved)["metadata"]})
        == []
    )


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
    (
        "a workload is named",
        {},
        {},
        {PREBUILT: "wl-1"},
        {},
        ["prebuilt-workload-name: field is immutable"],
    ),
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
    ("before", "notes", "after", "new_notes", "why"),
    [c[1:] for c in CHANGES],
    ids=[c[0] for c in CHANGES],
)
def test_a_running_job_keeps_its_queue(
    before: Json, notes: Json, after: Json, new_notes: Json, why: list[str]
) -> None:
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
    for manifest, checked in (
        (JOB, True),
        (PYTORCHJOB, False),
        (app_wrapper({"template": JOB}), False),
    ):
        old, new = (
            suspended(labelled(manifest, {**QUEUE, SECONDS: text})) for text in ("60", "1h")
        )
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


def test_parallelism_of_a_partially_admitted_job_is_immutable() -> None:
    minimum = {f"{K}job-min-parallelism": "2"}
    why = (
        "parallelism: cannot change when partial admission is enabled and the job is not suspended"
    )
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
        (
            False,
            [
                "job-completions-equal-parallelism: field is immutable while the job is not suspended"
            ],
        ),
    ):
        old, new = (
            changed_job(notes, waits=waits, completionMode="Indexed") for notes in ({}, follows)
        )
        assert rejected_update(old, new) == why


PRIORITY = f"{K}priority-class"


@pytest.mark.parametrize("manifest", SERVING, ids=lambda manifest: manifest["kind"])
def test_queue_is_fixed_once_a_pod_is_ready(manifest: Json) -> None:
    ready = {**manifest, "status": {"readyReplicas": 1}}
    moved = labelled(ready, {f"{K}queue-name": "other"})
    assert rejected_update(ready, moved) == ["queue-name: field is immutable"]
    assert rejected_update(manifest, labelled(manifest, {f"{K}queue-name": "other"})) == []
    assert rejected_update(manifest, labelled(manifest)) == ["queue-name: field is immutable"], (
        "not removed"
    )


@pytest.mark.parametrize("manifest", SERVING, ids=lambda manifest: manifest["kind"])
def test_the_priority_class_cannot_be_removed(manifest: Json) -> None:
    labels = manifest["metadata"]["labels"]
    urgent = labelled(manifest, {**labels, PRIORITY: "high"})
    assert rejected_update(manifest, urgent) == []
    assert rejected_update({**manifest, "status": {"readyReplicas": 1}}, urgent) == [
        "priority-class: WorkloadPriorityClass cannot be added to a non-suspended workload"
    ]
    assert rejected_update(urgent, manifest) == [
        "priority-class: WorkloadPriorityClass cannot be removed from a workload"
    ]


def with_pod(**changes: Any) -> Json:
    """Return a template whose pods, or whose container for a lower case resource, differ."""
    out = copy.deepcopy(TEMPLATE)
    container: Any = out["spec"]["containers"][0]
    container.update(changes.pop("container", {}))
    out["spec"].update(changes)
    return out


SHAPES: list[tuple[str, Json, list[str]]] = [
    ("another image", with_pod(container={"image": "b:1"}), []),
    ("another command", with_pod(container={"command": ["x"]}), []),
    ("the same amount", with_pod(container={"resources": {"requests": {"cpu": "1000m"}}}), []),
    (
        "more",
        with_pod(container={"resources": {"requests": {"cpu": 2}}}),
        ["requests: field is immutable"],
    ),
    (
        "a port",
        with_pod(container={"ports": [{"containerPort": 80}]}),
        ["ports: field is immutable"],
    ),
    ("another pool", with_pod(nodeSelector={"pool": "b"}), ["nodeSelector: field is immutable"]),
    (
        "a toleration",
        with_pod(tolerations=[{"operator": "Exists"}]),
        ["tolerations: field is immutable"],
    ),
    (
        "a sidecar",
        {"spec": {"containers": [*TEMPLATE["spec"]["containers"], {"name": "b", "image": "b:1"}]}},
        ["1: field is immutable"],
    ),
]


@pytest.mark.parametrize(
    ("template", "why"), [case[1:] for case in SHAPES], ids=[case[0] for case in SHAPES]
)
def test_pods_in_a_queue_keep_what_they_request(template: Json, why: list[str]) -> None:
    stateful = serving("StatefulSet")
    assert rejected_update(stateful, serving("StatefulSet", template)) == why
    assert rejected_update(labelled(stateful), labelled(serving("StatefulSet", template))) == []
    assert rejected_update(serving("Deployment"), serving("Deployment", template)) == []
    assert (
        rejected_update(
            leader_worker_set(TEMPLATE, TEMPLATE), leader_worker_set(template, TEMPLATE)
        )
        == why
    )


@pytest.mark.parametrize(
    ("before", "after", "running", "why"),
    [
        (3, 4, 0, ["replicas: field is immutable"]),
        (3, 0, 3, []),
        (0, 3, 0, []),
        (0, 3, 2, ["replicas: scaling down is still in progress"]),
    ],
)
def test_stateful_sets_scale_to_and_from_zero(
    before: int, after: int, running: int, why: list[str]
) -> None:
    old, new = (serving("StatefulSet", replicas=pods) for pods in (before, after))
    status = {"status": {"replicas": running}}
    assert rejected_update({**old, **status}, {**new, **status}) == why
    assert (
        rejected_update(
            serving("Deployment", replicas=before), serving("Deployment", replicas=after)
        )
        == []
    )


def test_groups_of_a_leader_worker_set_keep_their_size() -> None:
    old = leader_worker_set(TEMPLATE)
    assert rejected_update(old, leader_worker_set(TEMPLATE, size=4)) == ["size: field is immutable"]
    assert rejected_update(old, leader_worker_set(TEMPLATE, TEMPLATE)) == [
        "leaderTemplate: field is immutable"
    ]
    alone, unnamed = leader_worker_set(TEMPLATE, size=1), leader_worker_set(TEMPLATE)
    del unnamed["spec"]["leaderWorkerTemplate"]["size"]
    assert rejected_update(alone, unnamed) == rejected_update(unnamed, alone) == [], "1 by default"
    assert rejected_update(unnamed, old) == ["size: field is immutable"]
    more = copy.deepcopy(old)
    more["spec"]["replicas"] = 9
    assert rejected_update(old, more) == []


def test_what_happens_to_pods_later_does_not_reject_an_update() -> None:
    bad = serving("Deployment", template(podset_required_topology="bad key!"))
    assert rejected_update(serving("Deployment"), bad) == []
