"""Locate the spec line that caused a finding in a manifest.

Each stage states what its problems' paths lead into. Values are traced to their writers only for
the first finding that needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.compiler.frontend.parts import spec_fields_in, to_source_field, with_path
from ptcompile.compiler.trace import Trace, existing_prefix
from ptcompile.diagnostics import Path, Problem, Problems, has_error
from ptcompile.kubernetes.unstructured import Json, as_mapping, get, has, nested_map, nested_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.training_job import Spec


_TABLE = load_table("compiler/likely_fields.json")


def _fields(table: str, name: str) -> Iterator[Path]:
    """Yield the spec fields that a table has for a name, such as a rule's, the likeliest first;
    none for an unknown name. A row may name rows of the table `shared` instead of fields.
    """
    for word in _TABLE[table].get(name, ()):
        if word in _TABLE["shared"]:
            yield from _fields("shared", word)
        else:
            yield tuple(word.split("."))


def likely_cause(problem: Problem, trace: Trace, manifest: int, data: Json) -> Path:
    """Return the spec path that most likely caused a finding in a manifest; `spec` itself if no
    field is likely.
    """
    job = data.get("spec")
    blocks = _candidate_blocks(trace.role(manifest, problem.path), job)
    for field in _candidate_fields(problem, trace, manifest):
        for block in blocks:
            # the frontend reports nprocPerNode at its own path even if the spec does not set it
            required = field[:-1] if field[-1] == "nprocPerNode" else field
            if has(job, (*block, *required)):
                return ("spec", *block, *field)

    return ("spec",)


def _candidate_blocks(role: str, job: Any) -> list[Path]:
    """Return the blocks of a spec that may contain the cause: the role's own first, then the
    job's.
    """
    if role in nested_map(job, "roles"):
        return [("roles", role), ()]
    if role in {"master", "worker"}:
        return [(role,), ()]
    return [("worker",), ("master",), ()]


def _candidate_fields(problem: Problem, trace: Trace, manifest: int) -> Iterator[Path]:
    """Yield the spec fields that may have caused the problem, the likeliest first."""
    yield from _fields("rules", problem.name)
    path = problem.path
    value = get(trace.manifests[manifest], path)
    writer = trace.writer(manifest, path)

    if writer == "rendezvous" and isinstance(value, str) and value.startswith("--"):
        # torchrun's option as a spec spells it: nprocPerNode
        first, *rest = value[2:].partition("=")[0].split("-")
        yield from _torchrun_fields(first + "".join(word.capitalize() for word in rest))
    elif writer in _TABLE["passes"]:
        yield from _fields("passes", writer)
    elif "elasticPolicy" in path[:-1]:
        yield from _torchrun_fields(str(path[-1]))
    elif writer == "env":
        depth = path.index("env") + 2 if "env" in path else 0
        entry = get(trace.manifests[manifest], path[:depth])
        if nested_value(entry, "name") == "OMP_NUM_THREADS":
            yield from _fields("shared", "the start")
    elif writer in {"", "spec"}:
        fields = [str(part) for part in path if isinstance(part, str)]
        if fields[-1:] == ["containers"]:
            yield from _fields("shared", "the start")
        for part in reversed(fields):
            yield from _fields("targetFields", part)


def _torchrun_fields(option: str) -> Iterator[Path]:
    if option.lower() == "nprocpernode":
        yield from _fields("shared", "the processes")
    elif option in ("nnodes", "minReplicas", "maxReplicas"):
        yield from _fields("shared", "the nodes")
    else:
        yield ("elastic", {"rdzvConf": "rdzvConfigs"}.get(option, option))
        yield ("elastic",)
        yield from _fields("shared", "the start")


def spec_path_of(trace: Trace, manifest: int, path: Path, data: Json) -> Path:
    """Return the spec path that a manifest path comes from; `spec` itself if no line sets it."""
    source = trace.spec_path(manifest, path)
    if source is not None and (existing := existing_prefix(source, data)):
        return existing
    if path[:1] == ("metadata",):
        return path
    if patch_path := _patch_path(trace, manifest, path):
        return patch_path

    job = data.get("spec")
    role = trace.role(manifest, path)
    if role in nested_map(job, "roles"):
        return ("spec", "roles", role)
    if len(path) > 1 and path[0] == "spec" and path[-1] in _TABLE["runPolicy"]:
        return ("spec", "runPolicy", path[-1])

    return ("spec",)


_POD_FIELDS = spec_fields_in("spec")


def _patch_path(trace: Trace, manifest: int, path: Path) -> Path | None:
    """Return the path of the patch that must have caused a problem with a missing pod field that
    no spec field sets.
    """
    holder = as_mapping(get(trace.manifests[manifest], path[:-1]))
    if "containers" not in holder or path[-1] in {*_POD_FIELDS, "containers", *holder}:
        return None

    sources = (trace.spec_path(manifest, (*path[:-1], str(key))) for key in holder)
    return next(
        (
            source[: source.index("spec", 1) + 1]
            for source in sources
            if source and "podTemplate" in source
        ),
        None,
    )


SPEC: Path = ("spec",)
TARGET = "target"
SERVER = "server"
ADMISSION = "admission"


class PlacedProblem(NamedTuple):
    """A problem, and the object that its path leads into."""

    problem: Problem
    owner: int | str | None = None
    """The index of a manifest, or the role whose pod template it is; None for the spec."""
    stage: str = ""
    """The stage that found it, if its findings are located differently."""
    fallback: Path = SPEC
    """Where to report the problem if no spec line sets the value of a pod template."""


def at_source(problem: Problem, owner: int, manifests: Sequence[Json]) -> PlacedProblem:
    """Return a problem at the manifest that has the wrong value, which may be another one than the
    manifest that the problem is about. Both come from the same spec.
    """
    source, path = problem.source or (None, ())
    index = next((i for i, manifest in enumerate(manifests) if manifest is source), None)
    if index is None:
        return PlacedProblem(problem, owner)  # the cluster or another file has the value
    return PlacedProblem(problem._replace(path=path, setter="", source=None), index)


def locate_stages(
    stages: Iterable[Sequence[PlacedProblem]],
    data: Json,
    spec: Spec | None = None,
    trace: Callable[[], Trace] | None = None,
) -> tuple[Problem, ...]:
    """Locate the findings of each stage, without those that an error of an earlier stage may
    have caused.
    """
    kept: list[Problem] = []
    all_located: list[Problem] = []
    for stage in filter(None, stages):
        located = locate(stage, data, trace)
        if spec is not None:
            located = at_generate_name(located, spec)
        if located and has_error(all_located):
            from ptcompile.compiler.recovery import independent_errors

            kept += independent_errors(located, all_located, data)
        else:
            kept += located

        all_located += located

    return tuple(kept)


def locate(
    findings: Iterable[PlacedProblem], data: Json, trace: Callable[[], Trace] | None
) -> list[Problem]:
    """Return the distinct problems of one stage at the paths of the document."""
    problems: list[Problem] = []
    for stage, group in groupby(findings, key=attrgetter("stage")):
        located = list(_distinct_problems(group, data, trace))
        problems += _REDUCERS[stage](located, data) if stage in _REDUCERS else located
    return problems


def _distinct_problems(
    findings: Iterable[PlacedProblem], data: Json, trace: Callable[[], Trace] | None
) -> Problems:
    """Yield distinct problems: one per line, or one per message if no line sets the value."""
    seen: set[tuple[str, Path, str]] = set()
    for finding in findings:
        problem, has_line = _locate_problem(finding, data, trace)
        key = (problem.name, problem.path, "" if has_line else problem.message)
        if key not in seen:
            seen.add(key)
            yield problem


def _locate_problem(
    finding: PlacedProblem, data: Json, trace: Callable[[], Trace] | None
) -> tuple[Problem, bool]:
    """Return a problem at its document path, and whether it is about a manifest value that a
    spec line sets.
    """
    problem = finding.problem
    owner = finding.owner
    if owner is None or trace is None:
        return to_source_field(problem, data) if finding.stage == TARGET else problem, False
    if isinstance(owner, str):
        return with_path(
            problem, trace().line(owner, problem.path, data) or finding.fallback
        ), False

    path = spec_path_of(trace(), owner, problem.path, data)
    has_line = path != SPEC
    if finding.stage != SERVER and not (has_line and get(data, path) is not None):
        likely = likely_cause(problem, trace(), owner, data)
        if not has_line or likely != SPEC:
            path = likely
    # a spec writes variables as a mapping, so the name of a variable is a key there
    is_env_name = problem.path[-1:] == ("name",) and path[-2:-1] == ("env",)
    unfixable = problem._replace(on_key=problem.on_key or is_env_name, fix=None)
    if path == SPEC:
        return unfixable._replace(path=path, field=problem.start), has_line

    return with_path(unfixable, path), has_line


def _first_per_path(problems: list[Problem], _: Json) -> Problems:
    """Yield the first problem of each path; a second layer of the server reports the same
    mistake again.
    """
    seen: set[Path] = set()
    for problem in problems:
        if problem.path == SPEC or problem.path not in seen:
            seen.add(problem.path)
            yield problem


def _prefer_located(problems: list[Problem], data: Json) -> Problems:
    """Yield the problems without those violations of Pod Security that have no line, if others have
    one: they follow from the others. The help of a fabric names the level that it needs.
    """
    secured = [problem for problem in problems if problem.name == "pod-security"]
    located = [problem for problem in secured if problem.path != SPEC] or secured
    for problem in [*located, *(problem for problem in problems if problem.name != "pod-security")]:
        if problem.path == (*SPEC, "fabric"):
            fabric = get(data, problem.path)
            help = (
                f"the fabric {fabric} needs a namespace of the level privileged: set podSecurity: "
                "privileged"
            )
            problem = problem._replace(help=help)
        yield problem


_REDUCERS = {
    SERVER: _first_per_path,
    ADMISSION: _prefer_located,
}


def at_generate_name(problems: list[Problem], spec: Spec) -> list[Problem]:
    """Return the problems with those of a placeholder name at generateName."""
    if spec.metadata.generate_name is None:
        return problems

    path = ("metadata", "generateName")
    return [
        with_path(problem, path) if problem.path == ("metadata", "name") else problem
        for problem in problems
    ]
