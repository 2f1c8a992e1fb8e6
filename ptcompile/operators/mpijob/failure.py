"""What happens when a pod of an MPIJob fails and when the job ends (MPI Operator 0.8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.untyped import at, integer, mapping, text
from ptcompile.operators.common.failure import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for an MPIJob."""
    spec = at(manifest, "spec")
    replicas = {str(k): mapping(v) for k, v in at(spec, "mpiReplicaSpecs").items()}
    policy = at(spec, "runPolicy")
    restart = text(mapping(replicas.get("Launcher")).get("restartPolicy")) or "OnFailure"
    again = "the kubelet restarts it in place" if restart == "OnFailure" else "its Job creates a new pod"
    yield f"a launcher that fails: {again}, at most backoffLimit {integer(policy.get('backoffLimit'), 6)} times"
    if "Worker" in replicas:
        in_place = text(replicas["Worker"].get("restartPolicy")) == "OnFailure"
        worker = "the kubelet restarts it in place" if in_place else "the controller creates a new pod"
        yield f"a worker that fails: mpirun fails with it; {worker}, and the launcher is retried"
    yield "the job succeeds or fails with its launcher"
    clean = text(policy.get("cleanPodPolicy")) or "None"
    kept = {"None": "all workers stay", "Running": "running workers are deleted", "All": "all workers are deleted"}
    yield f"cleanPodPolicy {clean}: at the end {kept.get(clean, 'that policy is unknown')}"
    yield from limits(policy, "the job")
