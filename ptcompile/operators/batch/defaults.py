"""What absent fields of a batch/v1 Job mean (Kubernetes 1.36)."""

from __future__ import annotations

from ptcompile.operators.common.defaults import NOTHING, Defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json


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
    return NOTHING if "parallelism" in job else 1


DEFAULTS = Defaults(
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
