"""Checks whether a node's amounts fit a machine type, and a job's pods the profile's node pools.

A pod without a fitting machine stays Pending, since no autoscaler can add one. An accelerator of the profile's own
overrides the built-in one without defining machine types, so such jobs are not checked. Jobs of a profile with node
pools are checked against these instead.

Pools are compared with the job after its passes, whose pods show the nodes that they may run on and what they request.
A label that a pool does not list is unknown and assumed to match; unknown amounts of a pool's nodes are assumed to
suffice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.frontend.errors import problem
from ptcompile.compiler.frontend.parts import SpecPart, SpecParts, blocks, total_quantity
from ptcompile.diagnostics import Path, Problem
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
from ptcompile.spec.objects import typed_amounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.hardware.machines import Ask, Machines, Misfit
    from ptcompile.spec.base import ResourceList, Resources
    from ptcompile.spec.cluster_profile import ClusterProfile, NodePool
    from ptcompile.spec.training_job import JobSpec


_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


class _Amount(NamedTuple):
    """An amount of a block: its path, its text and what it takes of a machine."""

    path: Path
    text: str
    ask: Ask


def machine_misfits(parts: SpecParts) -> Iterator[Problem]:
    """Yield an error for amounts that no machine type has, and a warning if they leave too little for the kubelet."""
    job, cluster = parts.job, parts.cluster
    from ptcompile.hardware.accelerators import machines_of

    name, cloud = job.accelerator or "", cluster.spec.cloud
    is_built_in = name not in cluster.spec.accelerators and hardware.accelerator(cluster, name) is not None
    if not is_built_in or cluster.spec.node_pools:
        return
    candidates = machines_of(name, cloud, largest=False)
    pinned = job.node_selector.get(_INSTANCE_TYPE)
    machines = tuple(machine for machine in candidates if machine.name == pinned) or candidates
    reported = set()
    for part in parts.nodes if machines else ():
        for misfit in _check_part(part, job, machines, cluster):
            if misfit.path not in reported:
                reported.add(misfit.path)
                yield misfit


def _check_part(part: SpecPart, job: JobSpec, machines: Machines, cluster: ClusterProfile) -> Iterator[Problem]:
    amounts, cloud = _requested_amounts(part, job, cluster), cluster.spec.cloud
    part_misfits = list(misfits([amount.ask for amount in amounts], machines, cloud))
    for misfit in part_misfits:
        amount = next(amount for amount in amounts if amount.ask is misfit.ask)
        yield _misfit_problem(misfit, amount, job.accelerator or "", cloud)
    if not part_misfits and "/" not in (job.accelerator or ""):  # a slice is a defined part of a machine
        yield from _check_share(amounts, machines, job, cloud)
    yield from _check_disk(part, job, machines, cluster)


def _requested_amounts(part: SpecPart, job: JobSpec, cluster: ClusterProfile) -> list[_Amount]:
    """Return the amounts of a part, accelerators first, since they decide which machine types are possible."""
    amounts = part.amounts
    gpu_resource, nics = (
        hardware.gpu_resource(cluster, job.accelerator),
        hardware.per_machine_resource(cluster, job.fabric),
    )
    is_slice = "/" in (job.accelerator or "") and gpu_resource != "google.com/tpu"  # one device provides several slices
    measures = {**({} if is_slice else {"gpu": "devices", gpu_resource: "devices"}), "cpu": "cpu", "memory": "memory"}
    if nics is not None and job.fabric:
        measures[nics] = _counted_fabric(job.fabric, cluster)
    blocks: list[tuple[Path, Resources]] = [(part.path, part.fields.resources), (("spec",), job.resources)]
    requested = []
    for name, measure in measures.items():
        text = amounts.requests.get(name) or amounts.limits.get(name)
        if text is not None:
            requested.append(_Amount(_amount_path(blocks, name), text, Ask(measure, total_quantity(text).nano)))
    return requested


def _counted_fabric(fabric: str, cluster: ClusterProfile) -> str:
    """Return the fabric whose devices are counted: the named fabric, or the one that it includes."""
    from ptcompile.hardware.fabrics import FABRICS

    built_in = FABRICS.get(fabric)
    return built_in.companions.get(cluster.spec.cloud or "", fabric) if built_in is not None else fabric


def _amount_path(blocks: Sequence[tuple[Path, Resources]], name: str) -> Path:
    """Return the path that sets an amount, or of the accelerator if the amount is a default."""
    key: Path = (name,) if name in {"cpu", "memory", "gpu"} else ("devices", name)
    if name == "ephemeral-storage":
        key = ("ephemeralStorage",)
    for path, resources in blocks:
        halves = (("requests", resources.requests), ("limits", resources.limits), ("", resources))
        for half, amounts in halves:
            if amounts.amounts_by_name().get(name) is not None:
                return (*path, "resources", *((half,) if half else ()), *key)
    return ("spec", "accelerator")


def _misfit_problem(misfit: Misfit, amount: _Amount, name: str, cloud: str | None) -> Problem:
    """Return the problem for a misfit, at the line that requests the amount."""
    if misfit.left is not None:
        text = f"{amount.text}: of its {misfit.has}, {misfit.machine} leaves {misfit.left}"
        help = "request less, so that DaemonSets fit too"
        return problem(
            "takes-the-whole-machine", amount.path, text, help, severity="warning", stage="run", authority="kubelet"
        )
    on_cloud = f" on {cloud}" if cloud else ""
    message = f"{amount.text}: no machine with {name}{on_cloud} has more than {misfit.has} ({misfit.machine})"
    more_nodes = ", on more nodes" if amount.ask.what == "devices" else ""
    help = f"request at most {misfit.has} per node{more_nodes}"
    return _error(amount.path, message, help)


def _check_share(amounts: Sequence[_Amount], machines: Machines, job: JobSpec, cloud: str | None) -> Iterator[Problem]:
    """Yield a note if a node takes part of its machine's accelerators, so only other pods can use the rest."""
    shared = find_shared_machine([amount.ask for amount in amounts], machines, cloud)
    devices = next((amount for amount in amounts if amount.ask.what == "devices"), None)
    if shared is None or devices is None:
        return
    requested, (_, nodes) = devices.ask.nano // NANO, job.node_range()
    pods = min(nodes, shared.pods)
    if pods * requested >= shared.devices:
        return
    rest, used = shared.devices - pods * requested, shared.pods * requested
    used_part = f"uses {requested} of the {shared.devices} accelerators of {shared.machine}"
    message = f"{used_part}; other pods can use the remaining {rest}"
    if used < shared.devices and pods == shared.pods:
        message = (
            f"{shared.machine} fits {pods} of these pods, which leaves {shared.devices - used} accelerators unusable"
        )
    help = f"request {shared.devices} per node, on fewer nodes"
    yield problem(
        "part-of-a-machine", devices.path, message, help, severity="note", stage="style", authority="ptcompile"
    )


