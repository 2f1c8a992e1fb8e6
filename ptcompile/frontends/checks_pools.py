"""Whether a job's pods fit the node pools that its profile names, and whether these have room for all of them.

Asked of a job after its passes, whose pods say which nodes they may run on and what they ask for. A label that a pool
does not give is unknown, and taken for one that fits; what no one knows of a pool's nodes they have enough of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.catalogue.fit import by_name, left_of
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.amounts import blocks
from ptcompile.frontends.errors import problem
from ptcompile.job import pod_template
from ptcompile.job.device_claims import accelerators_in
from ptcompile.job.model import Job, Role
from ptcompile.job.pods import PodTemplate
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.accelerators import is_accelerator
from ptcompile.kubernetes.placement import admits, tolerates
from ptcompile.kubernetes.quantity import NANO, Quantity
from ptcompile.typed import NamedTuple
from ptcompile.vocabulary.cluster import hardware
from ptcompile.vocabulary.fields import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.devices import NodePool
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.model import ResourceList
    from ptcompile.vocabulary.spec import JobSpec


class _Pool(NamedTuple):
    """A node pool with all that is known of its nodes."""

    name: str
    pool: NodePool
    labels: Mapping[str, str]
    allocatable: Mapping[str, int]
    """In nano units, by Kubernetes resource name."""

    def has(self, resource: str) -> int | None:
        """How much a node leaves pods; None where that is unknown. An accelerator that is not named is not there."""
        known = self.allocatable.get(resource)
        return 0 if known is None and self.allocatable and is_accelerator(resource) else known


def check(job: Job, spec: JobSpec, cluster: ClusterProfile) -> Iterator[Problem]:
    """Yield what no pool of the profile takes, for each role, and a job of more nodes than there is room for."""
    if not cluster.spec.node_pools or job.runtime is not None:
        return
    pools = [_pool(name, pool, cluster) for name, pool in cluster.spec.node_pools.items()]
    told: set[Path] = set()
    room: list[int | None] = []
    for role in job.roles:
        asks = _asks(role.template, job, cluster)
        open_to = [one for one in pools if _why_not(one, role.template) is None]
        found = list(_of_role(role, asks, open_to, pools, spec, cluster))
        yield from [one for one in found if one.path not in told]
        told.update(one.path for one in found)
        if role.trains:
            room.append(None if found else _room(asks, open_to))
    if not told and None not in room:
        yield from _all_nodes(job, min(one for one in room if one is not None), cluster)


def _pool(name: str, pool: NodePool, cluster: ClusterProfile) -> _Pool:
    """A pool of the profile's, with what the catalogue knows of its machine."""
    known = by_name().get(pool.machine or "")
    labels: dict[str, str] = {"node.kubernetes.io/instance-type": pool.machine} if pool.machine else {}
    amounts: dict[str, int] = {}
    if known is not None:
        entry = hardware.built_in_accelerator(known.accelerator, cluster.spec.cloud)
        labels |= entry.node_labels if entry is not None and cluster.spec.cloud == known.cloud else {}
        amounts = {what: left_of(known.machine, what, known.cloud) for what in ("cpu", "memory")}
        if entry is not None and entry.resource_name:
            amounts[entry.resource_name] = known.machine.devices * NANO
        for fabric, count in known.machine.fabrics.items():
            if resource := hardware.counted_resource(fabric, known.cloud):
                amounts[resource] = count * NANO
    said = {key: quantity.parse(text) for key, text in as_text(pool.allocatable).items()}
    amounts |= {key: amount.nano for key, amount in said.items() if amount is not None}
    return _Pool(name, pool, {**labels, **pool.labels}, amounts)


def _asks(template: PodTemplate, job: Job, cluster: ClusterProfile) -> dict[str, Quantity]:
    """What a pod asks for: all of its containers, claimed accelerators too."""
    sidecars = [(one.get("resources") or {}).get("requests") or {} for one in template.sidecars]
    total: dict[str, Quantity] = {}
    for amounts in (template.main.resources.requests, *sidecars):
        for name, text in amounts.items():
            amount = quantity.parse(text)
            if amount is not None:
                total[name] = total[name] + amount if name in total else amount
    if claimed := accelerators_in(job.claims, template.extra):
        total[hardware.gpu_resource(cluster, job.accelerator)] = Quantity(claimed * NANO)
    return total


