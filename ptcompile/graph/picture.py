"""Contents of a job's picture, before drawing. Wide roles are folded; texts are not escaped yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptcompile._internal.spelling import pluralize
from ptcompile.kinds.pods import ExpandedRole
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.unstructured import nested_string, object_name
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS
from ptcompile.simulator.meeting import dns_names, services_of
from ptcompile.simulator.pod import Pod
from ptcompile.simulator.rendezvous import JobRendezvous, volume_sources

MAX_CARDS = 3
"""Number of pods drawn for a wide role: the first ones and the last. A single pod is never
hidden.
"""
MAX_ROLES = 8
TIMES = "\u00d7"


@dataclass(frozen=True, slots=True)
class Card:
    """One pod."""

    name: str
    address: str
    """The shortest name by which other pods find it, or ""."""
    rank: str
    devices: int
    meets: bool
    """Whether the pod takes part in the rendezvous."""
    leads: bool
    """Whether the rendezvous endpoint names the pod."""


@dataclass(frozen=True, slots=True)
class RoleGroup:
    """One role: its drawn pods, the number of hidden ones, and the volumes they mount."""

    name: str
    count: int
    cards: tuple[Card, ...]
    hidden: int
    """Number of hidden pods before the last card."""
    volumes: tuple[str, ...]
    services: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """One job."""

    title: str
    subtitle: str
    facts: tuple[str, ...]
    groups: tuple[RoleGroup, ...]
    services: tuple[str, ...]
    volumes: tuple[tuple[str, str, str], ...]
    """Key, kind and label of each volume, such as `("claim datasets", "claim", "datasets")`."""
    meeting: str
    """The rendezvous in a few words, such as `c10d :29400`, or ""."""
    notes: tuple[str, ...]


def make_picture(job: SimulatedJob) -> Picture:
    """Return the picture of a job."""
    rendezvous = job.rendezvous
    roles = [role for role in job.roles if role.count > 0][:MAX_ROLES]
    groups = tuple(_make_group(job, role, rendezvous) for role in roles)
    volumes = {
        key: (key, sort, source)
        for role in roles
        for key, sort, source in _mounted_volumes(job.pod(role, 0))
    }
    services = tuple(dict.fromkeys(name for group in groups for name in group.services))
    target = f"  ·  target {job.target}" if job.target else ""
    left_out = len([r for r in job.roles if r.count > 0]) - len(roles)
    more = (f"{left_out} more roles are not drawn",) if left_out else ()
    api_version = nested_string(job.manifest, "apiVersion")

    return Picture(
        title=job.title,
        subtitle=f"{api_version}  ·  namespace {job.namespace}{target}",
        facts=tuple(_job_facts(job, rendezvous)),
        groups=groups,
        services=services,
        volumes=tuple(volumes.values()),
        meeting=_rendezvous_label(rendezvous) if rendezvous else "",
        notes=(
            *job.expansion.refused,
            *(rendezvous.notes if rendezvous else ()),
            *job.notes,
            *more,
        ),
    )


def _job_facts(job: SimulatedJob, rendezvous: JobRendezvous | None) -> Iterator[str]:
    yield pluralize(job.size, "pod")
    if rendezvous is not None:
        nodes = "node" if rendezvous.first.nodes == (1, 1) else "nodes"
        yield f"{rendezvous.first.nodes_text or '?'} {nodes}"
        is_single = rendezvous.processes == (1, 1)
        yield f"{rendezvous.processes_text} process{'' if is_single else 'es'}"
    totals = job.totals()
    for name, count in amounts.accelerators(totals).items():
        yield f"{count} {TIMES} {name}"
    yield from (f"{totals[name]} {name}" for name in ("cpu", "memory") if name in totals)


def _rendezvous_label(rendezvous: JobRendezvous) -> str:
    first = rendezvous.first
    if first.backend == "none" or rendezvous.nodes < 2:
        return ""
    name = {"env": "env://"}.get(first.backend, first.backend)
    endpoint = f":{first.port}" if rendezvous.host and first.port else first.endpoint
    return f"{name} {endpoint}"


def _make_group(
    job: SimulatedJob, role: ExpandedRole, rendezvous: JobRendezvous | None
) -> RoleGroup:
    if role.count <= MAX_CARDS + 1:
        indexes = list(range(role.count))
    else:
        indexes = [*range(MAX_CARDS - 1), role.count - 1]
    meets = rendezvous is not None and role.name in rendezvous.role_names
    pods = [job.pod(role, i) for i in indexes]
    host = rendezvous.host if rendezvous else None
    cards = tuple(_make_card(pod, meets=meets, host=host) for pod in pods)
    first = pods[0]
    keys = tuple(dict.fromkeys(key for key, _, _ in _mounted_volumes(first)))
    # the Services of single pods are shown as one range
    services = dict.fromkeys(
        f"{name} .. {job.last_pod(role).name}" if name == first.name and role.count > 1 else name
        for name in map(object_name, services_of(first))
    )

    return RoleGroup(
        role.name,
        role.count,
        cards,
        role.count - len(cards),
        keys,
        tuple(services),
    )


def _make_card(pod: Pod, *, meets: bool, host: str | None) -> Card:
    rendezvous = pod.rendezvous
    rank = ""
    if meets and rendezvous.backend != "none":
        if rendezvous.node_rank == AT_RENDEZVOUS:
            rank = "rank at rendezvous"
        else:
            rank = f"node rank {rendezvous.node_rank}"

    short = min(dns_names(pod.view), key=len, default="")
    devices = sum(amounts.accelerators(pod.requests).values())

    return Card(
        pod.display_name,
        short,
        rank,
        devices,
        meets and rendezvous.backend != "none",
        meets and host == pod.display_name,
    )


def _mounted_volumes(pod: Pod) -> Iterator[tuple[str, str, str]]:
    """Yield the volumes that a container mounts, once per source, or once per role if they
    belong to the pod.
    """
    mounted = {nested_string(m, "name") for container in pod.containers for m in container.mounts}
    for name, sort, source in volume_sources(pod.view.spec):
        if name in mounted:
            belongs_to_pod = sort in ("memory", "scratch")
            size = f" {source}" if source else ""
            yield (
                f"{pod.role}/{name}" if belongs_to_pod else f"{sort}/{source}",
                sort,
                f"{name}{size}" if belongs_to_pod else source or name,
            )