def _check_disk(part: SpecPart, job: JobSpec, machines: Machines, cluster: ClusterProfile) -> Iterator[Problem]:
    """Yield a warning if ephemeral storage exceeds EKS's default root volume, or the local disks elsewhere."""
    name, cloud = "ephemeral-storage", cluster.spec.cloud
    storage = part.amounts.requests.get(name) or part.amounts.limits.get(name)
    disks = {machine.name: nano(DISKS[machine.name]) for machine in machines if machine.name in DISKS}
    if storage is None or len(disks) < len(machines):
        return
    largest, requested = max(disks, key=disks.__getitem__), total_quantity(storage).nano
    if requested > disks[largest]:
        message, help = f"{largest} has local disks of {DISKS[largest]}", "mount a volume for the rest"
    elif cloud == "eks" and requested > nano(EKS_ROOT_LEFT):
        message = f"EKS's default root volume leaves pods {EKS_ROOT_LEFT}"
        help = f"create the nodes with a larger root volume, or use their local disks ({DISKS[largest]}, RAID0)"
    else:
        return
    path = _amount_path([(part.path, part.fields.resources), (("spec",), job.resources)], name)
    text = f"{storage}: {message}"
    yield problem(
        "ephemeral-storage-above-disk", path, text, help, severity="warning", stage="run", authority="kubelet"
    )


