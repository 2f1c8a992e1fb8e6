"""Defaults, progress and status of a Job.

A client that sends no propagation policy leaves the pods of a deleted Job running (pkg/registry/batch/job/strategy.go).
completionTime is set on success alone.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import as_int, nested_map
from ptcompile.registry.model import NO_DEFAULTS, KindDefaults
from ptcompile.registry.status import (
    ARGO_FAILED,
    Following,
    Status,
    by_condition,
    by_type,
    is_true,
    queued,
    true_conditions,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


def backoff_limit(job: Json) -> Any:
    """No limit over all pods where each index has its own."""
    return 2**31 - 1 if "backoffLimitPerIndex" in job else 6


def pod_replacement_policy(job: Json) -> Any:
    """When a pod that has not ended yet is replaced: not before it has, where a policy must see how it ended."""
    return "Failed" if job.get("podFailurePolicy") else "TerminatingOrFailed"


def one(_job: Json) -> Any:
    """A Job runs one pod at a time."""
    return 1


def completions(job: Json) -> Any:
    """1 where the Job says neither; with a parallelism and without completions it is a work queue."""
    return NO_DEFAULTS if "parallelism" in job else 1


DEFAULTS = KindDefaults(
    {
        ("batch/Job", "spec", "completionMode"): "NonIndexed",
        ("batch/Job", "spec", "managedBy"): "kubernetes.io/job-controller",
        ("onPodConditions", "*", "status"): "True",
    },
    {
        ("batch/Job", "spec", "backoffLimit"): backoff_limit,
        ("batch/Job", "spec", "parallelism"): one,
        ("batch/Job", "spec", "completions"): completions,
        ("batch/Job", "spec", "podReplacementPolicy"): pod_replacement_policy,
    },
)


FOLLOWING: Final = Following(
    plural="jobs",
    succeeded=by_type("Complete", "status.completionTime"),
    failed=by_type("Failed", ARGO_FAILED),
    running="has(object.status) && has(object.status.ready) && object.status.ready > 0",
    suspended=is_true("Suspended"),
    pods_label="batch.kubernetes.io/job-name",
    index_label="batch.kubernetes.io/job-completion-index",
    suspend=("spec", "suspend"),
)


def status(live: Json) -> Status:
    """By the conditions, then by the counts.

    From 1.31 on FailureTarget and SuccessCriteriaMet stand before Failed and Complete while the last pods end.
    `active` counts pods that are pending; `ready` does not.
    """
    conditions, told = true_conditions(live), nested_map(live, "status")
    if "Failed" in conditions:
        return by_condition("failed", conditions["Failed"])
    if "Complete" in conditions:
        return Status("succeeded")
    if "Suspended" in conditions or nested_map(live, "spec").get("suspend") is True:
        return queued(live, conditions.get("Suspended"))
    for ending in ("FailureTarget", "SuccessCriteriaMet"):
        if ending in conditions:
            return by_condition("running", conditions[ending])
    if as_int(told.get("ready")) > 0:
        return Status("running")
    if as_int(told.get("failed")) > 0 and as_int(told.get("active")) > 0:
        return Status("restarting", None, f"{as_int(told.get('failed'))} pods failed and are replaced")
    return Status("created")
