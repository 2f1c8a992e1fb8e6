"""Where each kind keeps its pod templates: the one place in the rules that knows."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import Json, at, integer, mapping, text

Found = tuple[Path, Json, str, int, str | None]
"""Path, template, role, replicas, the container that trains."""


def templates_of(kind: tuple[str, str], manifest: Json) -> Iterator[Found]:
    """The pod templates of an object of this kind. A TrainJob has none of its own: its runtime has."""
    walk = _WALKS.get(kind)
    return walk(manifest) if walk else iter(())


def _pod(manifest: Json) -> Iterator[Found]:
    yield (), manifest, "", 1, None


def _job(manifest: Json) -> Iterator[Found]:
    spec = at(manifest, "spec")
    yield ("spec", "template"), at(spec, "template"), "", integer(spec.get("parallelism"), 1), None


def _pytorchjob(manifest: Json) -> Iterator[Found]:
    for role, replica in at(manifest, "spec", "pytorchReplicaSpecs").items():
        path = ("spec", "pytorchReplicaSpecs", role, "template")
        yield path, at(replica, "template"), role, integer(mapping(replica).get("replicas"), 1), "pytorch"


def _volcano(manifest: Json) -> Iterator[Found]:
    for i, task in _listed(at(manifest, "spec").get("tasks")):
        name = text(task.get("name")) or f"default{i}"
        yield ("spec", "tasks", i, "template"), at(task, "template"), name, integer(task.get("replicas")), None


def _jobset(manifest: Json) -> Iterator[Found]:
    yield from _replicated(at(manifest, "spec"), ("spec",))


def _runtime(manifest: Json) -> Iterator[Found]:
    yield from _replicated(at(manifest, "spec", "template", "spec"), ("spec", "template", "spec"))


def _replicated(spec: Json, under: Path) -> Iterator[Found]:
    for i, job in _listed(spec.get("replicatedJobs")):
        path = (*under, "replicatedJobs", i, "template", "spec", "template")
        child = at(job, "template", "spec")
        count = integer(job.get("replicas"), 1) * integer(child.get("parallelism"), 1)
        name = text(job.get("name"))
        yield path, at(child, "template"), name, count, "node" if name == "node" and len(under) > 1 else None


def _listed(value: object) -> Iterator[tuple[int, Json]]:
    for i, one in enumerate(value if isinstance(value, list) else ()):
        yield i, mapping(one)


_WALKS = {
    ("v1", "Pod"): _pod,
    ("batch/v1", "Job"): _job,
    ("kubeflow.org/v1", "PyTorchJob"): _pytorchjob,
    ("batch.volcano.sh/v1alpha1", "Job"): _volcano,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _jobset,
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): _runtime,
    ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"): _runtime,
}