class _CheckedPool(NamedTuple):
    """A node pool with everything known about its nodes."""

    name: str
    pool: NodePool
    labels: Mapping[str, str]
    allocatable: Mapping[str, int]
    """Amounts in nano units, keyed by Kubernetes resource name."""

    def available(self, resource: str) -> int | None:
        """Return the amount that a node leaves to pods, or None if unknown. An accelerator that the pool does not list
        is 0.
        """
        amount = self.allocatable.get(resource)
        return 0 if amount is None and self.allocatable and is_accelerator(resource) else amount


def pool_misfits(job: Job, spec: JobSpec, cluster: ClusterProfile) -> Iterator[Problem]:
    """Yield an error for each role that fits no pool of the profile, and for a job with more nodes than the pools."""
    if not cluster.spec.node_pools or job.runtime is not None:
        return
    pools = [_read_pool(name, pool, cluster) for name, pool in cluster.spec.node_pools.items()]
    reported: set[Path] = set()
    room: list[int | None] = []
    for role in job.roles:
        requests = _pod_requests(role.template, job, cluster)
        open_to = [candidate for candidate in pools if _rejection_reason(candidate, role.template) is None]
        misfits_of_role = list(_check_role(role, requests, open_to, pools, spec, cluster))
        yield from [candidate for candidate in misfits_of_role if candidate.path not in reported]
        reported.update(candidate.path for candidate in misfits_of_role)
        if role.trains:
            room.append(None if misfits_of_role else _count_fitting_pods(requests, open_to))
    if not reported and None not in room:
        yield from _check_node_count(job, min(candidate for candidate in room if candidate is not None), cluster)


def _read_pool(name: str, pool: NodePool, cluster: ClusterProfile) -> _CheckedPool:
    """Return a pool of the profile with what the catalog knows of its machine type."""
    row = machines_by_name().get(pool.machine or "")
    labels: dict[str, str] = {"node.kubernetes.io/instance-type": pool.machine} if pool.machine else {}
    amounts: dict[str, int] = {}
    if row is not None:
        entry = hardware.built_in_accelerator(row.accelerator, cluster.spec.cloud)
        labels |= entry.node_labels if entry is not None and cluster.spec.cloud == row.cloud else {}
        amounts = {measure: allocatable(row.machine, measure, row.cloud) for measure in ("cpu", "memory")}
        if entry is not None and entry.resource_name:
            amounts[entry.resource_name] = row.machine.devices * NANO
        for fabric, count in row.machine.fabrics.items():
            if resource := hardware.counted_resource(fabric, row.cloud):
                amounts[resource] = count * NANO
    explicit = {key: quantity.parse(text) for key, text in typed_amounts(pool.allocatable).items()}
    amounts |= {key: amount.nano for key, amount in explicit.items() if amount is not None}
    return _CheckedPool(name, pool, {**labels, **pool.labels}, amounts)


def _pod_requests(template: PodTemplate, job: Job, cluster: ClusterProfile) -> dict[str, Quantity]:
    """Return the requests of a pod: of all its containers, and claimed accelerators."""
    sidecars = [(sidecar.get("resources") or {}).get("requests") or {} for sidecar in template.sidecars]
    total: dict[str, Quantity] = {}
    for amounts in (template.main.resources.requests, *sidecars):
        for name, text in amounts.items():
            amount = quantity.parse(text)
            if amount is not None:
                total[name] = total[name] + amount if name in total else amount
    if claimed := accelerators_in(job.claims, template.extra):
        total[hardware.gpu_resource(cluster, job.accelerator)] = Quantity(claimed * NANO)
    return total


def _rejection_reason(pool: _CheckedPool, template: PodTemplate) -> str | None:
    """Return why the pods of a template may not run on a pool's nodes, or None if they may."""
    spec = pod_template.write_shared(template)["spec"]
    if not admits(spec, pool.labels):
        return "has other labels"
    for taint in pool.pool.taints:
        if taint.effect != "PreferNoSchedule" and not tolerates(spec, taint.key, taint.value, taint.effect):
            return f"has the taint {taint.key}={taint.value}:{taint.effect}"
    return None


