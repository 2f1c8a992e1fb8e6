"""Defaults, progress and status of a Job.

A client that sends no propagation policy leaves the pods of a deleted Job running (pkg/registry/batch/job/strategy.go).
completionTime is set only on success.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.defaulting.built_in import default_job_spec
from ptcompile.kinds.model import NO_DEFAULTS, KindDefaults
from ptcompile.kinds.status import (
    ARGO_FAILED,
    Following,
    Status,
    condition_is_true,
    status_from_condition,
    true_conditions,
    type_condition,
)
from ptcompile.kubernetes.unstructured import Json, as_int, nested_map
from ptcompile.operators.queues.queue_systems import queued_status


def _default(job: Json, field: str) -> Any:
    """Return what the server writes for an absent field of a Job's spec."""
    spec = {name: job[name] for name in ("backoffLimitPerIndex", "completions", "parallelism") if name in job}
    if "podFailurePolicy" in job:
        spec["podFailurePolicy"] = {}
    default_job_spec(spec)
    return spec.get(field, NO_DEFAULTS)


def default_backoff_limit(job: Json) -> Any:
    """Return the default backoffLimit: the maximum if each index has its own limit."""
    return _default(job, "backoffLimit")


def default_replacement_policy(job: Json) -> Any:
    """Return the default podReplacementPolicy: with a podFailurePolicy, a pod must have ended before it is replaced."""
    return _default(job, "podReplacementPolicy")


def default_parallelism(job: Json) -> Any:
    """Return the default parallelism."""
    return _default(job, "parallelism")


def default_completions(job: Json) -> Any:
    """Return the default of completions: 1 if parallelism is also unset, else none, since the Job is a work queue."""
    return _default(job, "completions")


DEFAULTS = KindDefaults(
    {
        ("batch/Job", "spec", "completionMode"): "NonIndexed",
        ("batch/Job", "spec", "managedBy"): "kubernetes.io/job-controller",
        ("onPodConditions", "*", "status"): "True",
    },
    {
        ("batch/Job", "spec", "backoffLimit"): default_backoff_limit,
        ("batch/Job", "spec", "parallelism"): default_parallelism,
        ("batch/Job", "spec", "completions"): default_completions,
        ("batch/Job", "spec", "podReplacementPolicy"): default_replacement_policy,
    },
)


FOLLOWING = Following(
    plural="jobs",
    succeeded=type_condition("Complete", "status.completionTime"),
    failed=type_condition("Failed", ARGO_FAILED),
    running="has(object.status) && has(object.status.ready) && object.status.ready > 0",
    suspended=condition_is_true("Suspended"),
    pods_label="batch.kubernetes.io/job-name",
    index_label="batch.kubernetes.io/job-completion-index",
    suspend=("spec", "suspend"),
)


def status(live: Json) -> Status:
    """Return the status from the conditions, then from the counts.

    Since 1.31 FailureTarget and SuccessCriteriaMet precede Failed and Complete until the last pods end.
    `active` counts pending pods; `ready` does not.
    """
    conditions = true_conditions(live)
    live_status = nested_map(live, "status")
    if "Failed" in conditions:
        return status_from_condition("failed", conditions["Failed"])
    if "Complete" in conditions:
        return Status("succeeded")
    if "Suspended" in conditions or nested_map(live, "spec").get("suspend") is True:
        return queued_status(live, conditions.get("Suspended"))
    for ending in ("FailureTarget", "SuccessCriteriaMet"):
        if ending in conditions:
            return status_from_condition("running", conditions[ending])
    if as_int(live_status.get("ready")) > 0:
        return Status("running")
    if as_int(live_status.get("failed")) > 0 and as_int(live_status.get("active")) > 0:
        return Status("restarting", None, f"{as_int(live_status.get('failed'))} pods failed and are replaced")
    return Status("created")
