"""The accelerators of a spec: whether there are some of that name, and against the processes that torchrun starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.amounts import Part, Parts, gpus_per_node
from ptcompile.frontends.errors import bad, conflict, problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.accelerators import is_cuda
from ptcompile.typed import NamedTuple
from ptcompile.vocabulary.cluster import hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import JobSpec

_NPROC: Path = ("spec", "elastic", "nprocPerNode")
_ACCELERATOR: Path = ("spec", "accelerator")
_SHOWN = 12
"""Slices that a message lists: a TPU has hundreds of topologies."""


class _Node(NamedTuple):
    """What a node of one part has."""

    path: Path
    devices: int
    processes: int
    """How many processes the devices take."""
    limits: frozenset[str]


def unknown(name: str, cluster: ClusterProfile) -> Problem:
    """Why an accelerator's name means nothing here, with the names that are near."""
    from ptcompile.catalogue import accelerators
    from ptcompile.catalogue.vendors import ANYWHERE

    own, cloud = cluster.spec.accelerators, cluster.spec.cloud or ANYWHERE
    row, part = accelerators.row_of(name)
    base = name.partition("/")[0]
    if row is not None and cloud not in row.nodes:
        clouds = ", ".join(one for one in row.nodes if one) or "none of the clouds"
        if cloud:
            return bad(_ACCELERATOR, f"{base!r} is not on {cloud}", f"it is available on {clouds}")
        message = f"{base!r} can be identified only by a cloud's labels"
        return bad(_ACCELERATOR, message, f"add spec.cloud to the profile: {clouds}")
    if row is not None:
        slices, where = row.slices_in(cloud), f" on {cloud}" if part in row.slices else ""
        shown = (*slices[:_SHOWN], "...") if len(slices) > _SHOWN else slices
        help = f"its slices are {', '.join(shown)}" if slices else f"write {base}"
        return bad(_ACCELERATOR, f"{base!r} has no slice {part!r}{where}", help)
    message = f"{name!r} is not in the catalogue of the profile {cluster.metadata.name!r}, and not built in"
    near, known = _near(name, own, cloud), ", ".join([*sorted(own), *accelerators.names(cloud)])
    return bad(_ACCELERATOR, message, f"did you mean {' or '.join(near)}?" if near else f"there are {known}")


def _near(name: str, own: Iterable[str], cloud: str) -> list[str]:
    """The profile's own name that may have been meant, else the built-in ones that hold the word or are like it."""
    from ptcompile.catalogue import accelerators

    if mine := names.suggest(name, own):
        return [mine]
    holding = [one for one in accelerators.names(cloud) if name and name.lower() in one]
    like = names.suggest(name, accelerators.names(cloud, slices=True))
    return holding[:4] or ([like] if like else [])


def devices(parts: Parts) -> Iterator[Problem]:
    """Yield every contradiction between accelerators, their name and the processes."""
    job, cluster = parts.job, parts.cluster
    if job.accelerator is None and job.script is None and job.module is None:
        return
    nodes = [_node(part, job.accelerator, cluster) for part in parts.nodes]
    if hardware.accelerator(cluster, job.accelerator) is not None:
        others = (gpus_per_node(part, cluster) for part in parts.every if part.beside)
        if not any((*(node.devices for node in nodes), *others)):
            message = f"{job.accelerator} is set, but no node requests a GPU"
            yield conflict(_ACCELERATOR, message, "add resources.gpu, or remove accelerator")
        yield from _topology(job, nodes, cluster)
    if job.script is not None or job.module is not None:
        yield from _processes(job, nodes, cluster)


def _node(part: Part, accelerator: str | None, cluster: ClusterProfile) -> _Node:
    limits = part.amounts.limits
    devices = {name: amount for name, amount in limits.items() if hardware.is_accelerator(cluster, name)}
    count = hardware.accelerators_in(cluster, devices)
    processes = count if accelerator is None else hardware.processes_in(cluster, devices, accelerator)
    return _Node(part.path, count, processes, frozenset(devices))


