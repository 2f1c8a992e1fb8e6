"""The state of a live JobSet (JobSet 0.12, pkg/controllers/jobset_controller.go and failure_policy.go)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, integer, items, text
from ptcompile.operators.common.status import Status, by_condition, queued, true_conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def status(live: Json) -> Status:
    """By the conditions and `terminalState`, then by the counts of child Jobs.

    RestartingJobSet is a condition from 0.12 on; before, a JobSet that restarts has restarts and no active child Job.
    An active child Job has a pod that runs or is pending.
    """
    conditions, told = true_conditions(live), at(live, "status")
    final = text(told.get("terminalState"))
    if "Failed" in conditions or final == "Failed":
        return by_condition("failed", conditions.get("Failed", {}))
    if "Completed" in conditions or final == "Completed":
        return Status("succeeded")
    if "Suspended" in conditions or at(live, "spec").get("suspend") is True:
        return queued(live, conditions.get("Suspended"))
    if "RestartingJobSet" in conditions:
        return by_condition("restarting", conditions["RestartingJobSet"])
    if any(integer(one.get("active")) > 0 for one in items(told.get("replicatedJobsStatus"))):
        return Status("running")
    restarts = integer(told.get("restarts"))
    return Status("restarting", None, f"restart {restarts}") if restarts > 0 else Status("created")
