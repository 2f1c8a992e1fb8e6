"""What all pods of a job make of one another: who trains, where they meet, how many processes, what cannot work."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map, object_name
from ptcompile.registry.pods import ExpandedRole
from ptcompile.simulator.launchers.rendezvous import ALONE, AT_RENDEZVOUS, NO_RANK, Rendezvous
from ptcompile.simulator.launchers.torchrun import FIRST_STORE, OWN_STORE, SHARED_STORE, torch_of
from ptcompile.simulator.pod import Pod, WorkloadPods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - compared with, never bound

ON_HOST = "c10d publishes a node's host name (hostNetwork)"
"""How a note begins that depends on the machines."""

_MEETS_AS_TOLD = ("torchrun", "accelerate", "deepspeed")
"""Launchers whose pods meet where their options say (rehearsed with accelerate 1.15 and DeepSpeed 0.19)."""

Lead = tuple[ExpandedRole, Pod, Rendezvous]
"""A role, its first pod, and what that makes of the rendezvous."""


class JobRendezvous(NamedTuple):
    """The rendezvous of a job's training pods, as its first one sees it."""

    roles: tuple[tuple[ExpandedRole, Rendezvous], ...]
    """The roles that train, each with what its first pod makes of it."""
    host: str | None
    """The pod or Service that the endpoint names, None where no object of the job answers to it."""
    outside: bool
    """Whether the endpoint is a name that this stream cannot know, such as a database's."""
    notes: tuple[str, ...]

    @property
    def first(self) -> Rendezvous:
        """What the first training pod makes of it."""
        return self.roles[0][1]

    @property
    def nodes(self) -> int:
        """Pods that train."""
        return sum(role.count for role, _ in self.roles)

    @property
    def processes(self) -> tuple[int, int] | None:
        """The least and the most processes in all; None where the machine decides."""
        counted = [(role.count, seen.processes) for role, seen in self.roles]
        if any(n is None for _, n in counted) or self.first.nodes is None:
            return None
        started = sum(count * (n or 0) for count, n in counted)
        if self.first.launcher == "command" or self.first.nodes[0] == self.first.nodes[1]:
            return started, started
        least = min(n or 0 for _, n in counted) * self.first.nodes[0]
        return least, min(started, max(n or 0 for _, n in counted) * self.first.nodes[1])

    @property
    def processes_text(self) -> str:
        """The processes as a number, a range, or in words."""
        if self.processes is None:
            return self.first.world_text
        low, high = self.processes
        return str(high) if low == high else f"{low} to {high}"

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            **self.first.to_dict(),
            "pods": self.nodes,
            "processes": None if self.processes is None else list(self.processes),
            "roles": [role.name for role, _ in self.roles],
            "host": self.host,
            "notes": list(self.notes),
        }


def job_rendezvous(job: WorkloadPods) -> JobRendezvous | None:
    """How the job's pods meet; None for a job without pods."""
    leads = training_roles(job)
    if not leads:
        return None
    roles = tuple((role, found) for role, _, found in leads)
    first = leads[0]
    host = resolve(job, first[2].host, first[1]) if first[2].host else None
    named = host is None and "." in first[2].host and first[2].backend not in ("static", "env")
    outside = named and not _is_of(job, first[2].host)
    made = JobRendezvous(roles, host, outside, ())
    return JobRendezvous(roles, host, outside, tuple(dict.fromkeys(_notes(job, made, [pod for _, pod, _ in leads]))))


def training_roles(job: WorkloadPods) -> list[Lead]:
    """The roles that train, each with its first pod and what that makes of its rendezvous.

    Those that start torchrun to meet others; where none does, those that find others in their environment; else the
    first one.
    """
    seen = [(role, pod, pod.rendezvous) for role, pod in job.firsts() if pod.main is not None]
    leads = [one for one in seen if one[2].launcher in ("torchrun", "tune")]
    leads = [one for one in leads if one[2].endpoint != ALONE] or leads
    return leads or _plain(seen) or seen[:1]


def _plain(seen: list[Lead]) -> list[Lead]:
    """Of roles without torchrun those that know of others. One without a rank next to ranked ones does not train:
    Volcano's pytorch plugin tells every task where the master is, and only its own two which rank they have."""
    found = [one for one in seen if one[2].backend != "none"]
    return [one for one in found if one[2].node_rank != NO_RANK] or found


def resolve(job: WorkloadPods, host: str, asking: Pod) -> str | None:
    """The pod or Service that a host name leads to from one of the job's pods, in words; None for none."""
    if host in LOCAL:
        return "each pod itself"
    for role in job.roles_of(host):
        for index in _indexes(host, role):
            pod = job.pod(role, index)
            if host in names(pod):
                return pod.shown
            if host == pod.hostname and (role.name, index) == (asking.role, asking.index) and job.size == 1:
                return pod.shown
    for service in (*job.expansion.services, *job.given.services_at(host)):
        space = as_string(nested_map(service, "metadata").get("namespace")) or job.namespace
        if host in short_names(f"{object_name(service)}.{space}.svc.cluster.local", space):
            return f"Service {object_name(service)}"
    return None


def _is_of(job: WorkloadPods, host: str) -> bool:
    """Whether a host name begins with that of one of the job's pods, resolvable or not."""
    label = host.partition(".")[0]
    return any(job.pod(role, i).hostname == label for role in job.roles_of(label) for i in _indexes(host, role))


def names(pod: Pod) -> list[str]:
    """The names under which the pods of the same namespace find a pod."""
    return short_names(pod.dns, pod.view.namespace) if pod.dns else []


