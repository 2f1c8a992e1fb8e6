"""Because of which word of a spec a pass or a target wrote a value that no word of the spec gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.compiling.record import Trace
from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.lines import value_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STARTS: tuple[Path, ...] = (("command",), ("script",), ("module",), ("args",), ("image",))
_NODES: tuple[Path, ...] = (("nodes",), ("elastic", "nnodes"), ("worker", "replicas"), ("worker",))
_PROCESSES: tuple[Path, ...] = (("elastic", "nprocPerNode"), ("elastic",), *_STARTS)
_SHM: tuple[Path, ...] = (("sharedMemory",),)

_RULES: dict[str, tuple[Path, ...]] = {
    "missing-shm": _SHM,
    "unbounded-shm": (*_SHM, ("resources",)),
    "nccl-without-gpu": (("args",), ("command",), ("env",)),
    "range-without-restarts": _NODES,
    **dict.fromkeys(("more-processes-than-gpus", "idle-gpus", "miscounted-devices", "host-core-processes"), _PROCESSES),
}
"""What findings are about that stand at a whole container, or wherever their number comes from."""

_PASSES: dict[str, tuple[Path, ...]] = {
    "resources": (("resources",), ("accelerator",)),
    "processes": _PROCESSES,
    "fabric": (("fabric",),),
    "shm": _SHM,
    "rendezvous": _STARTS,
}
"""By the pass that wrote a value. The others write what the profile says."""

_FIELDS: dict[str, tuple[Path, ...]] = {
    "resources": (("resources",), ("accelerator",)),
    **dict.fromkeys(("command", "args", "trainer"), _STARTS),
    **dict.fromkeys(("nprocPerNode", "numProcPerNode"), _PROCESSES),
    **dict.fromkeys(
        ("numNodes", "replicas", "completions", "parallelism", "minAvailable", "minReplicas", "maxReplicas"), _NODES
    ),
    **dict.fromkeys(("queue", "managedBy"), (("queue",),)),
    "networkTopology": (("topology",),),
    "restartPolicy": (("restartPolicy",),),
    "schedulingPolicy": (("queue",), ("topology",), *_NODES),
    **dict.fromkeys(
        ("backoffLimit", "podFailurePolicy", "successPolicy", "failurePolicy", "maxRetry", "policies"),
        (("runPolicy",), ("restartPolicy",), ("spot",), *_NODES),
    ),
}
"""By a field of what a target wrote, wherever it stands, and of what is not there."""


def cause(problem: Problem, trace: Trace, manifest: int, data: Mapping[str, Any]) -> Path:
    """Where a spec speaks of what a finding in its manifest is about; `spec` itself where it says nothing near."""
    job = data.get("spec")
    blocks = _blocks(trace.role(manifest, problem.path), job)
    for words in _words(problem, trace, manifest):
        for block in blocks:
            known = words[:-1] if words[-1] == "nprocPerNode" else words  # the front end says it there, written or not
            if _has(job, (*block, *known)):
                return ("spec", *block, *words)
    return ("spec",)


def _blocks(role: str, job: Any) -> list[Path]:
    """The parts of a spec that may have said it: the role's own first, then the job's."""
    if isinstance(job, Mapping) and role in (job.get("roles") or {}):
        return [("roles", role), ()]
    return [(role,), ()] if role in {"master", "worker"} else [("worker",), ("master",), ()]


def _words(problem: Problem, trace: Trace, manifest: int) -> Iterator[Path]:
    """The words that may have caused it, the likeliest first."""
    yield from _RULES.get(problem.name, ())
    path = problem.path
    value = value_at(path, trace.manifests[manifest])
    by = trace.by(manifest, path)
    if by == "rendezvous" and isinstance(value, str) and value.startswith("--"):
        yield from _torchrun(_camel(value[2:].partition("=")[0]))
    elif by in _PASSES:
        yield from _PASSES[by]
    elif "elasticPolicy" in path[:-1]:
        yield from _torchrun(str(path[-1]))
    elif by == "env":
        entry = value_at(path[: _upto(path, "env")], trace.manifests[manifest])
        if isinstance(entry, Mapping) and entry.get("name") == "OMP_NUM_THREADS":
            yield from _STARTS
    elif by in {"", "spec"}:
        fields = [str(part) for part in path if isinstance(part, str)]
        if fields[-1:] == ["containers"]:
            yield from _STARTS
        for part in reversed(fields):
            yield from _FIELDS.get(part, ())


def _upto(path: Path, field: str) -> int:
    """The length of a path down to the item of a list."""
    return path.index(field) + 2 if field in path else 0


def _camel(option: str) -> str:
    """An option of torchrun as a spec spells it: nprocPerNode."""
    first, *others = option.split("-")
    return first + "".join(word.capitalize() for word in others)


def _torchrun(option: str) -> Iterator[Path]:
    if option.lower() == "nprocpernode":
        yield from _PROCESSES
    elif option in ("nnodes", "minReplicas", "maxReplicas"):
        yield from _NODES
    else:
        yield ("elastic", {"rdzvConf": "rdzvConfigs"}.get(option, option))
        yield from (("elastic",), *_STARTS)


def _has(data: Any, path: Path) -> bool:
    for part in path:
        if not isinstance(data, Mapping) or part not in data:
            return False
        data = data[part]
    return True
