"""The rendezvous of a job: training roles, endpoint, number of processes, and obstacles to joining it."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kinds.pods import ExpandedRole
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map, object_name
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS, Rendezvous
from ptcompile.simulator.launchers.torchrun import FIRST_STORE, OWN_STORE, SHARED_STORE, torch_of
from ptcompile.simulator.meeting import (
    LOOPBACK_HOSTS,
    candidate_indexes,
    dns_names,
    short_names,
    training_roles,
)
from ptcompile.simulator.pod import Pod, WorkloadPods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

HOST_NETWORK_PREFIX = "c10d publishes a node's host name (hostNetwork)"
"""Start of the note that depends on the Kubernetes nodes."""

_LAUNCHERS_WITH_ENDPOINT = ("torchrun", "accelerate", "deepspeed")
"""Launchers whose pods join at the endpoint in their options (rehearsed with accelerate 1.15 and DeepSpeed 0.19)."""


class JobRendezvous(NamedTuple):
    """The rendezvous of a job's training pods, as the first of them sees it."""

    roles: tuple[tuple[ExpandedRole, Rendezvous], ...]
    """Training roles, each with the rendezvous of its first pod."""
    host: str | None
    """Pod or Service that the endpoint names, or None if no object of the job answers to it."""
    outside: bool
    """Whether the endpoint is a name outside the stream, such as a database's."""
    notes: tuple[str, ...]

    @property
    def first(self) -> Rendezvous:
        """Rendezvous of the first training pod."""
        return self.roles[0][1]

    @property
    def nodes(self) -> int:
        """Number of training pods."""
        return sum(role.count for role, _ in self.roles)

    @property
    def processes(self) -> tuple[int, int] | None:
        """Minimum and maximum number of processes, or None if the machine decides."""
        counts = [(role.count, rendezvous.processes) for role, rendezvous in self.roles]
        if any(processes is None for _, processes in counts) or self.first.nodes is None:
            return None
        total = sum(count * (processes or 0) for count, processes in counts)
        if self.first.launcher == "command" or self.first.nodes[0] == self.first.nodes[1]:
            return total, total
        least = min(processes or 0 for _, processes in counts) * self.first.nodes[0]
        return least, min(total, max(processes or 0 for _, processes in counts) * self.first.nodes[1])

    @property
    def processes_text(self) -> str:
        """Number of processes, as a number, a range or a product."""
        if self.processes is None:
            return self.first.world_size_text
        low, high = self.processes
        return str(high) if low == high else f"{low} to {high}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            **self.first.to_dict(),
            "pods": self.nodes,
            "processes": None if self.processes is None else list(self.processes),
            "roles": [role.name for role, _ in self.roles],
            "host": self.host,
            "notes": list(self.notes),
        }


def job_rendezvous(job: WorkloadPods) -> JobRendezvous | None:
    """Return the rendezvous of the job's pods, or None for a job without pods."""
    leads = training_roles(job)
    if not leads:
        return None
    roles = tuple((role, rendezvous) for role, _, rendezvous in leads)
    first = leads[0]
    host = resolve_host(job, first[2].host, first[1]) if first[2].host else None
    is_qualified = host is None and "." in first[2].host and first[2].backend not in ("static", "env")
    is_outside = is_qualified and not _names_a_pod_of(job, first[2].host)
    without_notes = JobRendezvous(roles, host, is_outside, ())
    return JobRendezvous(
        roles, host, is_outside, tuple(dict.fromkeys(_notes(job, without_notes, [pod for _, pod, _ in leads])))
    )


def resolve_host(job: WorkloadPods, host: str, asking_pod: Pod) -> str | None:
    """Return the pod or Service that a host name resolves to from `asking_pod`, as text, or None if nothing answers."""
    if host in LOOPBACK_HOSTS:
        return "each pod itself"
    for role in job.roles_for_host(host):
        for index in candidate_indexes(host, role):
            pod = job.pod(role, index)
            if host in dns_names(pod):
                return pod.display_name
            if host == pod.hostname and (role.name, index) == (asking_pod.role, asking_pod.index) and job.size == 1:
                return pod.display_name
    for service in (*job.expansion.services, *job.stream.services_at(host)):
        namespace = as_string(nested_map(service, "metadata").get("namespace")) or job.namespace
        if host in short_names(f"{object_name(service)}.{namespace}.svc.cluster.local", namespace):
            return f"Service {object_name(service)}"
    return None


def _names_a_pod_of(job: WorkloadPods, host: str) -> bool:
    """Return whether the first label of a host name is the host name of one of the job's pods, even if unresolvable."""
    label = host.partition(".")[0]
    return any(
        job.pod(role, i).hostname == label for role in job.roles_for_host(label) for i in candidate_indexes(host, role)
    )


def _notes(job: WorkloadPods, rendezvous: JobRendezvous, pods: list[Pod]) -> Iterator[str]:
    yield from (note for _, role_rendezvous in rendezvous.roles for note in role_rendezvous.notes)
    yield from _obstacles(job, rendezvous, pods)