def _check_role(
    role: Role,
    requests: Mapping[str, Quantity],
    open_to: list[_CheckedPool],
    pools: list[_CheckedPool],
    spec: JobSpec,
    cluster: ClusterProfile,
) -> Iterator[Problem]:
    """Yield an error for the first resource, accelerators first, of which no pool has enough for a role's pods."""
    if not open_to:
        reasons = "; ".join(f"{pool.name} {_rejection_reason(pool, role.template)}" for pool in pools)
        path: Path = ("spec", "accelerator") if "accelerator" in spec.model_fields_set else ("spec",)
        message = f"no node pool of the profile {cluster.metadata.name!r} takes these pods: {reasons}"
        yield _error(path, message, "tolerate the taint, or name another accelerator or pool")
        return
    remaining = open_to
    for name in sorted(requests, key=lambda name: (not hardware.is_accelerator(cluster, name), name)):
        requested = requests[name].nano
        amounts = {pool.name: pool.available(name) for pool in remaining}
        sufficient = [pool for pool in remaining if (amount := amounts[pool.name]) is None or amount >= requested]
        if sufficient:
            remaining = sufficient
            continue
        largest = max(remaining, key=lambda pool: amounts[pool.name] or 0)
        limit = Quantity(amounts[largest.name] or 0, requests[name].format)
        path = _spec_path(role, name, spec)
        message = (
            f"{requests[name]}: no node pool open to these pods has more than {limit} allocatable ({largest.name})"
        )
        yield _error(path, message, f"request at most {limit} per node")
        return


def _count_fitting_pods(requests: Mapping[str, Quantity], pools: list[_CheckedPool]) -> int | None:
    """Return how many such pods fit into all pools together, or None if unlimited."""
    total = 0
    for pool in pools:
        fits = [
            available // request.nano
            for name, request in requests.items()
            if request and (available := pool.available(name)) is not None
        ]
        fits_in_node = min(fits, default=None)
        if fits_in_node == 0:
            continue
        if pool.pool.count is None or fits_in_node is None:
            return None
        total += pool.pool.count * fits_in_node
    return total


def _check_node_count(job: Job, room: int, cluster: ClusterProfile) -> Iterator[Problem]:
    if job.peak_nodes <= room:
        return
    is_certain = job.min_nodes > room
    path: Path = ("spec", "elastic", "nnodes") if job.elastic else ("spec", "nodes")
    count = f"{job.min_nodes} nodes" if is_certain else f"up to {job.peak_nodes} nodes"
    message = f"{count}, but the node pools of the profile {cluster.metadata.name!r} have room for only {room}"
    help = f"use at most {room} nodes, or request less per node"
    severity = "error" if is_certain else "warning"
    yield problem("larger-than-pools", path, message, help, severity=severity, stage="run")  # type: ignore[arg-type]


def _spec_path(role: Role, name: str, spec: JobSpec) -> Path:
    """Return the spec path that requests an amount of a role; `spec` itself if a default does."""
    blocks_of_role: list[Path] = [(role.name,), ()] if role.name in {"master", "worker"} else [()]
    resources_by_block = {path[1:]: fields.resources for path, fields in blocks(spec)}
    for block in blocks_of_role if role.trains else [("roles", role.name)]:
        resources = resources_by_block.get(block)
        for half in ("requests", "limits", "") if resources is not None else ():
            amounts: ResourceList = getattr(resources, half) if half else resources  # type: ignore[assignment]
            if key := _amount_key(amounts, name):
                return ("spec", *block, "resources", *((half,) if half else ()), *key)
    return ("spec",)


def _amount_key(amounts: ResourceList, name: str) -> Path:
    """Return the key path under which resources set an amount; empty if they do not."""
    candidates: list[tuple[Path, object]] = [
        ((name,), getattr(amounts, name, None) if name in {"cpu", "memory"} else None)
    ]
    candidates.append((("devices", name), amounts.devices.get(name)))
    candidates += [(("gpu",), amounts.gpu)] if is_accelerator(name) else []
    candidates += [(("ephemeralStorage",), amounts.ephemeral_storage)] if name == "ephemeral-storage" else []
    return next((key for key, amount in candidates if amount is not None), ())


_error = partial(problem, "fits-no-machine", stage="run")
