"""Spec fields read from a JobSet (JobSet 0.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map
from ptcompile.registry.reading import (
    MAIN_CONTAINER,
    Read,
    ReadRole,
    changed_names,
    main_container,
    pod_count,
    restart_policy,
    unreadable_object,
    without_empty,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


def read(manifest: Json, _others: tuple[Json, ...]) -> Iterator[Read]:
    """Yield the first replicatedJob as the nodes, or the first two as master and workers; other roles do not train."""
    spec = nested_map(manifest, "spec")
    jobs = as_mappings(spec.get("replicatedJobs"))
    if not jobs:
        yield unreadable_object("jobset", ("spec", "replicatedJobs"), "it has no pods", "add a replicatedJob")
        return
    for index, replicated in enumerate(jobs):
        job, path = nested_map(replicated, "template", "spec"), ("spec", "replicatedJobs", index, "template", "spec")
        if pod_count(job.get("parallelism")) < pod_count(job.get("completions")):
            why = "fewer pods run at a time than there are indexes, but the nodes of a job must all run at once"
            yield unreadable_object("jobset", (*path, "completions"), why, "set parallelism to the same number")
            return
    if len(jobs) > 1 and _pod_count(jobs[0]) == 1 and _has_one_pod_per_job(jobs[1]):
        yield _read_master_and_workers(spec, jobs)
    yield _read_nodes(spec, jobs)


def _pod_count(replicated: Json) -> int:
    return pod_count(replicated.get("replicas")) * pod_count(
        nested_map(replicated, "template", "spec").get("parallelism")
    )


def _has_one_pod_per_job(replicated: Json) -> bool:
    return pod_count(nested_map(replicated, "template", "spec").get("parallelism")) == 1


def _read_role(role: str, index: int, replicated: Json, *, trains: bool = True) -> ReadRole:
    template = nested_map(replicated, "template", "spec", "template")
    path: Path = ("spec", "replicatedJobs", index, "template", "spec", "template")
    main = main_container(template, MAIN_CONTAINER if trains else role)
    return ReadRole(role, _pod_count(replicated), template, path, main, restart_policy(template, "OnFailure"), trains)


def _auxiliary_roles(jobs: Sequence[Json], first: int) -> list[ReadRole]:
    return [
        _read_role(as_string(replicated.get("name")), index, replicated, trains=False)
        for index, replicated in enumerate(jobs)
        if index >= first
    ]


def _read_nodes(spec: Json, jobs: Sequence[Json]) -> Read:
    pods = _read_role("node", 0, jobs[0])
    count_in_job = pod_count(nested_map(jobs[0], "template", "spec").get("parallelism"))
    job_names = changed_names(container=pods.main, node=as_string(jobs[0].get("name")))
    fields = {"nodes": max(1, count_in_job), **_run_policy(spec, jobs), **job_names}
    return Read("jobset", (pods._replace(replicas=count_in_job), *_auxiliary_roles(jobs, 1)), fields)


def _read_master_and_workers(spec: Json, jobs: Sequence[Json]) -> Read:
    master, worker = _read_role("master", 0, jobs[0]), _read_role("worker", 1, jobs[1])
    job_names = changed_names(
        container=master.main, master=as_string(jobs[0].get("name")), worker=as_string(jobs[1].get("name"))
    )
    fields = {"master": {}, "worker": {"replicas": worker.replicas}, **_run_policy(spec, jobs), **job_names}
    return Read("jobset", (master, worker, *_auxiliary_roles(jobs, 2)), fields)


def _run_policy(spec: Json, jobs: Sequence[Json]) -> dict[str, Any]:
    deadline = nested_map(jobs[0], "template", "spec").get("activeDeadlineSeconds")
    policy = {
        "ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished"),
        "activeDeadlineSeconds": deadline,
        "suspend": spec.get("suspend"),
    }
    return {"runPolicy": without_empty(policy)}
