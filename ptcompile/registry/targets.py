"""The targets, by name; each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from ptcompile.ir.job import Job, Target
from ptcompile.registry.queues import queue_of
from ptcompile.registry.table import BY_TARGET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile

TARGETS = tuple(BY_TARGET)
"""The names of all targets, in the order in which people are shown them."""


@cache
def target_named(name: str) -> Target:
    """The target of this name, one of `TARGETS`. What pods claim devices from stands before the job on each of them."""
    target = BY_TARGET[name].target()

    def emit(job: Job, cluster: ClusterProfile) -> list[dict[str, Any]]:
        if not (job.claims or job.compute_domain):
            return target.emit(job, cluster)
        from ptcompile.registry.emitting import device_objects

        return [*device_objects(job, cluster), *target.emit(job, cluster)]

    return target._replace(emit=emit)


def sentences_of(name: str) -> Mapping[str, str]:
    """Why a target writes what it writes on its own account, by the words on the way to a field."""
    operator = BY_TARGET.get(name)
    return operator.sentences() if operator is not None else {}  # of a plugin


def every_target() -> Iterator[Target]:
    """All targets, in their order."""
    return map(target_named, TARGETS)


def default_target(job: Job, cluster: ClusterProfile) -> Target:
    """What a job gets whose spec names no target: a Pod for one node that needs no more, else an Indexed Job.

    Neither needs an operator in the cluster. What a Pod does only roughly, such as outlive its node, a Job does; what
    a Job cannot express and a JobSet can, such as auxiliary roles, is a JobSet. A job with a queue goes to
    Volcano where the cluster's queues are its. A job over a runtime of Trainer's is a TrainJob.
    """
    if job.runtime is not None:
        return target_named("trainjob")
    if queue_of(job, cluster) and cluster.spec.queue_system == "volcano":
        return target_named("volcano")
    pod = target_named("pod")
    if not any(pod.unsupported(job, cluster)):
        return pod
    indexed = target_named("job")
    if not _refuses(indexed, job, cluster):
        return indexed
    jobset = target_named("jobset")
    return indexed if _refuses(jobset, job, cluster) else jobset


def _refuses(target: Target, job: Job, cluster: ClusterProfile) -> bool:
    return any(problem.severity == "error" for problem in target.unsupported(job, cluster))
