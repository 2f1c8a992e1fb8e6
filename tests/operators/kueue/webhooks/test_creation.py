"""What Kueue's mutating webhooks change before the checks, and the runtimes of TrainJobs."""

from __future__ import annotations

import ptcompile
from tests.operators.kueue.webhooks.making import (
    JOB,
    QUEUE,
    REQUIRED,
    TRAINJOB,
    Json,
    K,
    labelled,
    problems_of,
    ray_cluster,
    ray_job,
    reasons,
    rejected,
)

DEFAULT = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {"name": "default", "namespace": "team"},
    "spec": {"clusterQueue": "a"},
}


def in_team(manifest: Json) -> Json:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": "team"}}


def test_default_queue_of_a_namespace() -> None:
    """A job without a queue is checked as one in the LocalQueue `default` of its namespace."""
    kept = in_team(labelled(ray_job(ray_cluster({}), shutdownAfterJobFinishes=False)))
    assert rejected(kept) == []
    assert [path[-1] for _, path in rejected(kept, others=(DEFAULT,))] == ["shutdownAfterJobFinishes"]
    elsewhere = {**DEFAULT, "metadata": {"name": "default"}}
    assert rejected(kept, others=(elsewhere,)) == []
    other = {**DEFAULT, "metadata": {"name": "other", "namespace": "team"}}
    assert rejected(kept, others=(other,)) == []


def test_default_queue_replaces_an_empty_name() -> None:
    nameless = in_team(labelled(TRAINJOB, {f"{K}queue-name": ""}))
    assert rejected(nameless)
    assert rejected(nameless, others=(DEFAULT,)) == []


def test_default_queue_is_not_for_owned_objects() -> None:
    kept = in_team(labelled(ray_job(ray_cluster({}), shutdownAfterJobFinishes=False)))
    kept["metadata"]["ownerReferences"] = [{"kind": "RayService", "name": "a", "controller": True}]
    assert rejected(kept, others=(DEFAULT,)) == []


def runtime(annotations: Json) -> Json:
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "node", "image": "a:1"}]}}
    job = {
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
        "spec": {"template": template},
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "mine", "labels": {"trainer.kubeflow.org/framework": "torch"}},
        "spec": {
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": job}]}},
        },
    }


def train_job(patch: Json | None = None) -> Json:
    spec: Json = {"runtimeRef": {"name": "mine"}, "trainer": {"numNodes": 2}}
    if patch is not None:
        jobs = [{"name": "node", "template": {"spec": {"template": {"metadata": {"annotations": patch}}}}}]
        patched = {"template": {"spec": {"replicatedJobs": jobs}}}
        spec["runtimePatches"] = [{"manager": "acme.io/team", "trainingRuntimeSpec": patched}]
    return {**labelled(TRAINJOB, QUEUE), "spec": spec}


def test_topology_in_the_runtime_of_a_train_job() -> None:
    path = ("spec", "runtimeRef", "name")
    assert rejected(train_job(), others=(runtime({REQUIRED: "bad key!"}),)) == [("refused-topology-request", path)]
    [problem] = problems_of(labelled(train_job()), others=(runtime({REQUIRED: "bad key!"}),))  # a queue is not needed
    assert problem.message.startswith(f"job[node].annotations[{REQUIRED}]: Invalid value: ")
    assert rejected(train_job(), others=(runtime({REQUIRED: "rack"}),)) == []


def test_topology_in_a_patch_of_a_train_job() -> None:
    [(_, path)] = rejected(train_job({REQUIRED: "bad key!"}), others=(runtime({}),))
    assert (path[:3], path[-1]) == (("spec", "runtimePatches", 0), REQUIRED)
    slices = {f"{K}podset-slice-required-topology": "rack", f"{K}podset-slice-size": "3"}
    found = reasons(train_job(slices), others=(runtime({}),))
    assert found == ['Invalid value: "3": must not be greater than pod set count 2']


def test_patches_of_a_runtime_that_no_file_has() -> None:
    """What is wrong regardless of the runtime is reported: a value, but not an annotation that it may complete."""
    [(_, path)] = rejected(train_job({REQUIRED: "bad key!"}))
    assert path[-1] == REQUIRED
    for patch in ({f"{K}podset-slice-size": "9"}, {f"{K}podset-group-name": "g"}, {REQUIRED: "rack"}):
        assert rejected(train_job(patch)) == []
    assert rejected(train_job({f"{K}podset-slice-size": "many"}))


def test_kueues_patch_is_its_own() -> None:
    """Kueue adds a patch of its manager to a TrainJob in a queue, and the API server rejects the second of a name."""
    exported = train_job({})
    exported["spec"]["runtimePatches"][0]["manager"] = "kueue.x-k8s.io/manager"
    assert rejected(exported, others=(runtime({}),)) == [("webhook-refusal", ("spec", "runtimePatches", 0, "manager"))]
    assert rejected(labelled(exported), others=(runtime({}),)) == [], "without a queue"
    assert rejected(exported, (0, 16), others=(runtime({}),)) == []


def test_jobs_of_a_cron_job() -> None:
    """Kueue accepts the CronJob, and rejects each Job that is made of it."""
    template = {"metadata": {"labels": {f"{K}queue-name": "Bad_Name"}}, "spec": JOB["spec"]}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 1 * * *", "jobTemplate": template},
    }
    [problem] = [problem for problem in ptcompile.lint(cron).diagnostics if problem.authority == "kueue"]
    assert (problem.code, problem.stage) == ("PTC229", "pod")
    assert problem.path == ("spec", "jobTemplate", "metadata", "labels", f"{K}queue-name")
