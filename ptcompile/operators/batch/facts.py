"""Defaults, progress and status of a Job.

A client that sends no propagation policy leaves the pods of a deleted Job running
(pkg/registry/batch/job/strategy.go). completionTime is set only on success.
"""

from __future__ import annotations

from functools import partial

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.defaulting.built_in import default_job_spec
from ptcompile.kinds.model import NO_DEFAULTS, KindDefaults
from ptcompile.kinds.status import (
    ARGO_FAILED,
    Following,
    Status,
    condition_is_true,
    status_from_condition,
    status_from_counts,
    true_conditions,
    type_condition,
)
from ptcompile.kubernetes.unstructured import Json, nested_int, nested_map
from ptcompile.operators.queues.queue_systems import settled_status


def _default(field: str, job: Json) -> Any:
    """Return what the server writes for an absent field of a Job's spec."""
    spec = {
        name: job[name]
        for name in ("backoffLimitPerIndex", "completions", "parallelism")
        if name in job
    }
    if "podFailurePolicy" in job:
        spec["podFailurePolicy"] = {}
    default_job_spec(spec)
    return spec.get(field, NO_DEFAULTS)


default_backoff_limit = partial(_default, "backoffLimit")
"""The maximum if each index has its own limit."""
default_replacement_policy = partial(_default, "podReplacementPolicy")
"""With a podFailurePolicy, a pod must have ended before it is replaced."""
default_parallelism = partial(_default, "parallelism")
default_completions = partial(_default, "completions")
"""1 if parallelism is also unset, else none, since the Job is a work queue."""


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


def status(live: Json) -> Status:
    """Return the status from the conditions, then from the counts.

    Since 1.31 FailureTarget and SuccessCriteriaMet precede Failed and Complete until the last pods
    end. In back-off, after a failure, no pod exists.
    """
    if settled := settled_status(live, "Complete", FOLLOWING.suspend):
        return settled

    conditions = true_conditions(live)
    for ending in ("FailureTarget", "SuccessCriteriaMet"):
        if ending in conditions:
            return status_from_condition("running", conditions[ending])
    live_status = nested_map(live, "status")
    failed = nested_int(live_status, "failed")
    if failed > 0 and not any(live_status.get(field) for field in _PRESENT_PODS):
        return Status(
            "restarting", None, f"pods that failed: {failed}; others replace them after a delay"
        )

    return status_from_counts([live_status]) or Status("created")


FOLLOWING = Following(
    plural="jobs",
    succeeded=type_condition("Complete", "status.completionTime"),
    failed=type_condition("Failed", ARGO_FAILED),
    running="has(object.status) && has(object.status.ready) && object.status.ready > 0",
    suspended=condition_is_true("Suspended"),
    pods_label="batch.kubernetes.io/job-name",
    index_label="batch.kubernetes.io/job-completion-index",
    suspend=("spec", "suspend"),
    status=status,
)


_PRESENT_PODS = ("active", "terminating", "uncountedTerminatedPods")
