"""The targets, by name: one file an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptcompile.job.model import Job, Target
from ptcompile.job.queues import queue_of
from ptcompile.operators.batch.emit import JOB
from ptcompile.operators.jobset.emit import JOBSET
from ptcompile.operators.pod.emit import POD
from ptcompile.operators.pytorchjob.emit import PYTORCHJOB
from ptcompile.operators.trainer.emit import TRAINJOB
from ptcompile.operators.volcano.emit import VOLCANO

if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile

TARGETS: dict[str, Target] = {target.name: target for target in (POD, JOB, PYTORCHJOB, VOLCANO, TRAINJOB, JOBSET)}


def default_target(job: Job, cluster: ClusterProfile) -> Target:
    """What a job gets whose spec names no target: a Pod for one node that needs no more, else an Indexed Job.

    Neither needs an operator in the cluster. What a Pod does only roughly, such as outlive its node, a Job does; what
    a Job cannot express and a JobSet can, such as roles beside the trainers, is a JobSet. A job with a queue goes to
    Volcano where the cluster's queues are its.
    """
    if queue_of(job, cluster) and cluster.spec.queue_system == "volcano":
        return VOLCANO
    if not any(POD.unsupported(job, cluster)):
        return POD
    return JOBSET if _refuses(JOB, job, cluster) and not _refuses(JOBSET, job, cluster) else JOB


def _refuses(target: Target, job: Job, cluster: ClusterProfile) -> bool:
    return any(problem.severity == "error" for problem in target.unsupported(job, cluster))
