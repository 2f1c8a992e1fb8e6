"""The word of a spec that is nearest to a value which a pass or a target wrote, and no word of the spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.origin import about, inside, value_at

_STARTS: tuple[Path, ...] = (("command",), ("script",), ("module",), ("args",), ("image",))
_NODES: tuple[Path, ...] = (("nodes",), ("elastic", "nnodes"), ("worker", "replicas"), ("worker",))
_PROCESSES: tuple[Path, ...] = (("elastic", "nprocPerNode"), ("elastic",), *_STARTS)
_SHM: tuple[Path, ...] = (("sharedMemory",),)

_RULES: dict[str, tuple[Path, ...]] = {
    "missing-shm": _SHM,
    "nccl-without-gpu": (("args",), ("command",), ("env",)),
    "range-without-restarts": _NODES,
    **dict.fromkeys(("more-processes-than-gpus", "idle-gpus", "miscounted-devices", "host-core-processes"), _PROCESSES),
}
"""What findings are about that stand at a whole container, or wherever their number comes from."""

_OF_THE_LAUNCH = frozenset({"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "OMP_NUM_THREADS"})
"""Variables that passes write. All others that no word of the spec gives are the profile's."""

_OBJECT: dict[str, tuple[Path, ...]] = {
    "nprocPerNode": _PROCESSES,
    "numProcPerNode": _PROCESSES,
    "numNodes": _NODES,
    "replicas": _NODES,
    "completions": _NODES,
    "parallelism": _NODES,
    "minAvailable": _NODES,
    "minReplicas": _NODES,
    "maxReplicas": _NODES,
    "trainer": _STARTS,
    "queue": (("queue",),),
    "managedBy": (("queue",),),
    "networkTopology": (("topology",),),
    "restartPolicy": (("restartPolicy",),),
    "schedulingPolicy": (("queue",), ("topology",), *_NODES),
    **dict.fromkeys(
        ("backoffLimit", "podFailurePolicy", "successPolicy", "failurePolicy", "maxRetry", "policies"),
        (("runPolicy",), ("restartPolicy",), ("spot",), *_NODES),
    ),
}
"""By a field of an operator's object, wherever it stands."""


def nearest(problem: Problem, manifest: Mapping[str, Any], spec: Mapping[str, Any]) -> Path:
    """Where a spec speaks of what a finding in its manifest is about; `spec` itself where it says nothing near.

    For findings whose place no word of the spec gave (`origin.locate`).
    """
    job = spec.get("spec")
    blocks = about(problem.path, manifest, spec)
    for words in _words(problem, manifest):
        for block in blocks:
            known = words[:-1] if words[-1] == "nprocPerNode" else words  # the front end says it there, written or not
            if _has(job, (*block, *known)):
                return ("spec", *block, *words)
    return ("spec",)


def _words(problem: Problem, manifest: Mapping[str, Any]) -> Iterator[Path]:
    """The words that may have caused it, the likeliest first."""
    yield from _RULES.get(problem.name, ())
    rest = inside(problem.path, manifest)
    if rest is not None:
        yield from _of_pod(problem.path, rest, manifest)
        return
    if "elasticPolicy" in problem.path[:-1]:
        yield from _torchrun(str(problem.path[-1]))
    for part in reversed(problem.path):
        yield from _OBJECT.get(str(part), ())


def _of_pod(path: Path, rest: Path, manifest: Mapping[str, Any]) -> Iterator[Path]:
    """For a place in a pod template, `rest` within it."""
    contained = rest[:2] == ("spec", "containers")
    field = next(iter(rest[3:4] if contained else rest[1:2]), "")
    inner = max(0, len(rest) - (5 if contained else 3))  # parts of the path that are below the item of a list
    item = value_at(path[: len(path) - inner], manifest)
    name = item.get("name") if isinstance(item, Mapping) else None
    if field in ("command", "args") and isinstance(item, str) and item.startswith("--"):
        yield from _torchrun(_camel(item[2:].partition("=")[0]))
    elif (contained and field in ("", "command", "args")) or (field == "env" and name in _OF_THE_LAUNCH):
        yield from _STARTS
    elif field in ("volumes", "volumeMounts") and name == "shm":
        yield from _SHM
    elif field == "resources":
        yield from (("resources",), ("accelerator",))


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
