"""Objects in Kueue's queues for tests, and what its webhooks reject of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import ptcompile
from ptcompile.apiserver import validate
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes.versions import Versions
from tests.linter.rules.launch.making import job, jobset, pod, pytorchjob, role

Json = dict[str, Any]
K = "kueue.x-k8s.io/"
QUEUE = {f"{K}queue-name": "research"}
REQUIRED, PREFERRED = f"{K}podset-required-topology", f"{K}podset-preferred-topology"
UNCONSTRAINED = f"{K}podset-unconstrained-topology"
SLICE, SIZE = f"{K}podset-slice-required-topology", f"{K}podset-slice-size"
CONSTRAINTS, GROUP = f"{K}podset-slice-required-topology-constraints", f"{K}podset-group-name"

TEMPLATE: Json = {
    "spec": {
        "containers": [{"name": "main", "image": "a:1", "resources": {"requests": {"cpu": 1}}}]
    }
}


def template(**annotations: str) -> Json:
    """Return a pod template with Kueue's annotations: `podset_slice_size="2"`."""
    keys = {K + name.replace("_", "-"): value for name, value in annotations.items()}
    return copy.deepcopy(TEMPLATE) | {"metadata": {"annotations": keys}}


def queued(api_version: str, kind: str, spec: Json) -> Json:
    """Return an object of a kind in a queue."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "a", "labels": {**QUEUE}},
        "spec": spec,
    }


def ray_cluster(*groups: Json, head: Json | None = None, **fields: Any) -> Json:
    """Return the specification of a Ray cluster; a group is its fields besides the template."""
    workers = [
        {"groupName": f"g{i}", "replicas": 2, "template": TEMPLATE, **group}
        for i, group in enumerate(groups)
    ]
    return {"headGroupSpec": {"template": head or TEMPLATE}, "workerGroupSpecs": workers, **fields}


def ray_job(cluster: Json | None, **fields: Any) -> Json:
    spec = {"shutdownAfterJobFinishes": True, "entrypoint": "python t.py", **fields}
    return queued(
        "ray.io/v1", "RayJob", spec if cluster is None else {**spec, "rayClusterSpec": cluster}
    )


def replicas(kind: str, field: str, **roles: Json) -> Json:
    """Return a job of Kubeflow; a role is the fields of its replicas."""
    specs = {name: {"template": TEMPLATE, **fields} for name, fields in roles.items()}
    version = "kubeflow.org/v2beta1" if kind == "MPIJob" else "kubeflow.org/v1"
    return queued(version, kind, {field: specs})


def leader_worker_set(worker: Json, leader: Json | None = None, size: int = 3) -> Json:
    leaders = {} if leader is None else {"leaderTemplate": leader}
    groups = {"leaderWorkerTemplate": {"size": size, "workerTemplate": worker, **leaders}}
    return queued("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", groups)


def serving(kind: str, pods: Json | None = None, *, ready: int = 0, **spec: Any) -> Json:
    """Return a Deployment or a StatefulSet in a queue; `ready` pods of it are ready."""
    pods = copy.deepcopy(pods or TEMPLATE)
    pods.setdefault("metadata", {})["labels"] = {"app": "a"}
    fields = {"selector": {"matchLabels": {"app": "a"}}, "template": pods, "replicas": 3, **spec}
    manifest = queued("apps/v1", kind, fields)
    return manifest | {"status": {"replicas": ready, "readyReplicas": ready}} if ready else manifest


def app_wrapper(*components: Json) -> Json:
    return queued("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": [*components]})


POD, JOB = pod("python"), job("python", "t.py")
JOBSET = jobset(role("python", "t.py", pods=2, replicas=2))
PYTORCHJOB = pytorchjob(master=["python", "t.py"], worker=["python", "t.py"], workers=3)
TRAINJOB = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "train"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}},
}
JOBS: tuple[Json, ...] = (
    POD,
    JOB,
    JOBSET,
    PYTORCHJOB,
    TRAINJOB,
    replicas("MPIJob", "mpiReplicaSpecs", Launcher={}, Worker={"replicas": 2}),
    replicas("JAXJob", "jaxReplicaSpecs", Worker={"replicas": 2}),
    replicas("PaddleJob", "paddleReplicaSpecs", Worker={"replicas": 2}),
    replicas("TFJob", "tfReplicaSpecs", PS={}, Worker={"replicas": 2}),
    replicas("XGBoostJob", "xgbReplicaSpecs", Master={}, Worker={"replicas": 2}),
    queued("ray.io/v1", "RayCluster", ray_cluster({})),
    ray_job(ray_cluster({})),
    app_wrapper({"template": JOB}),
)
"""One object of each kind that ends."""
SERVING: tuple[Json, ...] = (
    serving("Deployment"),
    serving("StatefulSet"),
    leader_worker_set(TEMPLATE),
)
"""One object of each kind that serves."""


def labelled(manifest: Json, labels: Json | None = None, annotations: Json | None = None) -> Json:
    """Return a copy with these labels and annotations instead of its own."""
    return manifest | {
        "metadata": manifest["metadata"]
        | {"labels": labels or {}, "annotations": annotations or {}}
    }


def with_annotations(manifest: Json, path: Path, annotations: Json) -> Json:
    """Return a copy with these annotations in the pod template at a path."""
    out = copy.deepcopy(manifest)
    at: Any = out
    for part in path:
        at = at[part]
    at.setdefault("metadata", {})["annotations"] = annotations
    return out


def problems_of(
    manifest: Json, kueue: tuple[int, int] = (0, 19), others: tuple[Json, ...] = ()
) -> Iterator[Problem]:
    """Yield the rejections of an object by Kueue."""
    for problem in validate(manifest, versions=Versions(kueue=kueue), others=others):
        if problem.authority == "kueue":
            assert (problem.severity, problem.stage) == ("error", "apply")
            assert problem.help
            yield problem


def rejected(
    manifest: Json, kueue: tuple[int, int] = (0, 19), others: tuple[Json, ...] = ()
) -> list[tuple[str, Path]]:
    """Return the name and path of each rejection by Kueue."""
    return [(problem.name, problem.path) for problem in problems_of(manifest, kueue, others)]


def reasons(
    manifest: Json, kueue: tuple[int, int] = (0, 19), others: tuple[Json, ...] = ()
) -> list[str]:
    """Return the message of each rejection by Kueue, without its path."""
    return [problem.message.partition(": ")[2] for problem in problems_of(manifest, kueue, others)]


def profile(kueue: str) -> Json:
    """Return a profile of a cluster with this release of Kueue."""
    spec = {"versions": {"kueue": kueue}}
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "c"},
        "spec": spec,
    }


def rejected_update(old: Json, new: Json, kueue: str = "0.19") -> list[str]:
    """Return the last key of the path and the reason of each rejection of an update by Kueue."""
    cluster = profile(kueue)
    report = ptcompile.diff(old, new, from_cluster=cluster, to_cluster=cluster)
    diagnostics = [problem for problem in report.diagnostics if problem.authority == "kueue"]
    assert all(
        (problem.severity, problem.stage) == ("error", "apply") and problem.help
        for problem in diagnostics
    )
    return [
        f"{str(problem.path[-1]).removeprefix(K)}: {problem.message.rpartition(': ')[2]}"
        for problem in diagnostics
    ]
