"""Differences between two worlds, in words: whatever the target, the same world (CONTRIBUTING.md#laws 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.registry.pods import ExpandedRole
from ptcompile.registry.table import KINDS
from ptcompile.simulator import amounts
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.launchers.command import entry_words
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS
from ptcompile.simulator.meeting import JobRendezvous, job_rendezvous, names
from ptcompile.simulator.pod import Pod
from ptcompile.simulator.world import World
from ptcompile.source.secrets.masking import masker_of
from ptcompile.source.secrets.names import mask_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MOST: Final = 512
"""Pods that are compared one by one; of a wider role the first two and the last."""

OPERATORS_OWN: Final = ("PET_", "VC_", "VK_", "TF_CONFIG", "MPI_HOST", "JOB_COMPLETION_INDEX")
_OWN_NAMES: Final = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED"})
_HOST: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")
_SAME_OPTIONS: Final = ("rdzv-conf", "max-restarts", "monitor-interval", "start-method")

Hosts = Mapping[str, str]
"""Host names that each operator gives in its own way, with what stands for them here."""


def same_world(a: World, b: World) -> list[str]:
    """What differs between two worlds of one spec; empty where they are the same (CONTRIBUTING.md#laws 5).

    Compared: the number of training pods and processes, the rendezvous (nodes, restarts, an endpoint that a pod of the
    job answers to), unique ranks, and of each pod, in the order of ranks, what it runs, its variables without those
    that operators add, its resources, volumes and node requirements; and the same of the pods that do not train.
    """
    if len(a.jobs) != 1 or len(b.jobs) != 1:
        return [] if len(a.jobs) == len(b.jobs) == 0 else [f"jobs: {len(a.jobs)} and {len(b.jobs)}, not one each"]
    one, other = a.jobs[0], b.jobs[0]
    first, second = job_rendezvous(one), job_rendezvous(other)
    if first is None or second is None:
        return [] if first is second else [f"{(one if first is None else other).title} makes no pods"]
    out = [*_alone(one, first), *_alone(other, second), *_together(first, second)]
    beside, others = _beside(one, first), _beside(other, second)
    more, less = _widths(beside), _widths(others)
    out += _differences("", [("pods that do not train", more, less)])
    if first.nodes == second.nodes and more == less:
        hosts = _hosts(one, beside), _hosts(other, others)
        out += _pods(_in_order(one, first), _in_order(other, second), hosts)
        out += _pods(_ends(one, beside), _ends(other, others), hosts)
    return list(dict.fromkeys(out))


def _beside(job: SimulatedJob, found: JobRendezvous) -> list[ExpandedRole]:
    """The roles whose pods take no part in the meeting."""
    trains = {role.name for role, _ in found.roles}
    return [role for role in job.roles if role.count and role.name not in trains]


def _widths(roles: list[ExpandedRole]) -> dict[str, int]:
    return {str(role.name): role.count for role in roles}


def _ends(job: SimulatedJob, roles: list[ExpandedRole]) -> list[Pod]:
    return [job.pod(role, i) for role in roles for i in sorted({0, role.count - 1})]


def _hosts(job: SimulatedJob, roles: list[ExpandedRole]) -> Hosts:
    """Every name of the pods of some roles, with a mark that does not depend on the operator."""
    return {name: f"<{role.name} {i}>" for role in roles for i in range(role.count) for name in names(job.pod(role, i))}


def _alone(job: SimulatedJob, found: JobRendezvous) -> Iterator[str]:
    """What is wrong within one world: it cannot be the same as a right one."""
    if job.expansion.refused:
        yield f"{job.title} is rejected: {job.expansion.refused[0]}"
    if found.nodes > 1 and found.host is None and not found.outside:
        yield f"{job.title}: nothing answers to the endpoint {found.first.endpoint or '(none)'}"
    ranks = [pod.rendezvous.node_rank for pod in _in_order(job, found)]
    if found.nodes > MOST or AT_RENDEZVOUS in ranks or found.first.backend == "none":
        return
    if sorted(ranks, key=lambda r: (len(r), r)) != [str(i) for i in range(found.nodes)]:
        yield f"{job.title}: ranks are {', '.join(ranks[:8])}, not 0 to {found.nodes - 1}"


def _together(a: JobRendezvous, b: JobRendezvous) -> Iterator[str]:
    pairs: list[tuple[str, object, object]] = [
        ("training pods", a.nodes, b.nodes),
        ("started by", a.first.launcher, b.first.launcher),
    ]
    if all(seen.launcher != "image" for found in (a, b) for _, seen in found.roles):  # else only the image knows
        pairs += [
            ("processes", a.processes_text, b.processes_text),
            ("nodes", a.first.nodes_text, b.first.nodes_text),
        ]
        if a.nodes > 1:
            pairs.append(("backend", a.first.backend, b.first.backend))
    if a.first.launcher == "torchrun":
        pairs += [(name, a.first.options.get(name), b.first.options.get(name)) for name in _SAME_OPTIONS]
    yield from _differences("", pairs)


def _differences(where: str, pairs: list[tuple[str, object, object]]) -> Iterator[str]:
    for what, x, y in pairs:
        if x != y:
            yield f"{where}{what}: {x!r} and {y!r}"


def _in_order(job: SimulatedJob, found: JobRendezvous) -> list[Pod]:
    """The training pods by rank; in the order of the roles where ranks are assigned later."""
    wide = found.nodes > MOST
    pods = [
        job.pod(role, i)
        for role, _ in found.roles
        for i in (sorted({0, min(1, role.count - 1), role.count - 1}) if wide else range(role.count))
    ]
    ranks = [pod.rendezvous.node_rank for pod in pods]
    if not all(rank.isdigit() for rank in ranks):
        return pods
    order = sorted(range(len(pods)), key=lambda i: int(ranks[i]))
    return [pods[i] for i in order]


def _pods(a: list[Pod], b: list[Pod], hosts: tuple[Hosts, Hosts]) -> Iterator[str]:
    if len(a) != len(b):  # folded by roles of different widths: the ends can be compared
        a, b = [a[0], a[-1]], [b[0], b[-1]]
    for one, other in zip(a, b, strict=True):
        where = f"{one.shown} and {other.shown}: "
        pairs: list[tuple[str, object, object]] = [
            ("runs", _runs(one, hosts[0]), _runs(other, hosts[1])),
            ("requests", _requests(one), _requests(other)),
            ("limits", _limits(one), _limits(other)),
            ("image", one.main and one.main.image, other.main and other.main.image),
            ("tolerations", list(one.view.tolerations), list(other.view.tolerations)),
            ("node selector", one.view.node_selector, other.view.node_selector),
            ("affinity", nested_map(one.view.spec, "affinity"), nested_map(other.view.spec, "affinity")),
            ("mounts", _mounts(one), _mounts(other)),
        ]
        hide = masker_of((one.view.spec, other.view.spec))
        yield from (hide(told) if hide else told for told in _differences(where, pairs))
        yield from _env(where, users_env(one, hosts[0]), users_env(other, hosts[1]))


def _runs(pod: Pod, hosts: Hosts) -> list[str]:
    marks = _marks(pod)
    return [_neutral(word, marks, hosts) for word in entry_words(pod.launch)]


def _marks(pod: Pod) -> list[tuple[str, str]]:
    """The names that each operator gives in its own way: the endpoint's host, the pod's own."""
    hidden = [
        (pod.rendezvous.host, "<endpoint>"),
        (pod.env.get("MASTER_ADDR", ""), "<endpoint>"),
        (pod.name, "<pod>"),
    ]
    return [(name, mark) for name, mark in hidden if name]


def _neutral(text: str, marks: list[tuple[str, str]], hosts: Hosts) -> str:
    if hosts:
        text = _HOST.sub(lambda found: hosts.get(found[0], found[0]), text)
    for name, mark in marks:
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", mark, text)
    return text


def _requests(pod: Pod) -> dict[str, str]:
    """What the containers ask for, without init containers: operators add some of their own."""
    return amounts.as_text(amounts.of_pod({**pod.view.spec, "initContainers": []}))


def _limits(pod: Pod) -> dict[str, str]:
    return amounts.as_text(amounts.amounts(pod.resources, "limits"))


def _mounts(pod: Pod) -> list[str]:
    """Mount paths of the main container, without those of the operators' own volumes."""
    own = {path for _, kind in KINDS.values() for path in kind.additions.mounts}
    mounts = pod.main.mounts if pod.main else ()
    return sorted(str(m.get("mountPath")) for m in mounts if m.get("mountPath") not in own)


def users_env(pod: Pod, hosts: Hosts) -> dict[str, str]:
    """The variables without those that operators add; those from a field of the pod by the field's name."""
    fields = {
        str(entry.get("name")): f"<{nested_map(entry, 'valueFrom', 'fieldRef').get('fieldPath')}>"
        for entry in (pod.main.env if pod.main else ())
        if nested_map(entry, "valueFrom", "fieldRef")
    }
    values = {k: v for k, v in pod.env.items() if k not in _OWN_NAMES and not k.startswith(OPERATORS_OWN)}
    marks = _marks(pod)
    return {name: fields.get(name) or _neutral(value, marks, hosts) for name, value in values.items()}


def _env(where: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*a, *b)):
        if a.get(name) != b.get(name):
            shown = [value and mask_value(name, value) for value in (a.get(name), b.get(name))]
            yield f"{where}env {name}: {shown[0]!r} and {shown[1]!r}"
