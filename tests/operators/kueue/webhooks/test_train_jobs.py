"""TrainJobs, whose pod sets are those of their runtime."""

from __future__ import annotations

from tests.operators.kueue.webhooks.making import (
    QUEUE,
    REQUIRED,
    TRAINJOB,
    Json,
    K,
    labelled,
    problems_of,
    reasons,
    rejected,
)


def runtime(annotations: Json) -> Json:
    template = {
        "metadata": {"annotations": annotations},
        "spec": {"containers": [{"name": "node", "image": "a:1"}]},
    }
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
        jobs = [
            {
                "name": "node",
                "template": {"spec": {"template": {"metadata": {"annotations": patch}}}},
            }
        ]
        patched = {"template": {"spec": {"replicatedJobs": jobs}}}
        spec["runtimePatches"] = [{"manager": "acme.io/team", "trainingRuntimeSpec": patched}]
    return {**labelled(TRAINJOB, QUEUE), "spec": spec}


def test_topology_in_the_runtime_of_a_train_job_is_checked() -> None:
    path = ("spec", "runtimeRef", "name")
    assert rejected(train_job(), others=(runtime({REQUIRED: "bad key!"}),)) == [
        ("refused-topology-request", path)
    ]
    [problem] = problems_of(
        labelled(train_job()), others=(runtime({REQUIRED: "bad key!"}),)
    )  # a queue is not needed
    assert problem.message.startswith(f"job[node].annotations[{REQUIRED}]: Invalid value: ")
    assert rejected(train_job(), others=(runtime({REQUIRED: "rack"}),)) == []


def test_topology_in_a_patch_of_a_train_job_is_checked() -> None:
    [(_, path)] = rejected(train_job({REQUIRED: "bad key!"}), others=(runtime({}),))
    assert (path[:3], path[-1]) == (("spec", "runtimePatches", 0), REQUIRED)
    slices = {f"{K}podset-slice-required-topology": "rack", f"{K}podset-slice-size": "3"}
    reported = reasons(train_job(slices), others=(runtime({}),))
    assert reported == ['Invalid value: "3": must not be greater than pod set count 2']


def test_patches_of_a_runtime_that_no_file_has_are_checked_alone() -> None:
    """What is wrong regardless of the runtime is reported: a value, but not an annotation that it may complete."""
    [(_, path)] = rejected(train_job({REQUIRED: "bad key!"}))
    assert path[-1] == REQUIRED
    for patch in (
        {f"{K}podset-slice-size": "9"},
        {f"{K}podset-group-name": "g"},
        {REQUIRED: "rack"},
    ):
        assert rejected(train_job(patch)) == []
    assert rejected(train_job({f"{K}podset-slice-size": "many"}))


def test_kueues_patch_is_its_own() -> None:
    """Kueue adds a patch of its manager to a TrainJob in a queue, and the API server rejects the second of a name."""
    exported = train_job({})
    exported["spec"]["runtimePatches"][0]["manager"] = "kueue.x-k8s.io/manager"
    assert rejected(exported, others=(runtime({}),)) == [
        ("webhook-refusal", ("spec", "runtimePatches", 0, "manager"))
    ]
    assert rejected(labelled(exported), others=(runtime({}),)) == [], "without a queue"
    assert rejected(exported, (0, 16), others=(runtime({}),)) == []


def test_the_message_about_kueues_patch_names_the_list_item() -> None:
    exported = train_job({})
    exported["spec"]["runtimePatches"][0]["manager"] = "kueue.x-k8s.io/manager"
    (problem,) = [
        p for p in problems_of(exported, others=(runtime({}),)) if p.name == "webhook-refusal"
    ]
    assert problem.message.startswith("spec.runtimePatches[0]: Duplicate value: ")
