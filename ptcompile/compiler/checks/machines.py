"""Checks whether a node's amounts fit a machine type, and a job's pods the profile's node pools.

A pod without a fitting machine stays Pending, since no autoscaler can add one. An accelerator of
the profile's own overrides the built-in one without defining machine types, so such jobs are not
checked. Jobs of a profile with node pools are checked against these instead.

Pools are compared with the job after its passes, whose pods show the nodes that they may run on and
what they request. A label that a pool does not list is unknown and assumed to match; unknown
amounts of a pool's nodes are assumed to suffice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.checks.devices import amount_key
from ptcompile.compiler.frontend.errors import problem
from ptcompile.compiler.frontend.parts import SpecPart, SpecParts, total_quantity
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.hardware.machines import (
    DISKS,
    EKS_ROOT_LEFT,
    Ask,
    Machines,
    Misfit,
    find_shared_machine,
    misfits,
    parse_nano as nano,
)
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Job, accelerators_in
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes.nodes import Placement, fits, room_for
from ptcompile.kubernetes.quantity import NANO, Quantity
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec
    from ptcompile.world.nodes import Pools


_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


class _Amount(NamedTuple):
    """An amount of a block: its path, its text and what it takes of a machine."""

    path: Path
    text: str
    ask: Ask


def machine_misfits(parts: SpecParts) -> Problems:
    """Yield an error for amounts that no machine type has, and a warning if they leave too
    little for the kubelet.
    """
    job = parts.job
    cluster = parts.cluster
    from ptcompile.hardware.accelerators import machines_of

    name = job.accelerator or ""
    is_built_in = (
        name not in cluster.spec.accelerators and hardware.accelerator(cluster, name) is not None
    )
    if not is_built_in or cluster.spec.node_pools:
        return

    candidates = machines_of(name, cluster.spec.cloud, largest=False)
    pinned = job.node_selector.get(_INSTANCE_TYPE)
    machines = tuple(machine for machine in candidates if machine.name == pinned) or candidates
    if not machines:
        return

    reported = set()
    for part in parts.nodes:
        for misfit in _check_part(part, job, machines, cluster):
            if misfit.path not in reported:
                reported.add(misfit.path)
                yield misfit


def _check_part(
    part: SpecPart, job: JobSpec, machines: Machines, cluster: ClusterProfile
) -> Problems:
    amounts = _requested_amounts(part, job, cluster)
    cloud = cluster.spec.cloud
    part_misfits = list(misfits([amount.ask for amount in amounts], machines, cloud))
    for misfit in part_misfits:
        amount = next(amount for amount in amounts if amount.ask is misfit.ask)
        yield _misfit_problem(misfit, amount, job.accelerator or "", cloud)
    # a slice is itself a fixed share of its machine
    if not part_misfits and "/" not in (job.accelerator or ""):
        yield from _check_share(amounts, machines, job, cloud)

    yield from _check_disk(part, job, machines, cluster)


def _requested_amounts(part: SpecPart, job: JobSpec, cluster: ClusterProfile) -> list[_Amount]:
    """Return the amounts of a part, accelerators first, since they decide which machine types
    are possible.
    """
    amounts = part.amounts
    gpu_resource = hardware.gpu_resource(cluster, job.accelerator)
    nics = hardware.per_machine_resource(cluster, job.fabric)
    # machines list whole devices, and one device provides several slices
    is_slice = "/" in (job.accelerator or "") and gpu_resource != "google.com/tpu"
    measures = {
        **({} if is_slice else {"gpu": "devices", gpu_resource: "devices"}),
        "cpu": "cpu",
        "memory": "memory",
    }
    if nics is not None and job.fabric:
        measures[nics] = _counted_fabric(job.fabric, cluster)
    requested = []
    for name, measure in measures.items():
        text = amounts.requests.get(name) or amounts.limits.get(name)
        if text is not None:
            requested.append(
                _Amount(
                    _amount_path(part, job, name), text, Ask(measure, total_quantity(text).nano)
                )
            )

    return requested


def _counted_fabric(fabric: str, cluster: ClusterProfile) -> str:
    """Return the fabric whose devices are counted: the named fabric, or the one that it
    includes.
    """
    from ptcompile.hardware.fabrics import FABRICS

    built_in = FABRICS.get(fabric)
    if built_in is not None:
        return built_in.companions.get(cluster.spec.cloud or "", fabric)
    return fabric


def _amount_path(part: SpecPart, job: JobSpec, name: str) -> Path:
    """Return the path that sets an amount, or of the accelerator if the amount is a default."""
    for path, resources in ((part.path, part.fields.resources), (("spec",), job.resources)):
        halves = (
            (("requests",), resources.requests),
            (("limits",), resources.limits),
            ((), resources),
        )
        for half, amounts in halves:
            if amounts.amounts_by_name().get(name) is not None:
                return (*path, "resources", *half, *amount_key(name))
    return ("spec", "accelerator")


def _misfit_problem(misfit: Misfit, amount: _Amount, name: str, cloud: str | None) -> Problem:
    """Return the problem for a misfit, at the line that requests the amount."""
    if misfit.left is not None:
        text = f"{amount.text}: of its {misfit.has}, {misfit.machine} leaves {misfit.left}"
        help = "request less, so that DaemonSets fit too"
        return problem(
            "takes-the-whole-machine",
            amount.path,
            text,
            help,
            severity="warning",
            stage="run",
            authority="kubelet",
        )

    on_cloud = f" on {cloud}" if cloud else ""
    message = (
        f"{amount.text}: no machine with {name}{on_cloud} has more than {misfit.has} "
        f"({misfit.machine})"
    )
    more_nodes = ", on more nodes" if amount.ask.what == "devices" else ""
    help = f"request at most {misfit.has} per node{more_nodes}"

    return problem("fits-no-machine", amount.path, message, help, stage="run")


def _check_share(
    amounts: Sequence[_Amount], machines: Machines, job: JobSpec, cloud: str | None
) -> Problems:
    """Yield a note if a node takes part of its machine's accelerators, so only other pods can
    use the rest.
    """
    shared = find_shared_machine([amount.ask for amount in amounts], machines, cloud)
    devices = next((amount for amount in amounts if amount.ask.what == "devices"), None)
    if shared is None or devices is None:
        return

    requested, (_, nodes) = devices.ask.nano // NANO, job.node_range()
    pods = min(nodes, shared.pods)
    if pods * requested >= shared.devices:
        return

    rest = shared.devices - pods * requested
    used = shared.pods * requested
    used_part = f"uses {requested} of the {shared.devices} accelerators of {shared.machine}"
    message = f"{used_part}; other pods can use the remaining {rest}"
    if used < shared.devices and pods == shared.pods:
        message = (
            f"{shared.machine} fits {pods} of these pods, which leaves {shared.devices - used} "
            "accelerators unusable"
        )
    help = f"request {shared.devices} per node, on fewer nodes"
    yield problem(
        "part-of-a-machine",
        devices.path,
        message,
        help,
        severity="note",
        stage="style",
    )


def _check_disk(
    part: SpecPart, job: JobSpec, machines: Machines, cluster: ClusterProfile
) -> Problems:
    """Yield a warning if ephemeral storage exceeds EKS's default root volume, or the local disks
    elsewhere.
    """
    name = "ephemeral-storage"
    storage = part.amounts.requests.get(name) or part.amounts.limits.get(name)
    disks = {
        machine.name: nano(DISKS[machine.name]) for machine in machines if machine.name in DISKS
    }
    if storage is None or len(disks) < len(machines):
        return

    largest = max(disks, key=disks.__getitem__)
    requested = total_quantity(storage).nano
    if requested > disks[largest]:
        message = f"{largest} has local disks of {DISKS[largest]}"
        help = "mount a volume for the rest"
    elif cluster.spec.cloud == "eks" and requested > nano(EKS_ROOT_LEFT):
        message = f"EKS's default root volume leaves pods {EKS_ROOT_LEFT}"
        help = (
            "create the nodes with a larger root volume, or use their local disks "
            f"({DISKS[largest]}, RAID0)"
        )
    else:
        return

    yield problem(
        "ephemeral-storage-above-disk",
        _amount_path(part, job, name),
        f"{storage}: {message}",
        help,
        severity="warning",
        stage="run",
        authority="kubelet",
    )


def pool_misfits(job: Job, cluster: ClusterProfile) -> Iterator[tuple[str | None, Problem]]:
    """Yield an error for each role that fits no pool of the profile, and for a job with more nodes
    than the pools.

    Each comes with the role whose pod template its path leads into, or None for the spec.
    """
    from ptcompile.world.nodes import misfit_in, pools_of_profile

    pools = pools_of_profile(cluster)
    if pools is None or job.runtime is not None:
        return

    training: list[Placement] = []
    has_misfit = False
    for role in job.roles:
        pod = pod_template.write(role.template)["spec"]
        placement = fits(pod, pools.groups, _claimed_accelerators(role.template, job, cluster))
        misfit = misfit_in(pools, placement)
        if misfit is not None:
            has_misfit = True
            yield (
                role.name,
                problem(
                    "fits-no-machine",
                    ("spec", *misfit.path),
                    misfit.text,
                    misfit.help,
                    severity=misfit.severity,
                    stage="run",
                ),
            )
        if role.trains:
            training.append(placement)

    room = None if has_misfit else room_for(training)
    if room is not None and training:
        for larger in _check_node_count(job, room, pools, cluster):
            yield None, larger


def _claimed_accelerators(
    template: PodTemplate, job: Job, cluster: ClusterProfile
) -> dict[str, Quantity]:
    """Return the accelerators that a pod claims instead of requesting them."""
    claimed = accelerators_in(job.claims, template.extra)
    if claimed:
        return {hardware.gpu_resource(cluster, job.accelerator): Quantity(claimed * NANO)}
    return {}


def _check_node_count(job: Job, room: int, pools: Pools, cluster: ClusterProfile) -> Problems:
    if job.peak_nodes <= room:
        return
    is_certain = job.min_nodes > room
    path = ("spec", "elastic", "nnodes") if job.elastic else ("spec", "nodes")
    count = f"{job.min_nodes} nodes" if is_certain else f"up to {job.peak_nodes} nodes"
    message = (
        f"{count}, but the node pools of the profile {cluster.metadata.name!r} have room for only "
        f"{room}"
    )
    help = f"use at most {room} nodes, or request less per node"
    severity = "error" if is_certain and pools.is_complete else "warning"
    yield problem("larger-than-pools", path, message, help, severity=severity, stage="run")  # type: ignore[arg-type]
