"""What happens when a pod of a PyTorchJob fails and when the job ends (training-operator 1.9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.untyped import at, mapping, text
from ptcompile.operators.common.failure import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

_REPLICA: dict[str, str] = {
    "Always": "a failed pod is recreated",
    "OnFailure": "the kubelet restarts a container that fails; a failed pod is recreated",
    "Never": "a failed pod fails the job, and the other pods go on",
    "ExitCode": "exit codes from 128 on recreate the pod, 1 to 127 fail the job",
}


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a PyTorchJob."""
    spec = at(manifest, "spec")
    policy = at(spec, "runPolicy")
    replicas = {str(k): mapping(v) for k, v in at(spec, "pytorchReplicaSpecs").items()}
    for name, replica in replicas.items():
        restart = text(replica.get("restartPolicy")) or "OnFailure"
        yield f"{name} restartPolicy {restart}: {_REPLICA.get(restart, 'unknown policy')}"
        lost = "the job fails" if restart == "Never" else "the pod is recreated and not counted"
        yield f"{name}, a lost node: {lost}"
    limit = policy.get("backoffLimit")
    yield (
        "no backoffLimit: restarts are unlimited"
        if limit is None
        else "backoffLimit 0: the first restart of a container fails the job"
        if limit == 0
        else f"backoffLimit {limit}: the job fails when its running pods count that many container restarts"
    )
    if "Master" in replicas:
        yield "the job succeeds with its Master, even while workers run or have failed"
    elif spec.get("elasticPolicy") is not None:
        yield "the job succeeds with any of its workers (elastic)"
    else:
        yield "the job succeeds when all workers have"
    clean = text(policy.get("cleanPodPolicy")) or "None"
    kept = {"None": "all pods stay", "Running": "pods that still run are deleted", "All": "all pods are deleted"}
    yield f"cleanPodPolicy {clean}: at the end {kept.get(clean, 'that policy is unknown')}"
    yield from limits(policy, "the job")
