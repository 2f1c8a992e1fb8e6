"""Short builders of manifests for the launch rules, and their findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptcompile.linter import run
from tests.linter.asking import of_families

Json = dict[str, Any]
OURS = frozenset(rule.name for rule in of_families("launch", "pytorchjob", "kueue"))
RESOURCES: Json = {"limits": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 1}}


def container(command: Sequence[str], **fields: Any) -> Json:
    return {
        "name": "pytorch",
        "image": "ghcr.io/acme/train:1.0",
        "command": [*command],
        "resources": RESOURCES,
        **fields,
    }


def pod(*command: str, **fields: Any) -> Json:
    spec = {"restartPolicy": "Never", "containers": [container(command, **fields)]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"}, "spec": spec}


def job(*command: str, pods: int = 2, **fields: Any) -> Json:
    """Return an Indexed Job without a Service."""
    template = {
        "spec": {
            "restartPolicy": "Never",
            "subdomain": "train",
            "containers": [container(command, **fields)],
        }
    }
    spec = {
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "template": template,
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": spec}


def jobset(*roles: Json, namespace: str | None = None, **spec: Any) -> Json:
    metadata = {"name": "train"} | ({"namespace": namespace} if namespace else {})
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": {"replicatedJobs": [*roles], **spec},
    }


def role(
    *command: str, name: str = "node", pods: int = 2, replicas: int = 1, **fields: Any
) -> Json:
    template = {"spec": {"restartPolicy": "Never", "containers": [container(command, **fields)]}}
    child = {
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "backoffLimit": 0,
    }
    return {
        "name": name,
        "replicas": replicas,
        "template": {"spec": {**child, "template": template}},
    }


def pytorchjob(
    *, master: Sequence[str] | None = None, worker: Sequence[str] | None = None, **parts: Any
) -> Json:
    """Return a PyTorchJob. `workers` is the number of Workers, `container` adds container fields; the rest are spec
    fields.
    """
    more, workers = parts.pop("container", {}), parts.pop("workers", 2)
    replicas: Json = {}
    for name, command, count in (("Master", master, 1), ("Worker", worker, workers)):
        if command is not None:
            template = {"spec": {"containers": [container(command, **more)]}}
            replicas[name] = {"replicas": count, "restartPolicy": "OnFailure", "template": template}
    spec = {
        "nprocPerNode": "1",
        "runPolicy": {"backoffLimit": 3},
        **parts,
        "pytorchReplicaSpecs": replicas,
    }
    kept = {key: value for key, value in spec.items() if value is not None}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": kept,
    }


def names(manifest: Json, *, others: Sequence[Json] = ()) -> set[str]:
    """Return the names of the launch, PyTorchJob and Kueue rules that find something."""
    return {problem.name for problem in run(manifest, stream=others, only=OURS)}


def messages(manifest: Json, only: str) -> list[str]:
    """Return the messages of one rule."""
    return [problem.message for problem in run(manifest, only={only})]
