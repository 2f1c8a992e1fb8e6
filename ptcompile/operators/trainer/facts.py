"""Defaults, progress and status of a TrainJob.

In a job created suspended, as by Kueue, Suspended=False is the first condition and Complete the
second.
"""

from __future__ import annotations

from ptcompile.kinds.model import KindDefaults
from ptcompile.kinds.status import (
    ARGO_FAILED,
    Following,
    Status,
    condition_is_true,
    status_from_counts,
    type_condition,
)
from ptcompile.kubernetes.unstructured import Json, nested_maps
from ptcompile.operators.queues.queue_systems import settled_status

DEFAULTS = KindDefaults(
    {
        ("runtimeRef", "apiGroup"): "trainer.kubeflow.org",
        ("runtimeRef", "kind"): "ClusterTrainingRuntime",
        ("TrainJob", "spec", "managedBy"): "trainer.kubeflow.org/trainjob-controller",
        ("mlPolicy", "numNodes"): 1,
        ("mpi", "numProcPerNode"): 1,
        ("mpi", "mpiImplementation"): "OpenMPI",
        ("mpi", "sshAuthMountPath"): "/root/.ssh",
        ("flux", "numProcPerNode"): 1,
        ("coscheduling", "scheduleTimeoutSeconds"): 60,
        ("networkTopology", "highestTierAllowed"): 1,
    },
)


def status(live: Json) -> Status:
    """Return the status from the conditions Failed, Complete and Suspended, then from the child
    Jobs (2.1).

    After a resume, Suspended stays in the list with status False. A TrainJob does not report
    restarts; its JobSet, which has the same name, does.
    """
    return (
        settled_status(live, "Complete", FOLLOWING.suspend)
        or status_from_counts(nested_maps(live, "status", "jobsStatus"))
        or Status("created")
    )


FOLLOWING = Following(
    plural="trainjobs",
    succeeded=type_condition("Complete", "status.conditions.0.type == Complete"),
    failed=type_condition("Failed", ARGO_FAILED),
    running="has(object.status) && has(object.status.jobsStatus) && "
    "object.status.jobsStatus.exists(r, r.active > 0)",
    suspended=condition_is_true("Suspended"),
    pods_label="jobset.sigs.k8s.io/jobset-name",
    role_label="jobset.sigs.k8s.io/replicatedjob-name",
    index_label="batch.kubernetes.io/job-completion-index",
    child_job_label="jobset.sigs.k8s.io/job-index",
    suspend=("spec", "suspend"),
    propagation="Foreground",
    succeeded_after_resume=type_condition("Complete", "status.conditions.1.type == Complete"),
    status=status,
)
