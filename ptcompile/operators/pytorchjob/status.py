"""The state of a live PyTorchJob (training-operator 1.9, pkg/util/status.go and pkg/controller.v1/pytorch)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at
from ptcompile.operators.common.status import Status, by_condition, queued, true_conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def status(live: Json) -> Status:
    """By the conditions, of which several are true at once: the final ones are asked first, then Restarting.

    After Failed no condition changes any more, so that Restarting may stand beside it. Running and Restarting never
    stand together. Created may be missing for a while: it is saved with the first change of the status.
    """
    conditions = true_conditions(live)
    if "Failed" in conditions:
        return by_condition("failed", conditions["Failed"])
    if "Succeeded" in conditions:
        return Status("succeeded")
    if "Suspended" in conditions or at(live, "spec", "runPolicy").get("suspend") is True:
        return queued(live, conditions.get("Suspended"))
    if "Restarting" in conditions:
        return by_condition("restarting", conditions["Restarting"])
    return Status("running" if "Running" in conditions else "created")