def _why_not(one: _Pool, template: PodTemplate) -> str | None:
    """Why the pods of a template may not run on a pool's nodes."""
    spec = pod_template.written(template)["spec"]
    if not admits(spec, one.labels):
        return "has other labels"
    for taint in one.pool.taints:
        if taint.effect != "PreferNoSchedule" and not tolerates(spec, taint.key, taint.value, taint.effect):
            return f"has the taint {taint.key}={taint.value}:{taint.effect}"
    return None


def _of_role(
    role: Role,
    asks: Mapping[str, Quantity],
    open_to: list[_Pool],
    pools: list[_Pool],
    spec: JobSpec,
    cluster: ClusterProfile,
) -> Iterator[Problem]:
    """The first thing of a role's pods that no pool has, in the order accelerators, then the others."""
    if not open_to:
        reasons = "; ".join(f"{one.name} {_why_not(one, role.template)}" for one in pools)
        path: Path = ("spec", "accelerator") if "accelerator" in spec.model_fields_set else ("spec",)
        message = f"no node pool of the profile {cluster.metadata.name!r} takes these pods: {reasons}"
        yield _error("fits-no-machine", path, message, "tolerate the taint, or name another accelerator or pool")
        return
    rest = open_to
    for name in sorted(asks, key=lambda one: (not hardware.is_accelerator(cluster, one), one)):
        wanted = asks[name].nano
        amounts = {one.name: one.has(name) for one in rest}
        enough = [one for one in rest if (have := amounts[one.name]) is None or have >= wanted]
        if enough:
            rest = enough
            continue
        most = max(rest, key=lambda one: amounts[one.name] or 0)
        has = Quantity(amounts[most.name] or 0, asks[name].format)
        at = _path(role, name, spec)
        message = f"{asks[name]}: no node pool open to these pods has more than {has} allocatable ({most.name})"
        yield _error("fits-no-machine", at, message, f"request at most {has} per node")
        return


def _room(asks: Mapping[str, Quantity], pools: list[_Pool]) -> int | None:
    """For how many such pods all pools together have room; None for any number."""
    total = 0
    for one in pools:
        each = [have // ask.nano for name, ask in asks.items() if ask and (have := one.has(name)) is not None]
        if one.pool.count is None or not each:
            return None
        total += one.pool.count * min(each)
    return total


def _all_nodes(job: Job, room: int, cluster: ClusterProfile) -> Iterator[Problem]:
    if job.most_nodes <= room:
        return
    least = job.min_nodes > room
    path: Path = ("spec", "elastic", "nnodes") if job.elastic else ("spec", "nodes")
    many = f"{job.min_nodes} nodes" if least else f"up to {job.most_nodes} nodes"
    message = f"{many}, but the node pools of the profile {cluster.metadata.name!r} have room for only {room}"
    text = f"{field_path(path)}: {message}"
    help = f"use at most {room} nodes, or request less per node"
    severity = "error" if least else "warning"
    yield problem("larger-than-pools", path, text, help, severity=severity, stage="run")  # type: ignore[arg-type]


def _path(role: Role, name: str, spec: JobSpec) -> Path:
    """Where the spec asks for an amount of a role's; the spec itself where a default does."""
    own: list[Path] = [(role.name,), ()] if role.name in {"master", "worker"} else [()]
    written = {path[1:]: fields.resources for path, fields in blocks(spec)}
    for block in own if role.trains else [("roles", role.name)]:
        resources = written.get(block)
        for half in ("requests", "limits", "") if resources is not None else ():
            amounts: ResourceList = getattr(resources, half) if half else resources  # type: ignore[assignment]
            if word := _word(amounts, name):
                return ("spec", *block, "resources", *((half,) if half else ()), *word)
    return ("spec",)


def _word(amounts: ResourceList, name: str) -> Path:
    """Return the word under which a list of amounts gives a resource; nothing if it does not."""
    words: list[tuple[Path, object]] = [((name,), getattr(amounts, name, None) if name in {"cpu", "memory"} else None)]
    words.append((("devices", name), amounts.devices.get(name)))
    words += [(("gpu",), amounts.gpu)] if is_accelerator(name) else []
    words += [(("ephemeralStorage",), amounts.ephemeral_storage)] if name == "ephemeral-storage" else []
    return next((word for word, amount in words if amount is not None), ())


def _error(name: str, path: Path, message: str, help: str) -> Problem:
    return problem(name, path, f"{field_path(path)}: {message}", help, stage="run")
