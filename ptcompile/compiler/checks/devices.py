"""Checks of resource amounts, accelerators, processes per node and the fabric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import prod

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import closest_match, is_short_number, pluralize
from ptcompile.compiler.checks.fabrics import misplaced_fabric
from ptcompile.compiler.frontend.errors import conflict, invalid_field, problem
from ptcompile.compiler.frontend.parts import SpecPart, SpecParts, gpus_per_node, total_quantity
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Job
from ptcompile.kubernetes.resources import is_cuda, never_shared
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec


def amounts(parts: SpecParts) -> Problems:
    """Yield an error or a warning for each contradiction between the resource amounts of a spec."""
    job = parts.job
    gpu = hardware.gpu_resource(parts.cluster, parts.job.accelerator)
    for part in parts.every:
        if not part.fields.resources.model_fields_set:
            continue
        block = part.fields.resources
        levels = ((block, ()), (block.requests, ("requests",)), (block.limits, ("limits",)))
        for resources, half in levels:
            if resources.gpu is not None and gpu in resources.devices:
                path = (*part.path, "resources", *half)
                yield conflict(
                    (*path, "devices", gpu), "gpu requests the same resource", "set it once"
                )
        yield from _check_requests_and_limits(part)

    if isinstance(job.shared_memory, str):
        for part in parts.nodes:
            yield from _check_shared_memory(job.shared_memory, part)


def _check_requests_and_limits(part: SpecPart) -> Problems:
    """Yield an error if requests and limits contradict each other within one part."""
    path = (*part.path, "resources")
    resources = part.fields.resources
    requests, limits, nulls = part.own_amounts
    for half_name, name in sorted(nulls):
        are_both_null = {("requests", name), ("limits", name)} <= nulls
        if (name == "gpu" or never_shared(name)) and not are_both_null:
            kept = f"null keeps the {half_name[:-1]} of {name} empty"
            message = f"{kept}, but Kubernetes requires request and limit to be equal"
            help = f"remove it, or write null for {name} under resources"
            yield problem(
                "gpu-request-differs-from-limit",
                (*path, half_name, *amount_key(name)),
                message,
                help,
            )

    for name in {**requests, **limits}:
        request = requests.get(name, limits.get(name, "0"))
        limit = limits.get(name, requests.get(name, "0"))
        is_device = name == "gpu" or "/" in name
        is_split = is_device and not total_quantity(request).is_integer
        if request == limit and not is_split:
            continue

        half = "requests" if name in requests else "limits"
        amount_path = (*path, *amount_key(name))
        if name in getattr(resources, half).amounts_by_name():
            amount_path = (*path, half, *amount_key(name))
        if is_split:
            yield invalid_field(
                amount_path, f"{request!r}: devices cannot be split", "give a whole number"
            )
        elif is_device and total_quantity(request) != total_quantity(limit):
            message = f"{request} must equal the limit, {limit}: devices cannot be shared"
            yield problem(
                "gpu-request-differs-from-limit",
                amount_path,
                message,
                f"request {name} once, under resources",
            )
        elif total_quantity(request) > total_quantity(limit):
            message = f"{request} is above the limit, {limit}"
            yield problem(
                "request-above-limit", amount_path, message, "lower the request or raise the limit"
            )


def amount_key(name: str) -> Path:
    """Return the spec's key for a Kubernetes resource."""
    if name in {"cpu", "memory", "gpu"}:
        return (name,)
    if name == "ephemeral-storage":
        return ("ephemeralStorage",)
    return ("devices", name)


def _check_shared_memory(size: str, part: SpecPart) -> Problems:
    limit = part.amounts.limits.get("memory")
    if limit is not None and total_quantity(size) > total_quantity(limit):
        whose = "" if part.path == ("spec",) else f" of {part.path[-1]}"
        yield problem(
            "shm-above-memory-limit",
            ("spec", "sharedMemory"),
            f"{size} is above the memory limit{whose}, {limit}, so the pod is killed first",
            "raise the memory limit or lower the size: shared memory counts as memory",
            severity="warning",
            stage="run",
            authority="kubelet",
        )


