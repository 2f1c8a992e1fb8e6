"""The state of a live batch/v1 Job (Kubernetes 1.36, pkg/controller/job/job_controller.go)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, integer
from ptcompile.operators.common.status import Status, by_condition, queued, true_conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def status(live: Json) -> Status:
    """By the conditions, then by the counts.

    From 1.31 on FailureTarget and SuccessCriteriaMet stand before Failed and Complete while the last pods end.
    `active` counts pods that are pending; `ready` does not.
    """
    conditions, told = true_conditions(live), at(live, "status")
    if "Failed" in conditions:
        return by_condition("failed", conditions["Failed"])
    if "Complete" in conditions:
        return Status("succeeded")
    if "Suspended" in conditions or at(live, "spec").get("suspend") is True:
        return queued(live, conditions.get("Suspended"))
    for ending in ("FailureTarget", "SuccessCriteriaMet"):
        if ending in conditions:
            return by_condition("running", conditions[ending])
    if integer(told.get("ready")) > 0:
        return Status("running")
    if integer(told.get("failed")) > 0 and integer(told.get("active")) > 0:
        return Status("restarting", None, f"{integer(told.get('failed'))} pods failed and are replaced")
    return Status("created")