def can_rendezvous(job: WorkloadPods, rendezvous: JobRendezvous) -> bool | None:
    """Return whether all training pods join one rendezvous, or None if machines or an image's own command decide
    that.
    """
    if any(
        "does not start" in note or "starts nothing" in note
        for _, role_rendezvous in rendezvous.roles
        for note in role_rendezvous.notes
    ):
        return False
    obstacles = list(_obstacles(job, rendezvous, [pod for _, pod, _ in training_roles(job)]))
    if any(not obstacle.startswith(HOST_NETWORK_PREFIX) for obstacle in obstacles):
        return False
    is_modeled = rendezvous.first.launcher in _LAUNCHERS_WITH_ENDPOINT or rendezvous.first.backend == "env"
    return True if is_modeled and not obstacles and not rendezvous.outside else None


def _obstacles(job: WorkloadPods, rendezvous: JobRendezvous, pods: list[Pod]) -> Iterator[str]:
    """Yield one sentence for each obstacle that keeps training pods from joining one rendezvous."""
    first, total = rendezvous.first, rendezvous.nodes
    if first.nodes is not None:
        yield from _node_count_obstacles(first, total)
    if first.host in LOOPBACK_HOSTS and total > 1:
        yield f"every pod waits for itself: the endpoint is {first.endpoint}, but the job has {total} pods"
    elif first.host and rendezvous.host is None and not rendezvous.outside:
        yield f"no pod and no Service in this stream answers to {first.host}"
    endpoints = {role_rendezvous.endpoint for _, role_rendezvous in rendezvous.roles if role_rendezvous.endpoint}
    if len(endpoints) > 1:
        yield f"the roles do not meet: their endpoints are {', '.join(sorted(endpoints))}"
    yield from _rank_obstacles(job, rendezvous)
    if first.backend == "c10d" and total > 1:
        yield from _unresolvable_names(pods)


def _unresolvable_names(pods: list[Pod]) -> Iterator[str]:
    """Yield the first name published by c10d that does not resolve.

    c10d publishes the pod's `local-addr` if it is set, else its fully qualified host name.
    """
    for pod in pods:
        if pod.launch.options.get("local-addr") or pod.launch.env.get("PET_LOCAL_ADDR") or _meets_at_endpoint(pod):
            continue
        if pod.on_host:
            yield f"{HOST_NETWORK_PREFIX}, which the other nodes must be able to resolve"
        elif pod.dns is None:
            yield f"c10d publishes the host name of {pod.display_name}, but no Service makes it resolve"
        elif pod.own_fqdn not in dns_names(pod):
            yield f"c10d publishes {pod.own_fqdn} from /etc/hosts, but no Service makes it resolve"
        else:
            continue
        return


def _meets_at_endpoint(pod: Pod) -> bool:
    """Return whether processes join at the endpoint's name because their agents share the rendezvous' store."""
    image = as_string(pod.main.spec.get("image")) if pod.main else None
    return SHARED_STORE <= torch_of(image, pod.job.versions) < FIRST_STORE and pod.launch.env.get(OWN_STORE) != "1"


def _node_count_obstacles(first: Rendezvous, total: int) -> Iterator[str]:
    """Yield a sentence if the number of pods does not match the number of nodes they wait for."""
    low, high = first.nodes or (1, 1)
    if first.backend == "none" and total > 1:
        yield f"the {total} pods do not know one another: each trains alone"
    elif total < low:
        noun = "processes (WORLD_SIZE)" if first.backend == "env" else "nodes"
        yield f"the rendezvous waits for {low} {noun}, but the job has {total} {'pod' if total == 1 else 'pods'}"
    elif total > high == 1:
        yield f"each of the {total} pods expects one node and trains alone: torchrun needs nnodes and node-rank"
    elif total > high:
        yield f"{total} pods join a rendezvous of at most {high} nodes: {total - high} of them wait outside"


def _rank_obstacles(job: WorkloadPods, rendezvous: JobRendezvous) -> Iterator[str]:
    """Yield a sentence if two pods at the ends of the roles have the same rank."""
    first = rendezvous.first
    if first.node_rank == AT_RENDEZVOUS or rendezvous.nodes < 2 or first.backend == "none" or first.nodes == (1, 1):
        return
    seen: dict[str, str] = {}
    for role, _ in rendezvous.roles:
        for index in sorted({0, min(1, role.count - 1), role.count - 1}):
            pod = job.pod(role, index)
            rank = pod.rendezvous.node_rank
            if rank in seen:
                yield f"{seen[rank]} and {pod.display_name} both have rank {rank}"
                return
            seen[rank] = pod.display_name


def volume_sources(spec: Json) -> list[tuple[str, str, str]]:
    """Return the volumes of a pod spec as name, type and source, such as `("data", "claim", "datasets")`."""
    return [(as_string(volume.get("name")), *_volume_source(volume)) for volume in as_mappings(spec.get("volumes"))]


_SOURCE_FIELDS = {
    "persistentVolumeClaim": ("claim", "claimName"),
    "configMap": ("configmap", "name"),
    "secret": ("secret", "secretName"),
    "hostPath": ("host", "path"),
    "nfs": ("nfs", "path"),
}


def _volume_source(volume: Json) -> tuple[str, str]:
    for key, (volume_type, field) in _SOURCE_FIELDS.items():
        if key in volume:
            return volume_type, as_string(nested_map(volume, key).get(field))
    empty_dir = nested_map(volume, "emptyDir")
    if empty_dir.get("medium") == "Memory":
        return "memory", str(empty_dir.get("sizeLimit") or "")
    if "emptyDir" in volume:
        return "scratch", str(empty_dir.get("sizeLimit") or "")
    return next((str(key) for key in volume if key != "name"), "scratch"), ""
