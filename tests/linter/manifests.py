"""Short builders of manifests for tests of rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import run

Json = dict[str, Any]


def rules_with_problems(
    manifest: Json, *, others: Sequence[Json] = (), versions: Versions | None = None
) -> set[str]:
    """Return the names of the rules that find something in an object."""
    return {problem.name for problem in run(manifest, stream=others, versions=versions)}


def paths(manifest: Json, rule: str, *, others: Sequence[Json] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths of one rule's findings."""
    return [problem.path for problem in run(manifest, stream=others, only=[rule])]


def template(
    *,
    restart: str | None = "Never",
    command: Sequence[str] = (),
    container: Json | None = None,
    **spec: Any,
) -> Json:
    """Return a pod template with one container."""
    main: Json = {"name": "node", "image": "ghcr.io/acme/train:1.0", **(container or {})}
    if command:
        main["command"] = list(command)
    given = {} if restart is None else {"restartPolicy": restart}
    return {"spec": {**given, "containers": [main], **spec}}


def task(name: str, replicas: int | None = 1, *, pod: Json | None = None, **fields: Any) -> Json:
    """Return a task of a Volcano Job."""
    counted = {} if replicas is None else {"replicas": replicas}
    return {"name": name, **counted, "template": template() if pod is None else pod, **fields}


def volcano(*tasks: Json, name: str = "train", **spec: Any) -> Json:
    """Return a Volcano Job."""
    kind = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
    return {**kind, "metadata": {"name": name}, "spec": {"tasks": list(tasks), **spec}}


def torchrun(nodes: int | str, host: str = "train-node-0-0.train", *more: str) -> list[str]:
    """Return a torchrun command line with a static rendezvous."""
    return [
        "torchrun",
        f"--nnodes={nodes}",
        "--node-rank=$(RANK)",
        f"--master-addr={host}",
        *more,
        "train.py",
    ]


def replicated(
    name: str, *, pod: Json | None = None, job: Json | None = None, **fields: Any
) -> Json:
    """Return a replicatedJob with one pod that never restarts."""
    counts = {"completions": 1, "parallelism": 1, "backoffLimit": 0, **(job or {})}
    spec = {key: value for key, value in counts.items() if value is not None}
    return {"name": name, "template": {"spec": {**spec, "template": pod or template()}}, **fields}


def jobset(*jobs: Json, name: str = "train", **spec: Any) -> Json:
    """Return a JobSet."""
    kind = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    return {**kind, "metadata": {"name": name}, "spec": {"replicatedJobs": list(jobs), **spec}}


TRAINER = "trainer.kubeflow.org/v1alpha1"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def runtime(
    *, name: str = "acme", pod: Json | None = None, step: str | None = "trainer", **spec: Any
) -> Json:
    """Return a ClusterTrainingRuntime with a torch policy and one replicatedJob called node."""
    node = replicated("node", pod=pod, job={"completions": None, "parallelism": None})
    if step is not None:
        node["template"]["metadata"] = {"labels": {STEP: step}}
    body = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": [node]}}, **spec}
    labels = {"trainer.kubeflow.org/framework": "torch"}
    metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": TRAINER,
        "kind": "ClusterTrainingRuntime",
        "metadata": metadata,
        "spec": body,
    }


def trainjob(trainer: Json | None, *, runtime: str = "torch-distributed", **spec: Any) -> Json:
    """Return a TrainJob."""
    body = {
        "runtimeRef": {"name": runtime},
        **({} if trainer is None else {"trainer": trainer}),
        **spec,
    }
    return {"apiVersion": TRAINER, "kind": "TrainJob", "metadata": {"name": "train"}, "spec": body}