_NPROC = ("spec", "elastic", "nprocPerNode")
_ACCELERATOR = ("spec", "accelerator")
_MAX_LISTED_SLICES = 12
"""Number of slices that a message lists: a TPU has hundreds of topologies."""


class _Node(NamedTuple):
    """The devices of a node of one part."""

    path: Path
    devices: int
    processes: int
    """Number of processes that the devices take."""
    limits: frozenset[str]


def unknown_accelerator(name: str, cluster: ClusterProfile) -> Problem:
    """Return the error for an unknown accelerator name, with similar names."""
    from ptcompile.hardware import accelerators
    from ptcompile.hardware.nodes import ANYWHERE

    profile_accelerators = cluster.spec.accelerators
    cloud = cluster.spec.cloud or ANYWHERE
    row, slice_name = accelerators.row_of(name)
    base, _, _ = name.partition("/")
    if row is not None and cloud not in row.nodes:
        clouds = (
            ", ".join(node_cloud for node_cloud in row.nodes if node_cloud) or "none of the clouds"
        )
        if cloud:
            return invalid_field(
                _ACCELERATOR, f"{base!r} is not on {cloud}", f"it is available on {clouds}"
            )
        message = f"{base!r} can be identified only by a cloud's labels"
        return invalid_field(_ACCELERATOR, message, f"add spec.cloud to the profile: {clouds}")
    if row is not None:
        slices = row.slices_in(cloud)
        where = f" on {cloud}" if slice_name in row.slices else ""
        listed = slices
        if len(slices) > _MAX_LISTED_SLICES:
            listed = (*slices[:_MAX_LISTED_SLICES], "...")
        help = f"use one of its slices: {', '.join(listed)}" if slices else f"write {base}"
        return invalid_field(_ACCELERATOR, f"{base!r} has no slice {slice_name!r}{where}", help)

    message = (
        f"{name!r} is neither in the catalog of the profile {cluster.metadata.name!r} nor built in"
    )
    suggestions = _similar_accelerators(name, profile_accelerators, cloud)
    names = ", ".join([*sorted(profile_accelerators), *accelerators.names(cloud)])

    return invalid_field(
        _ACCELERATOR,
        message,
        f"did you mean {' or '.join(suggestions)}?" if suggestions else f"use one of {names}",
    )


def _similar_accelerators(name: str, profile_names: Iterable[str], cloud: str) -> list[str]:
    """Return the names that a user may have meant: the profile's, else a product's, else similar
    built-in ones.
    """
    from ptcompile.hardware import accelerators, products

    if match := closest_match(name, profile_names):
        return [match]

    offered = [*accelerators.names(cloud)]
    if product_names := products.accelerators_named(name):
        return [built_in for built_in in product_names if built_in in offered] or [*product_names]
    if products.is_other_product(name):
        return []

    matches = [built_in for built_in in offered if name and name.lower() in built_in]
    similar = closest_match(name, accelerators.names(cloud, slices=True))

    return matches[:4] or ([similar] if similar else [])


def devices(parts: SpecParts) -> Problems:
    """Yield contradictions between the accelerator's name, the device amounts and the number of
    processes.
    """
    job = parts.job
    cluster = parts.cluster
    has_entry = job.script is not None or job.module is not None
    is_counted = has_entry or (job.elastic is not None and job.elastic.nproc_per_node is None)
    if job.accelerator is None and not is_counted:
        return

    nodes = [_node(part, job.accelerator, cluster) for part in parts.nodes]
    if hardware.accelerator(cluster, job.accelerator) is not None:
        auxiliary_counts = (
            gpus_per_node(part, cluster) for part in parts.every if part.is_auxiliary
        )
        if not any((*(node.devices for node in nodes), *auxiliary_counts)):
            message = f"{job.accelerator} is set, but no node requests a GPU"
            yield conflict(_ACCELERATOR, message, "add resources.gpu, or remove accelerator")
        yield from _check_tpu_topology(job, nodes, cluster)
    if is_counted:
        yield from _check_processes(job, nodes, cluster)


