"""The line of the spec that caused a finding in a manifest.

A stage says what its path leads into. What wrote a value there is traced when the first finding needs it, never for a
document without such findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.paths import get, has
from ptcompile.compiler.frontend.parts import with_path, to_source_field
from ptcompile.compiler.trace import Trace, existing_prefix
from ptcompile.diagnostics import Path, Problem
from ptcompile.spec.pod_fields import spec_fields_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.training_job import Spec

    Json = Mapping[str, Any]


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
            if has(job, (*block, *known)):
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
    value = get(trace.manifests[manifest], path)
    by = trace.by(manifest, path)
    if by == "rendezvous" and isinstance(value, str) and value.startswith("--"):
        yield from _torchrun(_camel(value[2:].partition("=")[0]))
    elif by in _PASSES:
        yield from _PASSES[by]
    elif "elasticPolicy" in path[:-1]:
        yield from _torchrun(str(path[-1]))
    elif by == "env":
        entry = get(trace.manifests[manifest], path[: _upto(path, "env")])
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


_RUN_POLICY = frozenset(
    {"ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "suspend", "cleanPodPolicy"}
)


def spec_path_of(trace: Trace, manifest: int, path: Path, data: Mapping[str, Any]) -> Path:
    """The place in a spec that a place of one of its manifests comes from; `spec` itself where no line gives it."""
    place = trace.place(manifest, path)
    if place is not None and (known := existing_prefix(place, data)):
        return known
    if path[:1] == ("metadata",):
        return path
    if patch := _patch(trace, manifest, path):
        return patch
    job = data.get("spec")
    role = trace.role(manifest, path)
    if isinstance(job, Mapping) and role in (job.get("roles") or {}):
        return ("spec", "roles", role)
    if len(path) > 1 and path[0] == "spec" and path[-1] in _RUN_POLICY:
        return ("spec", "runPolicy", path[-1])
    return ("spec",)


_POD = spec_fields_in("spec")


def _patch(trace: Trace, manifest: int, path: Path) -> Path | None:
    """The patch that must have caused what is wrong with a pod field that is not there and has no word in a spec."""
    holder = get(trace.manifests[manifest], path[:-1]) if path else None
    if not isinstance(holder, Mapping) or "containers" not in holder or path[-1] in {*_POD, "containers", *holder}:
        return None
    places = (trace.place(manifest, (*path[:-1], str(key))) for key in holder)
    return next((one[: one.index("spec", 1) + 1] for one in places if one and "podTemplate" in one), None)


SPEC: Path = ("spec",)
TARGET, SERVER, POD_SECURITY = "target", "server", "pod security"


class PlacedProblem(NamedTuple):
    """A problem, and what its path leads into."""

    problem: Problem
    place: int | str | None = None
    """The index of a manifest, or a role whose pod template it is; None is the spec."""
    by: str = ""
    """The stage that found it, if its findings are located in a way of their own."""
    instead: Path = SPEC
    """Where it is reported if no line of the spec gives the value of a pod template."""


def locate_stages(
    stages: Iterable[Iterable[PlacedProblem]],
    data: Json,
    spec: Spec | None = None,
    trace: Callable[[], Trace] | None = None,
) -> tuple[Problem, ...]:
    """Locate the findings of each stage. Behind an error of an earlier stage, keep those that cannot follow from it."""
    kept: list[Problem] = []
    every: list[Problem] = []
    for stage in stages:
        located = locate(stage, data, trace)
        if spec is not None:
            located = in_known_names(located, spec)
        if located and any(problem.severity == "error" for problem in every):
            from ptcompile.compiler.recovery import independent

            kept += independent(located, every, data)
        else:
            kept += located
        every += located
    return tuple(kept)


def locate(findings: Iterable[PlacedProblem], data: Json, trace: Callable[[], Trace] | None = None) -> list[Problem]:
    """Return the problems of one stage at the paths of the document, each once."""
    problems: list[Problem] = []
    for by, group in groupby(findings, key=attrgetter("by")):
        located = list(_distinct(group, data, trace))
        problems += _REDUCERS[by](located, data) if by in _REDUCERS else located
    return problems


def _distinct(findings: Iterable[PlacedProblem], data: Json, trace: Callable[[], Trace] | None) -> Iterator[Problem]:
    """Yield each problem once: by its line, or by its message where no line gives the value."""
    seen: set[tuple[str, Path, str]] = set()
    for finding in findings:
        problem, at_a_line = _located(finding, data, trace)
        key = (problem.name, problem.path, "" if at_a_line else problem.message)
        if key not in seen:
            seen.add(key)
            yield problem


def _located(finding: PlacedProblem, data: Json, trace: Callable[[], Trace] | None) -> tuple[Problem, bool]:
    """Return a problem at its path of the document, and whether it is about a value of a manifest with a line there."""
    problem, place = finding.problem, finding.place
    if place is None or trace is None:
        return to_source_field(problem, data) if finding.by == TARGET else problem, False
    if isinstance(place, str):
        return with_path(problem, trace().line(place, problem.path, data) or finding.instead), False

    path = spec_path_of(trace(), place, problem.path, data)
    at_a_line = path != SPEC
    if finding.by != SERVER and not (at_a_line and get(data, path) is not None):
        near = cause(problem, trace(), place, data)
        path = path if at_a_line and near == SPEC else near
    named = problem.path[-1:] == ("name",) and path[-2:-1] == ("env",)  # a name is a key in a spec
    plain = problem._replace(on_key=problem.on_key or named, fix=None)
    return plain._replace(path=path) if path == SPEC else with_path(plain, path), at_a_line


def _once_per_path(problems: list[Problem], _: Json) -> Iterator[Problem]:
    """Drop what a second layer of the server says of the same mistake."""
    seen: set[Path] = set()
    for problem in problems:
        if problem.path == SPEC or problem.path not in seen:
            seen.add(problem.path)
            yield problem


def _at_lines_first(problems: list[Problem], data: Json) -> Iterator[Problem]:
    """Drop what has no line if there are problems at a line, from which it follows. Name a fabric that needs more."""
    for problem in [problem for problem in problems if problem.path != SPEC] or problems:
        if problem.path == (*SPEC, "fabric"):
            fabric = get(data, problem.path)
            help = f"the fabric {fabric} needs a namespace of the level privileged: set podSecurity: privileged"
            problem = problem._replace(help=help)
        yield problem


_REDUCERS: dict[str, Callable[[list[Problem], Json], Iterator[Problem]]] = {
    SERVER: _once_per_path,
    POD_SECURITY: _at_lines_first,
}


def in_known_names(problems: list[Problem], spec: Spec) -> list[Problem]:
    """Return the problems in words that a person can know: generateName for the name that stands in for it."""
    beginning, stand_in = spec.metadata.generate_name, spec.metadata.name
    if beginning is None:
        return problems
    added = stand_in.removeprefix(beginning)
    known: list[Problem] = []
    for problem in problems:
        there = with_path(problem, ("metadata", "generateName")) if problem.path == ("metadata", "name") else problem
        message = there.message.replace(stand_in, f"{beginning}{_UNKNOWN}")
        known.append(there._replace(message=message, help=there.help and there.help.replace(added, "")))
    return known


_UNKNOWN = "*****"
"""What people see for the part of a name that the server adds."""
