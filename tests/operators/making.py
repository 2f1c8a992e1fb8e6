"""Builders of small manifests, and readers of the pods expanded from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ptcompile.kinds.pods import Expansion, PodView
from ptcompile.operators.table import expand

Json = dict[str, Any]


def container(name: str = "pytorch", **more: Any) -> Json:
    return {"name": name, "image": "img:1", **more}


def template(*containers: Json, **spec: Any) -> Json:
    return {"spec": {"containers": list(containers) or [container()], **spec}}


def pytorchjob(
    master: int | None, workers: int | None, *, name: str = "test-job", **spec: Any
) -> Json:
    replicas: Json = {}
    for key, count in (("Master", master), ("Worker", workers)):
        if count is not None:
            replicas[key] = {"replicas": count, "template": template()}
    metadata = {"name": name}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": metadata,
        "spec": {"pytorchReplicaSpecs": replicas, **spec},
    }


def task(name: str, replicas: int = 1, *containers: Json, **more: Any) -> Json:
    return {"name": name, "replicas": replicas, "template": template(*containers), **more}


def volcano(*tasks: Json, name: str = "test-pytorch", **spec: Any) -> Json:
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"tasks": list(tasks), **spec},
    }


def replicated(name: str, *, replicas: int = 1, pods: int | None = 1, **more: Any) -> Json:
    job: Json = {"template": template()}
    if pods is not None:
        job |= {"parallelism": pods, "completions": pods}
    job |= more.pop("job", {})
    return {"name": name, "replicas": replicas, "template": {"spec": job}, **more}


def jobset(*jobs: Json, name: str = "js", **spec: Any) -> Json:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": list(jobs), **spec},
    }


def trainjob(runtime: str = "torch-distributed", *, name: str = "trainJob", **spec: Any) -> Json:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": {"runtimeRef": {"name": runtime}, **spec},
    }


def runtime(policy: Json | None, *jobs: Json, name: str = "mine", **spec: Any) -> Json:
    body: Json = {"template": {"spec": {"replicatedJobs": list(jobs) or [node()]}}, **spec}
    if policy is not None:
        body["mlPolicy"] = policy
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name},
        "spec": body,
    }


def node(**more: Any) -> Json:
    """Return the training replicatedJob of a runtime, with one container `node`."""
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    spec = {"template": {"spec": {"containers": [container("node", **more)]}}}
    return {"name": "node", "template": {"metadata": {"labels": labels}, "spec": spec}}


def pods(manifest: Mapping[str, Any], **more: Any) -> dict[str, PodView]:
    return {p.name: p for p in expand(manifest, **more).pods}


def edge_pods(expansion: Expansion) -> Iterator[PodView]:
    """Yield the first two pods and the last one of each role."""
    for role in expansion.roles:
        indexes = {0, 1, role.count - 1}
        yield from (role.pod(index) for index in sorted(indexes) if 0 <= index < role.count)


def env(pod: PodView, name: str | None = None) -> dict[str, str]:
    """Return a main container's env as written: literal values, and `$(path)` for references."""
    found = next(c for c in pod.containers if not c.init and name in (None, c.name))
    entries = found.to_dict()["env"]
    return {e["name"]: e.get("value", f"$({e.get('fieldRef', e.get('from'))})") for e in entries}


def ports(pod: PodView) -> list[tuple[str, int]]:
    main = next(c for c in pod.containers if not c.init)
    return [(p.get("name", ""), p["containerPort"]) for p in main.to_dict()["ports"]]
