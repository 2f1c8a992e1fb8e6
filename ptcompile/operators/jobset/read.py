"""Spec fields read from a JobSet (JobSet 0.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kinds.reading import (
    LAUNCHERS,
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
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)


def read(manifest: Json, _related: Objects) -> Iterator[Read]:
    """Yield the first replicatedJob that trains as the nodes, or it and the next one as master and
    workers; other roles do not train.
    """
    spec = nested_map(manifest, "spec")
    jobs = nested_maps(spec, "replicatedJobs")
    if not jobs:
        yield unreadable_object(
            "jobset", ("spec", "replicatedJobs"), "it has no pods", "add a replicatedJob"
        )
        return

    for index, replicated in enumerate(jobs):
        job = nested_map(replicated, "template", "spec")
        path = ("spec", "replicatedJobs", index, "template", "spec")
        if pod_count(job.get("parallelism")) < pod_count(job.get("completions")):
            yield unreadable_object(
                "jobset",
                (*path, "completions"),
                "fewer pods run at a time than there are indexes, but the nodes of a job must all "
                "run at once",
                "set parallelism to the same number",
            )
            return

    first = next((index for index, job in enumerate(jobs) if _starts_launcher(job)), 0)
    if (
        len(jobs) > first + 1
        and _pod_count(jobs[first]) == 1
        and pod_count(nested_value(jobs[first + 1], "template", "spec", "parallelism")) == 1
    ):
        yield _read_master_and_workers(spec, jobs, first)

    yield _read_nodes(spec, jobs, first)


def _starts_launcher(replicated: Json) -> bool:
    containers = nested_maps(replicated, "template", "spec", "template", "spec", "containers")
    commands = [str([container.get("command"), container.get("args")]) for container in containers]
    return any(launcher in command for command in commands for launcher in LAUNCHERS)


def _pod_count(replicated: Json) -> int:
    return pod_count(replicated.get("replicas")) * pod_count(
        nested_value(replicated, "template", "spec", "parallelism")
    )


def _read_role(role: str, index: int, replicated: Json, *, trains: bool = True) -> ReadRole:
    template = nested_map(replicated, "template", "spec", "template")
    path = ("spec", "replicatedJobs", index, "template", "spec", "template")
    main = main_container(template, MAIN_CONTAINER if trains else role)

    return ReadRole(
        role,
        _pod_count(replicated),
        template,
        path,
        main,
        restart_policy(template, "OnFailure"),
        trains,
    )


def _auxiliary_roles(jobs: Sequence[Json], training: Sequence[int]) -> list[ReadRole]:
    return [
        _read_role(nested_string(replicated, "name"), index, replicated, trains=False)
        for index, replicated in enumerate(jobs)
        if index not in training
    ]


def _read_nodes(spec: Json, jobs: Sequence[Json], first: int) -> Read:
    pods = _read_role("node", first, jobs[first])
    count_in_job = pod_count(nested_value(jobs[first], "template", "spec", "parallelism"))
    job_names = changed_names(container=pods.main, node=nested_string(jobs[first], "name"))
    fields = {"nodes": max(1, count_in_job), **_run_policy(spec, jobs[first]), **job_names}
    return Read(
        "jobset", (pods._replace(replicas=count_in_job), *_auxiliary_roles(jobs, [first])), fields
    )


def _read_master_and_workers(spec: Json, jobs: Sequence[Json], first: int) -> Read:
    next_job = jobs[first + 1]
    master = _read_role("master", first, jobs[first])
    worker = _read_role("worker", first + 1, next_job)
    job_names = changed_names(
        container=master.main,
        master=nested_string(jobs[first], "name"),
        worker=nested_string(next_job, "name"),
    )
    fields = {
        "master": {},
        "worker": {"replicas": worker.replicas},
        **_run_policy(spec, jobs[first]),
        **job_names,
    }

    return Read("jobset", (master, worker, *_auxiliary_roles(jobs, [first, first + 1])), fields)


def _run_policy(spec: Json, trainer: Json) -> JsonDict:
    deadline = nested_value(trainer, "template", "spec", "activeDeadlineSeconds")
    policy = {
        "ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished"),
        "activeDeadlineSeconds": deadline,
        "suspend": spec.get("suspend"),
    }
    return {"runPolicy": without_empty(policy)}