def _processes(job: JobSpec, nodes: Sequence[_Node], cluster: ClusterProfile) -> Iterator[Problem]:
    """Devices against the processes that torchrun starts on every node."""
    yield from _slices(job, nodes, cluster)
    if job.elastic is None:
        if len({node.devices for node in nodes}) > 1:
            shown = ", ".join(f"{node.path[-1]} {node.devices}" for node in nodes)
            message = f"the roles have different numbers of GPUs ({shown}), but torchrun runs as many processes on each"
            help = "add elastic.nprocPerNode, or give both roles the same number"
            yield _run("more-processes-than-gpus", (*nodes[0].path, "resources"), message, help)
        return
    nproc, known = job.elastic.nproc_per_node, hardware.accelerator(cluster, job.accelerator) is not None
    if job.accelerator is not None and not known and isinstance(nproc, int):
        return  # how many processes a device takes is unknown
    least, most = min(nodes, key=lambda node: node.processes), max(node.processes for node in nodes)
    if nproc == "gpu":
        yield from _counted(nodes, hardware.gpu_resource(cluster, job.accelerator))
    elif isinstance(nproc, int) and most and nproc > least.processes:
        message = f"{nproc} {_plural(nproc, 'process', 'es')} on {_shown(least)}"
        each = least.processes // least.devices if least.devices else 1
        wanted = -(-nproc // each)
        help = f"ask for {wanted} GPUs" + (f", or run {least.processes}" if least.devices else " on every node")
        yield _run("more-processes-than-gpus", _NPROC, message, help)
    elif isinstance(nproc, int) and nproc < least.processes and not _one_drives_all(job, nproc, cluster):
        message = f"{nproc} {_plural(nproc, 'process', 'es')} on {_shown(least)}"
        if least.processes == least.devices:
            message = f"{nproc} of {least.devices} GPUs of a node are used"
        yield _run("idle-gpus", _NPROC, message, f"write nprocPerNode: {least.processes}", severity="warning")


def _counted(nodes: Sequence[_Node], gpu: str) -> Iterator[Problem]:
    """`gpu` makes torchrun ask CUDA, and stop where it has no device."""
    resources = {gpu if name == "gpu" else name for node in nodes for name in node.limits}
    other = next((name for name in sorted(resources) if not is_cuda(name)), None)
    if not min(node.devices for node in nodes):
        message = "gpu counts the node's GPUs, and a node requests none"
        yield _run("more-processes-than-gpus", _NPROC, message, "add resources.gpu")
    elif other is not None:
        message = f"gpu counts CUDA devices, and {other} is not one: torchrun stops"
        yield _run("more-processes-than-gpus", _NPROC, message, "write auto, or remove it")


def _one_drives_all(job: JobSpec, nproc: int, cluster: ClusterProfile) -> bool:
    entry = hardware.accelerator(cluster, job.accelerator)
    return nproc == 1 and entry is not None and entry.one_drives_all


def _slices(job: JobSpec, nodes: Sequence[_Node], cluster: ClusterProfile) -> Iterator[Problem]:
    """Several MIG slices in one pod: CUDA shows a process the first alone (NVIDIA MIG user guide, R570)."""
    entry = hardware.accelerator(cluster, job.accelerator)
    labels = entry.node_labels if entry is not None else {}
    resource = hardware.gpu_resource(cluster, job.accelerator)
    for node in nodes:
        resource_names = {resource if name == "gpu" else name for name in node.limits}
        mig = any(name.startswith("nvidia.com/mig-") for name in resource_names)
        cut = any(key.endswith("/gke-gpu-partition-size") for key in labels) and resource in resource_names
        wanted = job.elastic.nproc_per_node if job.elastic is not None else node.processes
        if (mig or cut) and node.devices > 1 and wanted != 1:
            message = f"{node.devices} MIG slices in a pod, but CUDA shows each of its processes only the first"
            help = "request one slice per node, on more nodes"
            yield _run("several-mig-slices", (*node.path, "resources"), message, help, severity="warning")


def _topology(job: JobSpec, nodes: Sequence[_Node], cluster: ClusterProfile) -> Iterator[Problem]:
    """The chips of a TPU slice, which starts only when every one of its hosts runs (GKE, plan TPUs)."""
    entry = hardware.accelerator(cluster, job.accelerator)
    shape = entry.node_labels.get("cloud.google.com/gke-tpu-topology") if entry is not None else None
    sides = (shape or "").split("x")
    if entry is None or len(nodes) != 1 or not all(side.isdecimal() and side.isascii() for side in sides):
        return
    chips, (least, most) = prod(int(side) for side in sides), job.node_range()
    asked = most * nodes[0].devices
    if asked and (asked % chips or least != most):
        given = f"{most} {_plural(most, 'node')} of {nodes[0].devices}"
        message = f"a slice {shape} is {chips} chips, and {given} are {asked}"
        help = "a slice runs only when all of its hosts do: request all of its chips and nodes"
        yield _run("idle-gpus", _ACCELERATOR, message, help, severity="warning")


def _shown(node: _Node) -> str:
    """What a node has, as torchrun's processes see it."""
    if node.processes == node.devices:
        return f"a node with {node.devices} {_plural(node.devices, 'GPU')}"
    return f"a node whose {node.devices} {_plural(node.devices, 'device')} take {node.processes}"


def _run(name: str, path: Path, message: str, help: str, severity: Literal["error", "warning"] = "error") -> Problem:
    text = f"{field_path(path)}: {message}"
    return problem(name, path, text, help, severity=severity, stage="run", authority="torchrun")


def _plural(n: int, word: str, ending: str = "s") -> str:
    return word if n == 1 else word + ending
