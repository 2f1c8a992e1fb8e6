"""Progress and status of a Pod."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import as_int, as_mappings, as_string, nested_map
from ptcompile.registry.status import Following, Status, by_field, true_conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json


FOLLOWING: Final = Following(
    plural="pods",
    succeeded=by_field("status.phase", "Succeeded"),
    failed=by_field("status.phase", "Failed"),
    running=by_field("status.phase", "Running").cel,
)


def status(live: Json) -> Status:
    """By the phase. A running pod whose container waits to be started again is restarting."""
    phase = as_string(nested_map(live, "status").get("phase"))
    if phase == "Succeeded":
        return Status("succeeded")
    if phase == "Failed":
        return _failed(live)
    if phase in ("Running", "Unknown"):
        return _running(live, phase)
    if gates := [as_string(one.get("name")) for one in as_mappings(nested_map(live, "spec").get("schedulingGates"))]:
        return Status("queued", "SchedulingGated", f"waits for {', '.join(gates)}")
    return _waiting(live)


def _failed(live: Json) -> Status:
    pod_status = nested_map(live, "status")
    if reason := as_string(pod_status.get("reason")):
        return Status("failed", reason, as_string(pod_status.get("message")) or None)
    if disrupted := true_conditions(live).get("DisruptionTarget"):
        return Status("failed", as_string(disrupted.get("reason")) or None, as_string(disrupted.get("message")) or None)
    for name, ended in _containers(live, "terminated"):
        if code := as_int(ended.get("exitCode")):
            return Status(
                "failed", as_string(ended.get("reason")) or None, f"container {name} exited with status {code}"
            )
    return Status("failed")


def _running(live: Json, phase: str) -> Status:
    for name, waiting in _containers(live, "waiting"):
        if as_string(waiting.get("reason")) == "CrashLoopBackOff":
            return Status("restarting", "CrashLoopBackOff", f"container {name} failed and is started again")
    return Status("running", "NodeLost" if phase == "Unknown" else None)


def _waiting(live: Json) -> Status:
    """Why a pod that is pending does not run: the scheduler's word, else the kubelet's on a container."""
    for one in as_mappings(nested_map(live, "status").get("conditions")):
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            return Status("created", as_string(one.get("reason")) or None, as_string(one.get("message")) or None)
    for name, waiting in _containers(live, "waiting"):
        if reason := as_string(waiting.get("reason")):
            return Status("created", reason, f"container {name} waits")
    return Status("created")


def _containers(live: Json, state: str) -> Iterator[tuple[str, Json]]:
    """The containers that are in a state, init containers first, each with what it says of that."""
    pod_status = nested_map(live, "status")
    for word in ("initContainerStatuses", "containerStatuses"):
        for one in as_mappings(pod_status.get(word)):
            if found := nested_map(one, "state", state):
                yield as_string(one.get("name")), found
