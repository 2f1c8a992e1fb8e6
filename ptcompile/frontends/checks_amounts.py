"""What a spec asks for, against itself: requests and limits, GPUs and processes, shared memory and the memory limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from ptcompile.cluster import ClusterProfile
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.frontends.amounts import amount, effective, gpus_per_node
from ptcompile.frontends.errors import bad, conflict, problem
from ptcompile.spec import JobSpec, PodFields, SideRole
from ptcompile.vocabulary import ResourceList, Resources

Block = tuple[Path, PodFields]
_NPROC: Path = ("spec", "elastic", "nprocPerNode")


def amounts_of(job: JobSpec, blocks: Sequence[Block], cluster: ClusterProfile) -> Iterator[Problem]:
    """Every contradiction between the amounts of a spec. `blocks` are the job and its roles, with their paths."""
    gpu = (cluster.spec.accelerators.get(job.accelerator or "") or cluster.spec.gpu).resource_name
    for path, fields in blocks:
        for resources, at in _levels(fields.resources, (*path, "resources")):
            if resources.gpu is not None and gpu in resources.devices:
                yield conflict((*at, "devices", gpu or ""), "gpu asks for the same resource", "say it once")
        yield from _halves((*path, "resources"), fields.resources)
    beside = [block for block in blocks if isinstance(block[1], SideRole)]
    nodes = [block for block in blocks[1:] if block not in beside] or blocks[:1]  # where there are roles, they decide
    for path, fields in nodes:
        yield from _shared_memory(path, job, fields, cluster)
    gpus = [(path, gpus_per_node(job, fields, cluster)) for path, fields in nodes]
    others = (gpus_per_node(job, fields, cluster) for _, fields in beside)
    if job.accelerator in cluster.spec.accelerators and not any((*(count for _, count in gpus), *others)):
        message = f"{job.accelerator} is named, and no node asks for a GPU"
        yield conflict(("spec", "accelerator"), message, "add resources.gpu, or remove accelerator")
    if job.script is not None or job.module is not None:
        yield from _processes(job, gpus)


def _levels(resources: Resources, path: Path) -> list[tuple[ResourceList, Path]]:
    return [(resources, path), (resources.requests, (*path, "requests")), (resources.limits, (*path, "limits"))]


def _halves(path: Path, resources: Resources) -> Iterator[Problem]:
    """Requests against limits, as one block gives them."""
    flat = resources.by_name()
    requests = {**flat, **resources.requests.by_name()}
    limits = {**flat, **resources.limits.by_name()}
    for name in dict.fromkeys((*requests, *limits)):
        half: Literal["requests", "limits"] = "requests" if name in requests else "limits"
        at = _place(path, resources, half, name)
        request, limit = requests.get(name, limits.get(name, "0")), limits.get(name, requests.get(name, "0"))
        device = name == "gpu" or "/" in name
        if device and not amount(request).is_integer:
            yield bad(at, f"{request!r}: devices are whole", "give a whole number")
        elif device and amount(request) != amount(limit):
            message = f"{request} is not the limit, {limit}, and devices are not shared"
            yield problem("gpu-request-differs-from-limit", at, message, f"ask for {name} once, under resources")
        elif amount(request) > amount(limit):
            message = f"{request} is above the limit, {limit}"
            yield problem("request-above-limit", at, message, "lower the request or raise the limit")


def _place(path: Path, resources: Resources, half: Literal["requests", "limits"], name: str) -> Path:
    """Where a spec gives an amount: under requests or limits, or plainly."""
    if name in getattr(resources, half).by_name():
        path = (*path, half)
    if name in {"cpu", "memory", "gpu"}:
        return (*path, name)
    return (*path, "ephemeralStorage") if name == "ephemeral-storage" else (*path, "devices", name)


def _shared_memory(path: Path, job: JobSpec, fields: PodFields, cluster: ClusterProfile) -> Iterator[Problem]:
    limit = effective(job, fields, cluster).limits.get("memory")
    size = job.shared_memory
    if isinstance(size, str) and limit is not None and amount(size) > amount(limit):
        whose = "" if path == ("spec",) else f" of {path[-1]}"
        yield problem(
            "shm-above-memory-limit",
            ("spec", "sharedMemory"),
            f"{size} is above the memory limit{whose}, {limit}, which ends the pod first",
            "shared memory counts as memory: raise the limit or lower the size",
            severity="warning",
            stage="run",
            authority="kubelet",
        )


def _processes(job: JobSpec, gpus: Sequence[tuple[Path, int]]) -> Iterator[Problem]:
    """GPUs against the processes that torchrun starts on every node."""
    counts = {count for _, count in gpus}
    if job.elastic is None:
        if len(counts) > 1:
            shown = ", ".join(f"{path[-1]} {count}" for path, count in gpus)
            message = f"the roles have different numbers of GPUs ({shown}), and torchrun runs one number of processes"
            help = "add elastic.nprocPerNode, or give both roles the same"
            yield _run("more-processes-than-gpus", (*gpus[0][0], "resources"), message, help)
        return
    nproc, fewest, most = job.elastic.nproc_per_node, min(counts), max(counts)
    if nproc == "gpu" and not fewest:
        message = "gpu counts the node's GPUs, and a node asks for none"
        yield _run("more-processes-than-gpus", _NPROC, message, "add resources.gpu")
    elif isinstance(nproc, int) and most and nproc > fewest:
        message = f"{nproc} {_plural(nproc, 'process', 'es')} on a node with {fewest} {_plural(fewest, 'GPU')}"
        help = f"ask for {nproc} GPUs, or run {fewest}" if fewest else f"ask for {nproc} GPUs on every node"
        yield _run("more-processes-than-gpus", _NPROC, message, help)
    elif isinstance(nproc, int) and nproc < fewest:
        message = f"{nproc} of {fewest} GPUs of a node are used"
        yield _run("idle-gpus", _NPROC, message, f"write nprocPerNode: {fewest}", severity="warning")


def _run(name: str, path: Path, message: str, help: str, severity: Literal["error", "warning"] = "error") -> Problem:
    text = f"{field_path(path)}: {message}"
    return problem(name, path, text, help, severity=severity, stage="run", authority="torchrun")


def _plural(n: int, word: str, ending: str = "s") -> str:
    return word if n == 1 else word + ending
