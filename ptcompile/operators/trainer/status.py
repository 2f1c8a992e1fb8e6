"""The state of a live TrainJob (Trainer 2.3, pkg/controller/trainjob_controller.go and the jobset plugin)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, integer, items
from ptcompile.operators.common.status import Status, by_condition, queued, true_conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def status(live: Json) -> Status:
    """By its three conditions, Failed, Complete and Suspended, then by the child Jobs that `jobsStatus` counts (2.1).

    After a resume Suspended stays in the list with the status False. A TrainJob does not say that it restarts: its
    JobSet, of the same name, does.
    """
    conditions = true_conditions(live)
    if "Failed" in conditions:
        return by_condition("failed", conditions["Failed"])
    if "Complete" in conditions:
        return Status("succeeded")
    if "Suspended" in conditions or at(live, "spec").get("suspend") is True:
        return queued(live, conditions.get("Suspended"))
    active = any(integer(one.get("active")) > 0 for one in items(at(live, "status").get("jobsStatus")))
    return Status("running" if active else "created")
