"""The targets by name; each is imported on first use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ptcompile.diagnostics import has_error
from ptcompile.ir.job import Job, Target
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.queues.queues import queue_of
from ptcompile.operators.table import BY_TARGET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile

TARGETS = tuple(BY_TARGET)
"""Names of all targets, in display order."""


@cache
def target_named(name: str) -> Target:
    """Return the target with this name, one of `TARGETS`. Objects for device claims precede the
    job on each target.
    """
    target = BY_TARGET[name].target()

    def emit(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
        if not (job.claims or job.compute_domain):
            return target.emit(job, cluster)
        from ptcompile.operators.shared.emitting import device_objects

        return [*device_objects(job, cluster), *target.emit(job, cluster)]

    return target._replace(emit=emit)


def every_target() -> Iterator[Target]:
    """Return all targets, in order."""
    return map(target_named, TARGETS)


def default_target(job: Job, cluster: ClusterProfile) -> Target:
    """Return the target for a spec that names none: a Pod for one node that needs no more, else an
    Indexed Job.

    Neither needs an operator in the cluster. A Job replaces a Pod that only approximates the spec,
    such as by not outliving its node; a JobSet replaces a Job that cannot express it, such as
    auxiliary roles. Jobs with a queue use Volcano if Volcano manages the cluster's queues. Jobs
    with a Trainer runtime are TrainJobs.
    """
    if job.runtime is not None:
        return target_named("trainjob")
    if queue_of(job, cluster) and cluster.spec.queue_system == "volcano":
        return target_named("volcano")

    pod = target_named("pod")
    if not any(pod.unsupported(job, cluster)):
        return pod

    indexed = target_named("job")
    if not has_error(indexed.unsupported(job, cluster)):
        return indexed

    jobset = target_named("jobset")
    return indexed if has_error(jobset.unsupported(job, cluster)) else jobset
