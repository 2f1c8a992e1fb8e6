"""The state of a live Volcano Job (Volcano 1.16, pkg/controllers/job/state and job_controller_actions.go)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, integer, text
from ptcompile.operators.common.status import Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.status import State

_PHASES: Final[dict[str, State]] = {
    "Running": "running",
    "Restarting": "restarting",
    "Completing": "running",
    "Terminating": "running",
    "Aborting": "running",
    "Completed": "succeeded",
    "Failed": "failed",
    "Terminated": "failed",
    "Aborted": "failed",
}
_ENDING: Final = ("Completing", "Terminating", "Aborting", "Terminated", "Aborted")
"""Phases that say more than the state they are."""


def status(live: Json) -> Status:
    """By `status.state.phase`: conditions are a log of phases without a type, and counts fall back to 0 at the end.

    The controller makes no pods while the PodGroup is pending: a Pending job without pods waits for its queue or gang.
    One that was started again is Pending once more. A job that was aborted by a command can be resumed by one.
    """
    told = at(live, "status")
    state = at(told, "state")
    phase, reason = text(state.get("phase")), text(state.get("reason"))
    message = text(state.get("message")) or None
    if phase in _PHASES:
        return Status(_PHASES[phase], reason or (phase if phase in _ENDING else None), message)
    if integer(told.get("retryCount")) > 0:
        return Status("restarting", reason or None, message)
    if phase != "Pending" or any(integer(told.get(word)) for word in ("pending", "running")):
        return Status("created", reason or None, message)
    return Status("queued", reason or None, message or "its PodGroup waits for the queue or for room for all pods")
