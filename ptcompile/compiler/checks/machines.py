"""Whether a node's amounts fit a machine type, and a job's pods the pools of the profile.

A pod for which there is no machine waits forever, and no autoscaler makes one. A profile's own entry of an accelerator
wins over the built-in one, and says nothing of machines: such jobs are not judged. Neither are those of a profile that
names its node pools, which are judged by these.

Pools are held against a job after its passes, whose pods say which nodes they may run on and what they ask for. A label
that a pool does not give is unknown, and taken for one that fits; what no one knows of a pool's nodes they have enough
of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.frontend.errors import problem
from ptcompile.compiler.frontend.parts import SpecPart, SpecParts, blocks, total_quantity
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.hardware.machines import (
    DISKS,
    EKS_ROOT_LEFT,
    Ask,
    allocatable,
    find_shared_machine,
    machines_by_name,
    misfits,
    parse_nano as nano,
)
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Job, Role, accelerators_in
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.pod_spec import admits, tolerates
from ptcompile.kubernetes.quantity import NANO, Quantity
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.spec import devices as hardware
from ptcompile.spec.objects import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.hardware.machines import Ask, Machines, Misfit
    from ptcompile.spec.base import ResourceList, Resources
    from ptcompile.spec.cluster_profile import ClusterProfile, NodePool
    from ptcompile.spec.training_job import JobSpec


_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


class _Said(NamedTuple):
    """An amount of a block: where it is written, and what of a machine it takes."""

    path: Path
    text: str
    ask: Ask


def fit(parts: SpecParts) -> Iterator[Problem]:
    """Yield what no machine has, and what the kubelet keeps."""
    job, cluster = parts.job, parts.cluster
    from ptcompile.hardware.accelerators import machines_of

    name, cloud = job.accelerator or "", cluster.spec.cloud
    known = name not in cluster.spec.accelerators and hardware.accelerator(cluster, name) is not None
    if not known or cluster.spec.node_pools:
        return
    every = machines_of(name, cloud, largest=False)
    pinned = job.node_selector.get(_INSTANCE_TYPE)
    machines = tuple(one for one in every if one.name == pinned) or every
    told = set()
    for part in parts.nodes if machines else ():
        for found in _of_part(part, job, machines, cluster):
            if found.path not in told:
                told.add(found.path)
                yield found


def _of_part(part: SpecPart, job: JobSpec, machines: Machines, cluster: ClusterProfile) -> Iterator[Problem]:

    said, cloud = _said(part, job, cluster), cluster.spec.cloud
    found = list(misfits([one.ask for one in said], machines, cloud))
    for one in found:
        yield _told(one, next(each for each in said if each.ask is one.ask), job.accelerator or "", cloud)
    if not found and "/" not in (job.accelerator or ""):  # a slice says itself how much of a machine it is
        yield from _share(said, machines, job, cloud)
    yield from _disk(part, job, machines, cluster)


def _said(part: SpecPart, job: JobSpec, cluster: ClusterProfile) -> list[_Said]:
    """The accelerators first, since they decide which machines it can be."""
    amounts = part.amounts
    device, nics = hardware.gpu_resource(cluster, job.accelerator), hardware.counted(cluster, job.fabric)
    parts = "/" in (job.accelerator or "") and device != "google.com/tpu"  # slices: several of each device
    words = {**({} if parts else {"gpu": "devices", device: "devices"}), "cpu": "cpu", "memory": "memory"}
    if nics is not None and job.fabric:
        words[nics] = _counted_fabric(job.fabric, cluster)
    blocks: list[tuple[Path, Resources]] = [(part.path, part.fields.resources), (("spec",), job.resources)]
    found = []
    for name, what in words.items():
        text = amounts.requests.get(name) or amounts.limits.get(name)
        if text is not None:
            found.append(_Said(_place(blocks, name), text, Ask(what, total_quantity(text).nano)))
    return found


def _counted_fabric(fabric: str, cluster: ClusterProfile) -> str:
    """The fabric whose devices are counted: that of the name, or the one that comes along with it."""
    from ptcompile.hardware.fabrics import FABRICS

    known = FABRICS.get(fabric)
    return known.beyond.get(cluster.spec.cloud or "", fabric) if known is not None else fabric


def _place(blocks: Sequence[tuple[Path, Resources]], name: str) -> Path:
    """Where an amount is written; the accelerator, whose machines it is held against, where it is a default."""
    word: Path = (name,) if name in {"cpu", "memory", "gpu"} else ("devices", name)
    if name == "ephemeral-storage":
        word = ("ephemeralStorage",)
    for path, resources in blocks:
        halves = (("requests", resources.requests), ("limits", resources.limits), ("", resources))
        for half, amounts in halves:
            if amounts.by_name().get(name) is not None:
                return (*path, "resources", *((half,) if half else ()), *word)
    return ("spec", "accelerator")


def _told(found: Misfit, said: _Said, name: str, cloud: str | None) -> Problem:
    """A misfit at the line that asks for it."""
    if found.left is not None:
        message = f"{said.text}: of its {found.has}, {found.machine} leaves {found.left}"
        text = f"{field_path(said.path)}: {message}"
        help = "request less: DaemonSets need their share too"
        return problem(
            "takes-the-whole-machine", said.path, text, help, severity="warning", stage="run", authority="kubelet"
        )
    where = f" on {cloud}" if cloud else ""
    message = f"{said.text}: no machine with {name}{where} has more than {found.has} ({found.machine})"
    many = ", on more nodes" if said.ask.what == "devices" else ""
    help = f"request at most {found.has} per node{many}"
    return problem("fits-no-machine", said.path, f"{field_path(said.path)}: {message}", help, stage="run")


def _share(said: Sequence[_Said], machines: Machines, job: JobSpec, cloud: str | None) -> Iterator[Problem]:
    """A node that takes a part of its machine's accelerators: what is left of them is of use to other pods alone."""
    found = find_shared_machine([one.ask for one in said], machines, cloud)
    devices = next((one for one in said if one.ask.what == "devices"), None)
    if found is None or devices is None:
        return
    asked, (_, nodes) = devices.ask.nano // NANO, job.node_range()
    here = min(nodes, found.pods)
    if here * asked >= found.devices:
        return
    rest, fill = found.devices - here * asked, found.pods * asked
    message = f"{asked} of the {found.devices} accelerators of {found.machine}, and {rest} are left to other pods"
    if fill < found.devices and here == found.pods:
        message = (
            f"{found.machine} fits {here} of these pods, which leaves {found.devices - fill} accelerators unusable"
        )
    help = f"request {found.devices} per node, on fewer nodes"
    text = f"{field_path(devices.path)}: {message}"
    yield problem("part-of-a-machine", devices.path, text, help, severity="note", stage="style", authority="ptcompile")


