"""Sentences that several kinds share on what happens when a pod fails and when the job ends."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

_RESTART: dict[str, str] = {
    "Always": "a container that ends is restarted in its pod by the kubelet, forever, even after success",
    "OnFailure": "a container that fails is restarted in its pod by the kubelet",
    "Never": "a container that fails is not restarted in its pod",
}


def pod_restart(template: Json, default: str) -> str:
    """What the kubelet does with a container that ends, by the pod's restartPolicy."""
    policy = text(template.get("restartPolicy")) or default
    return f"restartPolicy {policy}: {_RESTART.get(policy, 'unknown policy')}"


def limits(spec: Json, what: str, *, ttl: str = "deletes it with its pods") -> Iterator[str]:
    """The deadline and the time that a finished object is kept, where the spec has them."""
    deadline, keep = spec.get("activeDeadlineSeconds"), spec.get("ttlSecondsAfterFinished")
    if deadline is not None:
        yield f"activeDeadlineSeconds {deadline}: {what} fails when it has run that long"
    if keep is not None:
        yield f"ttlSecondsAfterFinished {keep}: that long after its end the cluster {ttl}"