def short_names(full: str, namespace: str) -> list[str]:
    """A cluster name and its short forms within its namespace, as the search domains complete them."""
    svc = full.removesuffix(".cluster.local")
    inside = svc.removesuffix(".svc")
    return [full, svc, inside, inside.removesuffix(f".{namespace}")]


def _indexes(host: str, role: ExpandedRole) -> list[int]:
    """Where to look for a host: the numbers at the end of its first label, and the role's ends."""
    parts = host.partition(".")[0].split("-")[-2:]
    numbers = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 12]
    if not role.count:
        return []
    return sorted({i for i in (0, *numbers) if i < role.count})


def _notes(job: WorkloadPods, made: JobRendezvous, pods: list[Pod]) -> Iterator[str]:
    yield from (note for _, seen in made.roles for note in seen.notes)
    yield from _hindrances(job, made, pods)


def can_rendezvous(job: WorkloadPods, made: JobRendezvous) -> bool | None:
    """Whether all pods that train meet; None where that hangs on the machines, or on the image's own command."""
    if any("does not start" in note or "starts nothing" in note for _, seen in made.roles for note in seen.notes):
        return False
    found = list(_hindrances(job, made, [pod for _, pod, _ in training_roles(job)]))
    if any(not one.startswith(ON_HOST) for one in found):
        return False
    known = made.first.launcher in _MEETS_AS_TOLD or made.first.backend == "env"
    return True if known and not found and not made.outside else None


def _hindrances(job: WorkloadPods, made: JobRendezvous, pods: list[Pod]) -> Iterator[str]:
    """Why not all pods that train meet, one sentence each."""
    first, total = made.first, made.nodes
    if first.nodes is not None:
        yield from _counted(first, total)
    if first.host in LOCAL and total > 1:
        yield f"every pod waits for itself: the endpoint is {first.endpoint}, and there are {total} pods"
    elif first.host and made.host is None and not made.outside:
        yield f"no pod and no Service in this stream answers to {first.host}"
    endpoints = {seen.endpoint for _, seen in made.roles if seen.endpoint}
    if len(endpoints) > 1:
        yield f"the roles do not meet: their endpoints are {', '.join(sorted(endpoints))}"
    yield from _ranks(job, made)
    if first.backend == "c10d" and total > 1:
        yield from _handed_out(pods)


def _handed_out(pods: list[Pod]) -> Iterator[str]:
    """Whether the names that c10d hands out resolve: a pod's address where it is told, else its full host name."""
    for pod in pods:
        if pod.launch.options.get("local-addr") or pod.launch.env.get("PET_LOCAL_ADDR") or _at_endpoint(pod):
            continue
        if pod.on_host:
            yield f"{ON_HOST}, which the other nodes have to be able to resolve"
        elif pod.dns is None:
            yield f"c10d publishes a pod's own host name, and no Service makes that of {pod.shown} resolve"
        elif pod.own_name not in names(pod):
            yield f"c10d publishes {pod.own_name}, from /etc/hosts, and no Service makes that resolve"
        else:
            continue
        return


def _at_endpoint(pod: Pod) -> bool:
    """Whether processes meet at the endpoint's own name, as those do whose agents share the rendezvous' store."""
    image = as_string(pod.main.spec.get("image")) if pod.main else None
    return SHARED_STORE <= torch_of(image, pod.job.versions) < FIRST_STORE and pod.launch.env.get(OWN_STORE) != "1"


def _counted(first: Rendezvous, total: int) -> Iterator[str]:
    """Whether the number of pods fits the number of nodes that they wait for."""
    low, high = first.nodes or (1, 1)
    if first.backend == "none" and total > 1:
        yield f"{total} pods know nothing of one another: each is its own world"
    elif total < low:
        what = "processes (WORLD_SIZE)" if first.backend == "env" else "nodes"
        yield f"the rendezvous waits for {low} {what}, and there are {total} pods"
    elif total > high == 1:
        yield f"{total} pods expect one node each, so each is its own world: torchrun needs nnodes and node-rank"
    elif total > high:
        yield f"{total} pods join a rendezvous of at most {high} nodes: {total - high} of them wait outside"


def _ranks(job: WorkloadPods, made: JobRendezvous) -> Iterator[str]:
    """Ranks at the ends of each role: they have to be 0 to n-1, each once."""
    first = made.first
    if first.node_rank == AT_RENDEZVOUS or made.nodes < 2 or first.backend == "none" or first.nodes == (1, 1):
        return
    seen: dict[str, str] = {}
    for role, _ in made.roles:
        for index in sorted({0, min(1, role.count - 1), role.count - 1}):
            pod = job.pod(role, index)
            rank = pod.rendezvous.node_rank
            if rank in seen:
                yield f"{seen[rank]} and {pod.shown} both have rank {rank}"
                return
            seen[rank] = pod.shown


def claims(spec: Json) -> list[tuple[str, str, str]]:
    """The volumes of a pod spec as name, sort and source, such as `("data", "claim", "datasets")`."""
    return [(as_string(volume.get("name")), *_source(volume)) for volume in as_mappings(spec.get("volumes"))]


_NAMED = {
    "persistentVolumeClaim": ("claim", "claimName"),
    "configMap": ("configmap", "name"),
    "secret": ("secret", "secretName"),
    "hostPath": ("host", "path"),
    "nfs": ("nfs", "path"),
}


def _source(volume: Json) -> tuple[str, str]:
    for key, (sort, field) in _NAMED.items():
        if key in volume:
            return sort, as_string(nested_map(volume, key).get(field))
    empty = nested_map(volume, "emptyDir")
    if empty.get("medium") == "Memory":
        return "memory", str(empty.get("sizeLimit") or "")
    if "emptyDir" in volume:
        return "scratch", str(empty.get("sizeLimit") or "")
    return next((str(key) for key in volume if key != "name"), "scratch"), ""