def _disk(part: SpecPart, job: JobSpec, machines: Machines, cluster: ClusterProfile) -> Iterator[Problem]:
    """Ephemeral storage beyond what the nodes have: on EKS by default it is the root volume, elsewhere local disks."""
    name, cloud = "ephemeral-storage", cluster.spec.cloud
    asked = part.amounts.requests.get(name) or part.amounts.limits.get(name)
    disks = {one.name: nano(DISKS[one.name]) for one in machines if one.name in DISKS}
    if asked is None or len(disks) < len(machines):
        return
    most, wanted = max(disks, key=disks.__getitem__), total_quantity(asked).nano
    if wanted > disks[most]:
        message, help = f"{most} has local disks of {DISKS[most]}", "mount a volume for the rest"
    elif cloud == "eks" and wanted > nano(EKS_ROOT_LEFT):
        message = f"EKS's default root volume leaves pods {EKS_ROOT_LEFT}"
        help = f"have the nodes made with a larger one, or with their local disks ({DISKS[most]}, RAID0)"
    else:
        return
    at = _place([(part.path, part.fields.resources), (("spec",), job.resources)], name)
    text = f"{field_path(at)}: {asked}: {message}"
    yield problem("ephemeral-storage-above-disk", at, text, help, severity="warning", stage="run", authority="kubelet")


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
    known = machines_by_name().get(pool.machine or "")
    labels: dict[str, str] = {"node.kubernetes.io/instance-type": pool.machine} if pool.machine else {}
    amounts: dict[str, int] = {}
    if known is not None:
        entry = hardware.built_in_accelerator(known.accelerator, cluster.spec.cloud)
        labels |= entry.node_labels if entry is not None and cluster.spec.cloud == known.cloud else {}
        amounts = {what: allocatable(known.machine, what, known.cloud) for what in ("cpu", "memory")}
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
    spec = pod_template.write_shared(template)["spec"]
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
    if job.peak_nodes <= room:
        return
    least = job.min_nodes > room
    path: Path = ("spec", "elastic", "nnodes") if job.elastic else ("spec", "nodes")
    many = f"{job.min_nodes} nodes" if least else f"up to {job.peak_nodes} nodes"
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
