"""Defaults, progress and status of a JobSet."""

from __future__ import annotations

from ptcompile.kinds.model import KindDefaults
from ptcompile.kinds.status import (
    Following,
    Status,
    condition_is_true,
    field_condition,
    status_from_condition,
    status_from_counts,
    true_conditions,
    type_condition,
)
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
)
from ptcompile.operators.batch.facts import (
    default_backoff_limit,
    default_completions,
    default_parallelism,
    default_replacement_policy,
)
from ptcompile.operators.queues.queue_systems import settled_status

_CHILD = ("replicatedJobs", "*", "template", "spec")

DEFAULTS = KindDefaults(
    {
        ("replicatedJobs", "*", "replicas"): 1,
        ("replicatedJobs", "*", "groupName"): "default",
        ("replicatedJobs", "*", "template", "spec", "completionMode"): "Indexed",
        (
            "replicatedJobs",
            "*",
            "template",
            "spec",
            "template",
            "spec",
            "restartPolicy",
        ): "OnFailure",
        ("JobSet", "spec", "managedBy"): "jobset.sigs.k8s.io/jobset-controller",
        ("network", "enableDNSHostnames"): True,
        ("network", "publishNotReadyAddresses"): True,
        ("successPolicy", "operator"): "All",
        ("startupPolicy", "startupPolicyOrder"): "AnyOrder",
        ("failurePolicy", "maxRestarts"): 0,
        ("failurePolicy", "restartStrategy"): "Recreate",
        ("retentionPolicy", "whenDeleted"): "Delete",
    },
    {
        (*_CHILD, "backoffLimit"): default_backoff_limit,
        (*_CHILD, "podReplacementPolicy"): default_replacement_policy,
        (*_CHILD, "parallelism"): default_parallelism,
        (*_CHILD, "completions"): default_completions,
    },
)


TERMINAL = "status.terminalState"
JOBSET = "jobset.sigs.k8s.io/jobset-name"
ROLE = "jobset.sigs.k8s.io/replicatedjob-name"
INDEX = "batch.kubernetes.io/job-completion-index"


def status(live: Json) -> Status:
    """Return the status from the conditions and `terminalState`, then from the counts of child
    Jobs.

    RestartingJobSet is a condition since 0.12; before, a restarting JobSet has restarts and no
    active child Job.
    """
    if settled := settled_status(live, "Completed", FOLLOWING.suspend):
        return settled

    live_status = nested_map(live, "status")
    if terminal_state := nested_string(live_status, "terminalState"):
        return Status("failed" if terminal_state == "Failed" else "succeeded")
    if restarting := true_conditions(live).get("RestartingJobSet"):
        return status_from_condition("restarting", restarting)
    if running := status_from_counts(nested_maps(live_status, "replicatedJobsStatus")):
        return running

    restarts = nested_int(live_status, "restarts")
    if restarts > 0:
        return Status("restarting", None, f"restart {restarts}")

    return Status("created")


FOLLOWING = Following(
    plural="jobsets",
    succeeded=type_condition("Completed", field_condition(TERMINAL, "Completed").argo),
    failed=type_condition("Failed", field_condition(TERMINAL, "Failed").argo),
    running="has(object.status) && has(object.status.replicatedJobsStatus) && "
    "object.status.replicatedJobsStatus.exists(r, r.active > 0)",
    suspended=condition_is_true("Suspended"),
    pods_label=JOBSET,
    role_label=ROLE,
    index_label=INDEX,
    child_job_label="jobset.sigs.k8s.io/job-index",
    suspend=("spec", "suspend"),
    propagation="Foreground",
    status=status,
)
