"""What a picture of a job shows, before anything is drawn. Wide roles are folded; all text is still as in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ptcompile.kubernetes.unstructured import as_string, kind_of, nested_map, object_name, string_map
from ptcompile.registry.pods import ExpandedRole
from ptcompile.simulator import amounts
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS
from ptcompile.simulator.meeting import JobRendezvous, claims, job_rendezvous, names
from ptcompile.simulator.pod import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json

SHOWN: Final = 3
"""Pods of a wide role that are drawn: the first ones and the last. Never is one alone left out."""
MOST_ROLES: Final = 8
TIMES: Final = "\u00d7"


@dataclass(frozen=True, slots=True)
class Card:
    """One pod."""

    name: str
    address: str
    """The shortest name under which others find it, or an empty string."""
    rank: str
    devices: int
    meets: bool
    """Whether it takes part in the rendezvous."""
    leads: bool
    """Whether the endpoint names it."""


@dataclass(frozen=True, slots=True)
class RoleGroup:
    """One role: its pods that are drawn, how many stand between them, and the volumes that they mount."""

    name: str
    count: int
    cards: tuple[Card, ...]
    hidden: int
    """Pods that are left out before the last card."""
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
    """Key, sort and what it is called, such as `("claim datasets", "claim", "datasets")`."""
    meeting: str
    """The rendezvous in a few words, such as `c10d :29400`; empty where there is none."""
    notes: tuple[str, ...]


def picture(job: SimulatedJob) -> Picture:
    """What to draw of a job."""
    found = job_rendezvous(job)
    roles = [role for role in job.roles if role.count > 0][:MOST_ROLES]
    groups = tuple(_group(job, role, found) for role in roles)
    volumes = {key: (key, sort, source) for role in roles for key, sort, source in _volumes(job.pod(role, 0))}
    services = tuple(dict.fromkeys(name for group in groups for name in group.services))
    target = f"  ·  target {job.target}" if job.target else ""
    left_out = len([r for r in job.roles if r.count > 0]) - len(roles)
    more = (f"{left_out} more roles are not drawn",) if left_out else ()
    return Picture(
        title=job.title,
        subtitle=f"{kind_of(job.manifest)[0]}  ·  namespace {job.namespace}{target}",
        facts=tuple(_facts(job, found)),
        groups=groups,
        services=services,
        volumes=tuple(volumes.values()),
        meeting=_label(found) if found else "",
        notes=(*job.expansion.refused, *(found.notes if found else ()), *job.notes, *more),
    )


def _facts(job: SimulatedJob, found: JobRendezvous | None) -> Iterator[str]:
    yield f"{job.size} pod{'s' * (job.size != 1)}"
    if found is not None:
        yield f"{found.first.nodes_text or '?'} node{'s' * (found.first.nodes != (1, 1))}"
        one = found.processes == (1, 1)
        yield f"{found.processes_text} process{'' if one else 'es'}"
    totals = job.totals()
    for name, count in amounts.accelerators(totals).items():
        yield f"{count} {TIMES} {name}"
    yield from (f"{totals[name]} {name}" for name in ("cpu", "memory") if name in totals)


def _label(found: JobRendezvous) -> str:
    first = found.first
    if first.backend == "none" or found.nodes < 2:
        return ""
    name = {"env": "env://"}.get(first.backend, first.backend)
    port = first.endpoint.rpartition(":")[2] if ":" in first.endpoint else ""
    where = f":{port}" if found.host and port else first.endpoint
    return f"{name} {where}"


def _group(job: SimulatedJob, role: ExpandedRole, found: JobRendezvous | None) -> RoleGroup:
    indexes = list(range(role.count)) if role.count <= SHOWN + 1 else [*range(SHOWN - 1), role.count - 1]
    trains = {one.name for one, _ in found.roles} if found else set[str]()
    pods = [job.pod(role, i) for i in indexes]
    host = found.host if found else None
    cards = tuple(_card(pod, meets=role.name in trains, host=host) for pod in pods)
    keys = tuple(dict.fromkeys(key for key, _, _ in _volumes(pods[0])))
    return RoleGroup(role.name, role.count, cards, role.count - len(cards), keys, tuple(_services(job, role, pods[0])))


def _card(pod: Pod, *, meets: bool, host: str | None) -> Card:
    seen = pod.rendezvous
    rank = ""
    if meets and seen.backend != "none":
        rank = "rank at rendezvous" if seen.node_rank == AT_RENDEZVOUS else f"node rank {seen.node_rank}"
    short = min(names(pod), key=len, default="")
    devices = sum(amounts.accelerators(pod.requests).values())
    return Card(pod.shown, short, rank, devices, meets and seen.backend != "none", meets and host == pod.shown)


def _volumes(pod: Pod) -> Iterator[tuple[str, str, str]]:
    """The volumes that a container mounts: one for each source, and one for each role where they are the pod's own."""
    mounted = {as_string(m.get("name")) for container in pod.containers for m in container.mounts}
    for name, sort, source in claims(pod.view.spec):
        if name in mounted:
            own = sort in ("memory", "scratch")
            size = f" {source}" if source else ""
            yield f"{pod.role}/{name}" if own else f"{sort}/{source}", sort, f"{name}{size}" if own else source or name


def _services(job: SimulatedJob, role: ExpandedRole, pod: Pod) -> Iterator[str]:
    """The Services whose selector fits the role's pods; one for each pod stands for all of them."""
    made = [one for one in job.expansion.services if _fits(one, pod.view.labels)]
    fitting = [*made, *job.given.selecting(pod.view.labels)]
    for one in {object_name(service): service for service in fitting}.values():
        name = object_name(one)
        own = name == pod.name and role.count > 1
        yield f"{name} .. {job.pod(role, role.count - 1).name}" if own else name


def _fits(service: Json, labels: Mapping[str, str]) -> bool:
    selector = string_map(nested_map(service, "spec").get("selector"))
    return bool(selector) and selector.items() <= labels.items()
