"""Manifests of each kind that the tests of conversions share."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def container(**fields: Any) -> Json:
    return {"name": "pytorch", "image": "img:1", "command": ["python", "train.py"], **fields}


def template(pod: Json | None = None, **fields: Any) -> Json:
    return {"spec": {"containers": [container(**fields)], **(pod or {})}}


def pytorchjob(
    pod: Json | None = None, *, labels: Json | None = None, policy: Json | None = None, **spec: Any
) -> Json:
    """A Master and two Workers."""
    replicas = {
        role: {"replicas": count, "restartPolicy": "Never", "template": template(pod)}
        for role, count in (("Master", 1), ("Worker", 2))
    }
    body = {
        "runPolicy": {"cleanPodPolicy": "None", **(policy or {})},
        "pytorchReplicaSpecs": replicas,
        **spec,
    }
    metadata = {"name": "p", **({"labels": labels} if labels else {})}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": metadata,
        "spec": body,
    }


def volcano_job(**spec: Any) -> Json:
    """A master and two workers of the pytorch plugin, in the queue nlp."""
    pod = {"restartPolicy": "Never"}
    tasks = [
        {"name": name, "replicas": count, "template": template(pod)}
        for name, count in (("master", 1), ("worker", 2))
    ]
    body = {
        "minAvailable": 3,
        "schedulerName": "volcano",
        "queue": "nlp",
        "plugins": {"pytorch": []},
        "tasks": tasks,
    }
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "v"},
        "spec": {**body, **spec},
    }


def trainjob(runtime: Json, **trainer: Any) -> Json:
    spec = {
        "runtimeRef": runtime,
        "trainer": {"numNodes": 2, "command": ["torchrun", "train.py"], **trainer},
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t"},
        "spec": spec,
    }


def training_runtime(**spec: Any) -> Json:
    pod = {"spec": {"containers": [{"name": "node", "image": "runtime:1"}]}}
    step = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    jobs = [{"name": "node", "template": {"metadata": step, "spec": {"template": pod}}}]
    body = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": jobs}}, **spec}
    metadata = {"name": "ours", "labels": {"trainer.kubeflow.org/framework": "torch"}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": metadata,
        "spec": body,
    }


def stream(*objects: Json) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}
