"""What a spec asks for, against itself: requests and limits, shared memory and the memory limit."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.amounts import Part, Parts, amount
from ptcompile.frontends.errors import bad, conflict, problem
from ptcompile.kubernetes.names import never_shared
from ptcompile.vocabulary.cluster import hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.vocabulary.model import ResourceList, Resources


def amounts(parts: Parts) -> Iterator[Problem]:
    """Yield every contradiction between the amounts of a spec."""
    job, gpu = parts.job, hardware.gpu_resource(parts.cluster, parts.job.accelerator)
    for part in parts.every:
        if not part.fields.resources.model_fields_set:
            continue
        for resources, at in _levels(part.fields.resources, (*part.path, "resources")):
            if resources.gpu is not None and gpu in resources.devices:
                yield conflict((*at, "devices", gpu), "gpu requests the same resource", "set it once")
        yield from _halves(part)
    if isinstance(job.shared_memory, str):
        for part in parts.nodes:
            yield from _shared_memory(job.shared_memory, part)


def _levels(resources: Resources, path: Path) -> list[tuple[ResourceList, Path]]:
    return [(resources, path), (resources.requests, (*path, "requests")), (resources.limits, (*path, "limits"))]


def _halves(part: Part) -> Iterator[Problem]:
    """Requests against limits, as one part gives them."""
    path, resources, (requests, limits, nulls) = (*part.path, "resources"), part.fields.resources, part.own
    for where, name in sorted(nulls):
        if (name == "gpu" or never_shared(name)) and not {("requests", name), ("limits", name)} <= nulls:
            message = (
                f"null keeps the {where[:-1]} of {name} empty, but Kubernetes requires request and limit to be equal"
            )
            help = f"remove it, or write null for {name} under resources"
            yield problem("gpu-request-differs-from-limit", (*path, where, *_word(name)), message, help)
    for name in {**requests, **limits}:
        half: Literal["requests", "limits"] = "requests" if name in requests else "limits"
        request, limit = requests.get(name, limits.get(name, "0")), limits.get(name, requests.get(name, "0"))
        device = name == "gpu" or "/" in name
        if device and not amount(request).is_integer:
            at = _place(path, resources, half, name)
            yield bad(at, f"{request!r}: devices cannot be split", "give a whole number")
        elif request == limit:
            continue
        elif device and amount(request) != amount(limit):
            at = _place(path, resources, half, name)
            message = f"{request} is not the limit, {limit}, and devices cannot be shared"
            yield problem("gpu-request-differs-from-limit", at, message, f"request {name} once, under resources")
        elif amount(request) > amount(limit):
            at = _place(path, resources, half, name)
            message = f"{request} is above the limit, {limit}"
            yield problem("request-above-limit", at, message, "lower the request or raise the limit")


def _place(path: Path, resources: Resources, half: Literal["requests", "limits"], name: str) -> Path:
    """Where a spec gives an amount: under requests or limits, or plainly."""
    if name in getattr(resources, half).by_name():
        path = (*path, half)
    return (*path, *_word(name))


def _word(name: str) -> Path:
    """What a spec calls a resource of Kubernetes."""
    if name in {"cpu", "memory", "gpu"}:
        return (name,)
    return ("ephemeralStorage",) if name == "ephemeral-storage" else ("devices", name)


def _shared_memory(size: str, part: Part) -> Iterator[Problem]:
    limit = part.amounts.limits.get("memory")
    if limit is not None and amount(size) > amount(limit):
        whose = "" if part.path == ("spec",) else f" of {part.path[-1]}"
        yield problem(
            "shm-above-memory-limit",
            ("spec", "sharedMemory"),
            f"{size} is above the memory limit{whose}, {limit}, so the pod is killed first",
            "shared memory counts as memory: raise the limit or lower the size",
            severity="warning",
            stage="run",
            authority="kubelet",
        )