def _node(part: SpecPart, accelerator: str | None, cluster: ClusterProfile) -> _Node:
    """Return how many devices and processes a node of a block has."""
    devices = {
        name: amount
        for name, amount in part.amounts.limits.items()
        if hardware.is_accelerator(cluster, name)
    }
    count = hardware.count_accelerators(cluster, devices)
    processes = count
    if accelerator is not None:
        processes = hardware.count_processes(cluster, devices, accelerator)

    return _Node(part.path, count, processes, frozenset(devices))


def _check_processes(job: JobSpec, nodes: Sequence[_Node], cluster: ClusterProfile) -> Problems:
    """Yield contradictions between the devices and the processes that torchrun starts on each
    node.
    """
    yield from _check_mig_slices(job, nodes, cluster)
    nproc = job.elastic.nproc_per_node if job.elastic is not None else None
    if nproc is None:
        if len({node.devices for node in nodes}) > 1:
            counts = ", ".join(f"{node.path[-1]} {node.devices}" for node in nodes)
            message = (
                f"the roles have different numbers of GPUs ({counts}), "
                "but torchrun runs the same number of processes on each"
            )
            help = "add elastic.nprocPerNode, or give both roles the same number"
            yield _run_problem(
                "more-processes-than-gpus", (*nodes[0].path, "resources"), message, help
            )

        return

    if nproc == "gpu":
        yield from _check_gpu_count(nodes, hardware.gpu_resource(cluster, job.accelerator))
    if not isinstance(nproc, int):
        return

    entry = hardware.accelerator(cluster, job.accelerator)
    if job.accelerator is not None and entry is None:
        return  # how many processes a device takes is unknown

    one_drives_all = nproc == 1 and entry is not None and entry.one_drives_all
    least = min(nodes, key=lambda node: node.processes)
    most = max(node.processes for node in nodes)
    message = f"{pluralize(nproc, 'process', 'es')} on {_describe_node(least)}"
    if most and nproc > least.processes:
        per_device = least.processes // least.devices if least.devices else 1
        gpus = -(-nproc // per_device)
        help = f"request {gpus} GPUs" + (
            f", or run {least.processes}" if least.devices else " on every node"
        )
        yield _run_problem("more-processes-than-gpus", _NPROC, message, help)
    elif nproc < least.processes and not one_drives_all:
        if least.processes == least.devices:
            message = f"{nproc} of {least.devices} GPUs of a node are used"
        yield _run_problem(
            "idle-gpus",
            _NPROC,
            message,
            f"write nprocPerNode: {least.processes}",
            severity="warning",
        )


def _check_gpu_count(nodes: Sequence[_Node], gpu: str) -> Problems:
    """Yield an error if `nprocPerNode: gpu` fails: torchrun then counts CUDA devices and exits
    if there are none.
    """
    resources = {gpu if name == "gpu" else name for node in nodes for name in node.limits}
    foreign_resource = next((name for name in sorted(resources) if not is_cuda(name)), None)
    if not min(node.devices for node in nodes):
        message = "gpu counts the node's GPUs, but a node requests none"
        yield _run_problem("more-processes-than-gpus", _NPROC, message, "add resources.gpu")
    elif foreign_resource is not None:
        message = f"gpu counts CUDA devices, but {foreign_resource} is not one: torchrun exits"
        yield _run_problem("more-processes-than-gpus", _NPROC, message, "write auto, or remove it")


def _check_mig_slices(job: JobSpec, nodes: Sequence[_Node], cluster: ClusterProfile) -> Problems:
    """Yield a warning for several MIG slices in a pod: CUDA shows a process only one (NVIDIA MIG
    user guide, R570).
    """
    entry = hardware.accelerator(cluster, job.accelerator)
    labels = entry.node_labels if entry is not None else {}
    resource = hardware.gpu_resource(cluster, job.accelerator)
    for node in nodes:
        resource_names = {resource if name == "gpu" else name for name in node.limits}
        has_mig_resource = any(name.startswith("nvidia.com/mig-") for name in resource_names)
        has_partition_label = (
            any(key.endswith("/gke-gpu-partition-size") for key in labels)
            and resource in resource_names
        )

        process_count = (job.elastic and job.elastic.nproc_per_node) or node.processes
        if (has_mig_resource or has_partition_label) and node.devices > 1 and process_count != 1:
            message = (
                f"{node.devices} MIG slices in a pod, but CUDA shows each of its processes only "
                "the first"
            )
            help = "request one slice per node, on more nodes"
            yield _run_problem(
                "several-mig-slices", (*node.path, "resources"), message, help, severity="warning"
            )


def _check_tpu_topology(job: JobSpec, nodes: Sequence[_Node], cluster: ClusterProfile) -> Problems:
    """Yield a warning if a job uses part of a TPU slice, which starts only if all its hosts run
    (GKE, plan TPUs).
    """
    entry = hardware.accelerator(cluster, job.accelerator)
    if entry is None or len(nodes) != 1:
        return
    shape = entry.node_labels.get("cloud.google.com/gke-tpu-topology", "")
    sides = shape.split("x")
    if not all(is_short_number(side) for side in sides):
        return

    [node] = nodes
    least, most = job.node_range()
    chips = prod(int(side) for side in sides)
    requested = most * node.devices
    if requested and (requested % chips or least != most):
        verb = "makes" if most == 1 else "make"
        message = (
            f"a {shape} slice has {chips} chips, but {pluralize(most, 'node')} of {node.devices} "
            f"{verb} {requested}"
        )
        help = "request all chips and nodes of the slice, which starts only if all its hosts run"
        yield _run_problem("idle-gpus", _ACCELERATOR, message, help, severity="warning")


def _describe_node(node: _Node) -> str:
    """Return a node's devices in words, as torchrun's processes see them."""
    if node.processes == node.devices:
        return f"a node with {pluralize(node.devices, 'GPU')}"
    takes = "device takes" if node.devices == 1 else "devices take"
    return f"a node whose {node.devices} {takes} {node.processes}"


_run_problem = partial(problem, stage="run", authority="torchrun")


def fabric(parts: SpecParts) -> Problems:
    """Yield an error for an unknown or misplaced fabric, and a warning if its number of devices
    is unknown.
    """
    job = parts.job
    cluster = parts.cluster
    if job.fabric is None:
        return

    path = ("spec", "fabric")
    if hardware.fabric(cluster, job.fabric) is None:
        from ptcompile.hardware.fabrics import FABRICS
        from ptcompile.hardware.products import fabrics_named

        names = sorted({*cluster.spec.fabrics, *FABRICS})
        suggestion = " or ".join(fabrics_named(job.fabric)) or closest_match(job.fabric, names)
        message = (
            f"{job.fabric!r} is neither a fabric of the profile {cluster.metadata.name!r} nor "
            "built in"
        )
        yield invalid_field(
            path,
            message,
            f"did you mean {suggestion}?" if suggestion else f"use one of {', '.join(names)}",
        )
        return
    if misplaced_problems := list(misplaced_fabric(parts)):
        yield from misplaced_problems
        return

    yield from _check_compute_domain(parts)
    counted = hardware.per_machine_resource(cluster, job.fabric)
    if not counted:
        return

    entry = hardware.accelerator(cluster, job.accelerator)
    least = hardware.fabric_amounts(cluster, job.fabric, None, 0).get(counted)
    whole = None
    if entry is not None and hardware.fabric_devices(cluster, job.fabric, entry) is not None:
        whole = entry.devices_per_node
    for part in parts.nodes:
        if counted in part.amounts.limits:
            continue
        if whole is None or gpus_per_node(part, cluster) < whole:
            message = f"{least} {counted} per node, since the number on its machines is unknown"
            help = f"write resources.devices[{counted}], or name the accelerator of a whole node"
            yield _fabric_problem(path, message, help)
            return
        if job.accelerator and job.accelerator not in cluster.spec.accelerators:
            yield from _check_unequal_machines(job.accelerator, job.fabric, counted, cluster)
            return


def _check_compute_domain(parts: SpecParts) -> Problems:
    """Yield a warning for a ComputeDomain without NVLink between nodes, larger than a rack, or with
    two pods on a node.

    A node gives only one pod its channel; a second pod waits for it (dra-driver-nvidia-gpu,
    compute-domain-kubelet-plugin).
    """
    job = parts.job
    cluster = parts.cluster
    definition = hardware.fabric(cluster, job.fabric, job.accelerator)
    if definition is None or not definition.compute_domain:
        return

    entry = hardware.accelerator(cluster, job.accelerator)
    path = ("spec", "fabric")
    if entry is None:
        message = "an NVLink domain needs an accelerator, but none is set"
        yield _fabric_problem(path, message, "add accelerator, such as nvidia-gb200")
        return

    (_, most), rack = job.node_range(), entry.nodes_per_domain
    if rack is None:
        message = (
            f"NVLink of {job.accelerator} does not reach beyond the node, so there is no domain "
            "to join"
        )
        yield _fabric_problem(
            path, message, "use the fabric between the nodes, such as efa or infiniband"
        )
    elif most > rack:
        message = (
            f"{most} nodes, but an NVLink domain has at most {rack}: traffic between domains uses "
            "the other network"
        )
        if job.topology is None:
            help = "or set topology to place them"
        else:
            help = "or expect both networks to be used"
        yield _fabric_problem(path, message, f"use at most {rack} nodes, {help}")

    for part in parts.nodes:
        requested = gpus_per_node(part, cluster)
        whole = entry.devices_per_node
        if whole and 0 < requested < whole:
            message = (
                f"{requested} of a machine's {whole} GPUs, but a node has one channel: a second "
                "pod on it stays Pending"
            )
            yield _fabric_problem(
                (*part.path, "resources"), message, f"request {whole} GPUs per node, on fewer nodes"
            )
            return


def _check_unequal_machines(
    accelerator: str, fabric: str, counted: str, cluster: ClusterProfile
) -> Problems:
    """Yield a warning if machines with the accelerator have more fabric devices than the job
    requests, the minimum.
    """
    from ptcompile.hardware.accelerators import machines_of

    machines = machines_of(accelerator, cluster.spec.cloud)
    counts = {
        machine.name: machine.fabrics[fabric] for machine in machines if fabric in machine.fabrics
    }
    least = min(counts.values(), default=0)
    if larger := {name: count for name, count in counts.items() if count > least}:
        name, count = next(iter(larger.items()))
        message = (
            f"{least} {counted} per node, but {name} has {count}: a job there uses only part of "
            "its bandwidth"
        )
        help = (
            f"for {name} write resources.devices[{counted}]: {count} and its "
            "node.kubernetes.io/instance-type"
        )
        yield _fabric_problem(("spec", "fabric"), message, f"{help}; for the others write {least}")


def incomplete_fabrics(job: Job) -> Iterator[tuple[str, Problem]]:
    """Yield a role of the job after its passes, and a warning, for each part of a fabric that
    lacks the rest.
    """
    from ptcompile.hardware.fabric_gaps import concerns, gaps

    for role in job.training_roles:
        main = role.template.main
        amounts = {*main.resources.requests, *main.resources.limits}
        if not role.template.sidecars and not concerns(main.env, amounts):
            continue
        for gap in gaps(pod_template.write(role.template)):
            yield role.name, _fabric_problem(gap.path, gap.message, gap.help)


_fabric_problem = partial(problem, "partial-fabric", severity="warning", stage="run")
