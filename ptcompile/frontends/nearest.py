"""The word of a spec that is nearest to a value which a pass or a target wrote, and no word of the spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ptcompile.diagnostics import Path, Problem
from ptcompile.frontends.origin import about, inside

_STARTS: tuple[Path, ...] = (("command",), ("script",), ("module",), ("args",), ("image",))
_NODES: tuple[Path, ...] = (("nodes",), ("elastic", "nnodes"), ("worker", "replicas"), ("worker",))
_PROCESSES: tuple[Path, ...] = (("elastic", "nprocPerNode"), ("elastic",), *_STARTS)
_SHM: tuple[Path, ...] = (("sharedMemory",), ("fabric",))
_WHERE: tuple[Path, ...] = (("accelerator",), ("spot",), ("fabric",), ("resources",))

_RULES: dict[str, tuple[Path, ...]] = {
    "missing-shm": _SHM,
    **dict.fromkeys(("more-processes-than-gpus", "idle-gpus", "miscounted-devices", "host-core-processes"), _PROCESSES),
}
"""What findings are about that stand at a whole container, or wherever their number comes from."""

_CONTAINER: dict[str, tuple[Path, ...]] = {
    "command": _STARTS,
    "args": _STARTS,
    "env": _STARTS,
    "resources": (("resources",), ("accelerator",), ("fabric",)),
    "volumeMounts": _SHM,
    "securityContext": (("fabric",),),
}
_POD: dict[str, tuple[Path, ...]] = {
    "volumes": _SHM,
    "affinity": _WHERE,
    "nodeSelector": _WHERE,
    "tolerations": _WHERE,
    "initContainers": (("fabric",),),
}
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
        if rest[:2] == ("spec", "containers"):
            option = _option(problem.path, manifest) if rest[3:4] in (("command",), ("args",)) else None
            yield from _torchrun(option) if option else ()
            yield from _CONTAINER.get(str(rest[3]), ()) if len(rest) > 3 else _STARTS
        elif len(rest) > 1:
            yield from _POD.get(str(rest[1]), ())
        return
    if "elasticPolicy" in problem.path[:-1]:
        yield from _torchrun(str(problem.path[-1]))
    for part in reversed(problem.path):
        yield from _OBJECT.get(str(part), ())


def _option(path: Path, manifest: Any) -> str | None:
    """The option of torchrun that a word of a command line names, as a spec spells it: nprocPerNode."""
    for part in path:
        fits = isinstance(manifest, Mapping) if isinstance(part, str) else isinstance(manifest, list)
        if not fits or (isinstance(part, int) and part >= len(manifest)):
            return None
        manifest = manifest.get(part) if isinstance(part, str) else manifest[part]
    if not isinstance(manifest, str) or not manifest.startswith("--"):
        return None
    first, *others = manifest[2:].partition("=")[0].split("-")
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
