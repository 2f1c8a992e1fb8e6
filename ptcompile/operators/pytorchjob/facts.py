"""Defaults, progress and status of a PyTorchJob.

completionTime is set on failure too, so Argo Workflows evaluates the failure condition first.
"""

from __future__ import annotations

from ptcompile.kinds.model import KindDefaults
from ptcompile.kinds.status import (
    ARGO_FAILED,
    Following,
    Status,
    condition_is_true,
    status_from_condition,
    true_conditions,
    type_condition,
)
from ptcompile.kubernetes.unstructured import Json
from ptcompile.operators.queues.queue_systems import settled_status

DEFAULTS = KindDefaults(
    {
        ("pytorchReplicaSpecs", "*", "replicas"): 1,
        ("pytorchReplicaSpecs", "*", "restartPolicy"): "OnFailure",
        ("PyTorchJob", "spec", "nprocPerNode"): "auto",
        ("PyTorchJob", "spec", "runPolicy", "cleanPodPolicy"): "None",
        ("PyTorchJob", "spec", "runPolicy", "managedBy"): "kubeflow.org/training-operator",
    },
)


def status(live: Json) -> Status:
    """Return the status from the conditions, several of which can be true: final ones first, then
    Restarting.

    After Failed no condition changes, so Restarting may remain true next to it. Running and
    Restarting are never both true. Created may be missing for a while: it is saved with the first
    change of the status.
    """
    if settled := settled_status(live, "Succeeded", FOLLOWING.suspend):
        return settled
    conditions = true_conditions(live)
    if "Restarting" in conditions:
        return status_from_condition("restarting", conditions["Restarting"])
    return Status("running" if "Running" in conditions else "created")


FOLLOWING = Following(
    plural="pytorchjobs",
    succeeded=type_condition("Succeeded", "status.completionTime"),
    failed=type_condition("Failed", ARGO_FAILED),
    running=condition_is_true("Running"),
    suspended=condition_is_true("Suspended"),
    pods_label="training.kubeflow.org/job-name",
    role_label="training.kubeflow.org/replica-type",
    index_label="training.kubeflow.org/replica-index",
    suspend=("spec", "runPolicy", "suspend"),
    status=status,
)
