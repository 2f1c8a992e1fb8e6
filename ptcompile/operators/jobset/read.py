"""A JobSet as the words of a spec (JobSet 0.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map
from ptcompile.registry.reading import (
    MAIN,
    Read,
    ReadRole,
    count,
    main_container,
    names,
    not_importable,
    restart_policy,
    without_empty,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


def read(manifest: Json, _others: tuple[Json, ...]) -> Iterator[Read]:
    """The first replicatedJob as the nodes, or the first two as master and workers; the others train not."""
    spec = nested_map(manifest, "spec")
    jobs = as_mappings(spec.get("replicatedJobs"))
    if not jobs:
        yield not_importable("jobset", ("spec", "replicatedJobs"), "it has no pods", "add a replicatedJob")
        return
    for index, one in enumerate(jobs):
        job, path = nested_map(one, "template", "spec"), ("spec", "replicatedJobs", index, "template", "spec")
        if count(job.get("parallelism")) < count(job.get("completions")):
            why = "fewer pods run at a time than there are indexes, but the nodes of a job must all run at once"
            yield not_importable("jobset", (*path, "completions"), why, "set parallelism to the same number")
            return
    if len(jobs) > 1 and _by_pods(jobs[0]) == 1 and _one_pod_each(jobs[1]):
        yield _master_and_workers(spec, jobs)
    yield _nodes(spec, jobs)


def _by_pods(replicated: Json) -> int:
    return count(replicated.get("replicas")) * count(nested_map(replicated, "template", "spec").get("parallelism"))


def _one_pod_each(replicated: Json) -> bool:
    return count(nested_map(replicated, "template", "spec").get("parallelism")) == 1


def _pods(role: str, index: int, replicated: Json, *, trains: bool = True) -> ReadRole:
    template = nested_map(replicated, "template", "spec", "template")
    path: Path = ("spec", "replicatedJobs", index, "template", "spec", "template")
    main = main_container(template, MAIN if trains else role)
    return ReadRole(role, _by_pods(replicated), template, path, main, restart_policy(template, "OnFailure"), trains)


def _beside(jobs: Sequence[Json], first: int) -> list[ReadRole]:
    return [
        _pods(as_string(one.get("name")), index, one, trains=False) for index, one in enumerate(jobs) if index >= first
    ]


def _nodes(spec: Json, jobs: Sequence[Json]) -> Read:
    pods = _pods("node", 0, jobs[0])
    count_in_job = count(nested_map(jobs[0], "template", "spec").get("parallelism"))
    called = names(container=pods.main, node=as_string(jobs[0].get("name")))
    words = {"nodes": max(1, count_in_job), **_ends(spec, jobs), **called}
    return Read("jobset", (pods._replace(replicas=count_in_job), *_beside(jobs, 1)), words)


def _master_and_workers(spec: Json, jobs: Sequence[Json]) -> Read:
    master, worker = _pods("master", 0, jobs[0]), _pods("worker", 1, jobs[1])
    called = names(container=master.main, master=as_string(jobs[0].get("name")), worker=as_string(jobs[1].get("name")))
    words = {"master": {}, "worker": {"replicas": worker.replicas}, **_ends(spec, jobs), **called}
    return Read("jobset", (master, worker, *_beside(jobs, 2)), words)


def _ends(spec: Json, jobs: Sequence[Json]) -> dict[str, Any]:
    deadline = nested_map(jobs[0], "template", "spec").get("activeDeadlineSeconds")
    policy = {
        "ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished"),
        "activeDeadlineSeconds": deadline,
        "suspend": spec.get("suspend"),
    }
    return {"runPolicy": without_empty(policy)}
