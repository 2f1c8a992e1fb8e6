"""Queues and gangs: what admits a job and places its pods together, before and after a
conversion.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.converter.settings import conversion_problem
from ptcompile.diagnostics import Problem, Problems
from ptcompile.importer.profiles import MINIMAL
from ptcompile.kubernetes.unstructured import (
    JsonDict,
    as_string,
    nested_map,
    nested_string,
    nested_value,
    without_keys,
)
from ptcompile.operators.queues.queue_systems import QUEUE_ANNOTATION, QUEUE_LABELS
from ptcompile.operators.table import BY_QUEUE_SYSTEM, BY_TARGET
from ptcompile.simulator.job import SimulatedJob
from ptcompile.spec.checks import NON_SCHEDULERS

_DEFAULT_QUEUE = "default"
"""The queue of a PodGroup that names none."""


class Gang(NamedTuple):
    """The pods of one job that must fit at once."""

    scheduler: str
    """The profile's name of the scheduler."""
    pods: int | None
    queue: str | None = None
    priority: str | None = None
    by_setting: bool = False
    """Whether only a setting of the operator makes a scheduler read it."""


class Queueing(NamedTuple):
    """What admits one job, and what places its pods."""

    system: str = ""
    """The profile's name of the system whose queue the job names, or "" if it names none."""
    queue: str = ""
    gang: Gang | None = None


def queueing_of(job: SimulatedJob) -> Queueing:
    """Return what the job's object and its pods ask of queues and schedulers."""
    gang = _gang_of(job)
    labels = nested_map(job.manifest, "metadata", "labels")
    for system, (label, _) in QUEUE_LABELS.items():
        if queue := nested_string(labels, label):
            return Queueing(system, queue, gang)
    if gang is not None and gang.queue is not None:
        return Queueing(gang.scheduler, gang.queue, gang)
    return Queueing(gang=gang)


def _gang_of(job: SimulatedJob) -> Gang | None:
    group = job.pod_group
    if group is None:
        return None

    scheduler = job.record.gang_scheduler(job.manifest, job.stream)
    scheduler = scheduler or ("" if "onlyWith" in group else nested_string(group, "scheduler"))
    if not scheduler:
        return None

    size = group.get("minMember")
    queue = nested_string(group, "queue") or _annotated_queue(job)
    priority = (
        group.get("priorityClassName")
        or nested_value(job.manifest, "spec", "runPolicy", "schedulingPolicy", "priorityClass")
        or _pod_priority(job, group)
    )

    return Gang(
        scheduler,
        size if isinstance(size, int) else None,
        queue if queue and queue != _DEFAULT_QUEUE else None,
        as_string(priority) or None,
        "onlyWith" in group
        and not any(pod.view.spec.get("schedulerName") for _, pod in job.first_pods),
    )


def _pod_priority(job: SimulatedJob, group: Any) -> Any:
    """Return the priority class of the first pod, if the PodGroup takes its own from there."""
    if "priorityClassName" in group or group.get("scheduler") is None:
        return None
    return next((pod.view.spec.get("priorityClassName") for _, pod in job.first_pods), None)


def _annotated_queue(job: SimulatedJob) -> str:
    """Return the queue that an annotation of the first pod or of the runtime names."""
    runtime = job.record.runtime(job.manifest, job.stream, job.versions)
    holders = [pod.view.annotations for _, pod in job.first_pods]
    if runtime is not None:
        holders.append(nested_map(runtime.source, "spec", "template", "metadata", "annotations"))
    return next(
        (queue for holder in holders if (queue := nested_string(holder, QUEUE_ANNOTATION))), ""
    )


def profile_for(jobs: Iterable[SimulatedJob]) -> JsonDict:
    """Return the profile of a conversion without one: the queue system and the gang scheduler of
    the first job that names them.
    """
    spec: JsonDict = {}
    for job in jobs:
        queueing = queueing_of(job)
        if queueing.system and "queueSystem" not in spec:
            spec["queueSystem"] = queueing.system
        if queueing.gang is not None and "gangScheduler" not in spec:
            spec["gangScheduler"] = queueing.gang.scheduler

    if spec.get("queueSystem") not in {None, *NON_SCHEDULERS}:
        spec.pop("gangScheduler", None)
    elif "queueSystem" not in spec and spec.get("gangScheduler") in BY_QUEUE_SYSTEM:
        spec["queueSystem"] = spec.pop("gangScheduler")

    return {**MINIMAL, "spec": {**MINIMAL["spec"], **spec}}


def is_admitted(system: str, target: str) -> bool:
    """Return whether the queues of a system admit a target's jobs."""
    return system not in BY_TARGET[target].conversion.not_admitted_by


def without_queue(document: JsonDict, system: str) -> JsonDict:
    """Return the spec without its queue and priority, and without the system's labels."""
    labels = QUEUE_LABELS.get(system, ())
    metadata = {
        field: without_keys(values, *labels) if field == "labels" else values
        for field, values in document["metadata"].items()
    }
    job = without_keys(document["spec"], "queue", "priority")
    return {**document, "metadata": metadata, "spec": job}


def queue_problem(before: Queueing, target: str) -> Problem:
    """Return the error that the job's queue does not admit the target's jobs."""
    title = BY_QUEUE_SYSTEM[before.system].title
    other = BY_TARGET[target]
    label = QUEUE_LABELS[before.system][0] if before.system in QUEUE_LABELS else "queue"
    message = (
        f"{title} admits no jobs of {other.title}: the queue {before.queue} ({label}) would be "
        "bypassed"
    )
    help = f"use a target whose jobs {title} admits; with --lossy the job starts without that queue"
    return conversion_problem(message, help)


def gang_differences(before: Queueing, after: Queueing, target: str) -> Problems:
    """Yield an error for each difference between the gangs of two jobs and between their queues."""
    old = before.gang
    new = after.gang
    if old is not None and new is None:
        message = (
            f"the gang is lost (minAvailable, PodGroup): {old.scheduler} places {old.pods} pods "
            "of the job at "
            f"once, but nothing does that on the target {target}"
        )
        yield conversion_problem(
            message, f"set gangScheduler: {old.scheduler} in a profile, and pass it with --cluster"
        )

    if old is not None and new is not None:
        pairs = (
            ("scheduler", old.scheduler, new.scheduler),
            ("minAvailable (minMember)", old.pods, new.pods),
            ("priorityClass", old.priority, new.priority),
        )
        for label, was, now in pairs:
            if was != now:
                message = f"the gang changes: {label} {was or 'unset'} becomes {now or 'unset'}"
                yield conversion_problem(
                    message, "change it in the manifest, or use another target"
                )

    if new is not None and new.by_setting and not (old is not None and old.by_setting):
        message = (
            f"the gang depends on the operator of the target {target}: it must be started for "
            f"{new.scheduler}"
        )
        yield conversion_problem(
            message, f"start it with gang scheduling by {new.scheduler}", "warning"
        )

    if (before.system, before.queue) != (after.system, after.queue) and before.queue:
        now = f"the queue {after.queue} of {after.system}" if after.queue else "no queue"
        message = (
            f"the job leaves the queue {before.queue} of {before.system}: on the target {target} "
            f"it has {now}"
        )
        yield conversion_problem(
            message, "name the queue system in a profile, and pass it with --cluster"
        )
