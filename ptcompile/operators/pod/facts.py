"""Progress and status of a Pod."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kinds.status import (
    Following,
    Status,
    field_condition,
    status_from_condition,
    true_conditions,
)
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
)


def status(live: Json) -> Status:
    """Return the status from the phase. A running pod with a container in back-off is
    restarting.
    """
    phase = nested_string(live, "status", "phase")
    if phase == "Succeeded":
        return Status("succeeded")
    if phase == "Failed":
        return _failed_status(live)
    if phase in ("Running", "Unknown"):
        return _running_status(live, phase)
    if gates := [
        nested_string(gate, "name") for gate in nested_maps(live, "spec", "schedulingGates")
    ]:
        return Status("queued", "SchedulingGated", f"waits for {', '.join(gates)}")

    return _pending_status(live)


FOLLOWING = Following(
    plural="pods",
    succeeded=field_condition("status.phase", "Succeeded"),
    failed=field_condition("status.phase", "Failed"),
    running=field_condition("status.phase", "Running").cel,
    status=status,
)


def _failed_status(live: Json) -> Status:
    pod_status = nested_map(live, "status")
    if pod_status.get("reason"):
        return status_from_condition("failed", pod_status)
    if disruption := true_conditions(live).get("DisruptionTarget"):
        return status_from_condition("failed", disruption)

    for name, terminated in _containers_in_state(live, "terminated"):
        if code := nested_int(terminated, "exitCode"):
            return Status(
                "failed",
                nested_string(terminated, "reason") or None,
                f"container {name} exited with status {code}",
            )

    return Status("failed")


def _running_status(live: Json, phase: str) -> Status:
    for name, waiting in _containers_in_state(live, "waiting"):
        if nested_string(waiting, "reason") == "CrashLoopBackOff":
            return Status(
                "restarting", "CrashLoopBackOff", f"container {name} ended and is started again"
            )
    return Status("running", "NodeLost" if phase == "Unknown" else None)


def _pending_status(live: Json) -> Status:
    """Return why a pending pod does not run: the scheduler's reason, else the kubelet's for a
    container.
    """
    for condition in nested_maps(live, "status", "conditions"):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return status_from_condition("created", condition)
    for name, waiting in _containers_in_state(live, "waiting"):
        if reason := nested_string(waiting, "reason"):
            return Status("created", reason, f"container {name} waits")
    return Status("created")


def _containers_in_state(live: Json, state: str) -> Iterator[tuple[str, Json]]:
    """Yield the containers in a state, init containers first, each with the details of that
    state.
    """
    pod_status = nested_map(live, "status")
    for field in ("initContainerStatuses", "containerStatuses"):
        for container in nested_maps(pod_status, field):
            if details := nested_map(container, "state", state):
                yield nested_string(container, "name"), details
