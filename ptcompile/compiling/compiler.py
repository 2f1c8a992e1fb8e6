"""One TrainingJob document to manifests: read, check, lower, run the passes, emit, validate what was emitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial

from ptcompile.compiling.build import Built, build
from ptcompile.compiling.checks import check, check_target
from ptcompile.compiling.generated import unnamed
from ptcompile.compiling.needed import needed
from ptcompile.findings.diagnostics import Path, Problem, once
from ptcompile.frontends import checks, checks_fabric
from ptcompile.frontends.amounts import parts_of
from ptcompile.frontends.lines import settle
from ptcompile.frontends.spec import lower, read_spec
from ptcompile.job.model import Context, Job, Pass, Target
from ptcompile.kubernetes import names
from ptcompile.operators.targets import TARGETS, default_target, target_named
from ptcompile.passes import PASSES
from ptcompile.typed import NamedTuple
from ptcompile.validate import validate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.compiling.record import Trace
    from ptcompile.extending import Extensions
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec

    Json = dict[str, Any]

_MAY_BE_IDLE = frozenset({"elastic", "master_port", "names"})
"""Words that count for some targets and jobs only."""


class Compiled(NamedTuple):
    """What became of one document. Without manifests there is an error among the problems."""

    manifests: tuple[Json, ...]
    problems: tuple[Problem, ...]
    target: Target | None = None
    built: Built | None = None
    """None where a stage before the passes refused the document."""
    trace: Callable[[], Trace] | None = None
    """Returns what wrote each value, made at the first call; None where nothing was built."""


def compile_document(
    data: Any, cluster: ClusterProfile, target: str | None = None, extensions: Extensions | None = None
) -> Compiled:
    """Compile one decoded document for a target: the one named here, else the spec's own, else what the job needs."""
    if problem := not_ours(data):
        return Compiled((), (problem,))
    spec, problems = read_spec(data)
    if spec is None:
        return Compiled((), tuple(problems))
    made = _of_spec(spec, list(problems), data, cluster, target, extensions)
    manifests, said = unnamed(spec, made.manifests, made.problems)
    return made._replace(manifests=manifests, problems=tuple(said))


def _of_spec(
    spec: Spec,
    problems: list[Problem],
    data: Mapping[str, Any],
    cluster: ClusterProfile,
    target: str | None,
    extensions: Extensions | None,
) -> Compiled:
    parts = parts_of(spec, cluster)
    problems += check(parts)
    wanted = target or spec.spec.target
    targets = TARGETS if extensions is None else (*TARGETS, *extensions.targets)
    if wanted is not None and wanted not in targets:
        problems.append(_unknown_target(wanted, targets))
    left = [one for one in problems if one.path != ("metadata", "name") or not checks.only_too_long(spec.metadata.name)]
    if _failed(left):
        return Compiled((), tuple(problems))
    problems = left  # the target says how long the name may be
    job = lower(spec, cluster, parts)
    if extensions is not None and (extensions.passes or wanted in extensions.targets):
        return _extended(data, spec, job, cluster, wanted, problems, extensions)
    return _for_target(data, spec, job, cluster, _chosen(wanted, job, cluster), problems)


def _chosen(wanted: str | None, job: Job, cluster: ClusterProfile) -> Target:
    return target_named(wanted) if wanted is not None else default_target(job, cluster)


def _extended(
    data: Mapping[str, Any],
    spec: Spec,
    job: Job,
    cluster: ClusterProfile,
    wanted: str | None,
    problems: list[Problem],
    extensions: Extensions,
) -> Compiled:
    """As `_for_target`, with the passes of plugins behind the built-in ones, or for the target of a plugin."""
    from ptcompile.compiling.extended import guarded

    target = extensions.targets.get(wanted or "") or _chosen(wanted, job, cluster)
    made = guarded(partial(_for_target, data, spec, job, cluster, target, problems), target, extensions)
    return made if isinstance(made, Compiled) else Compiled((), (*problems, made), target)


def _for_target(
    data: Mapping[str, Any],
    spec: Spec,
    job: Job,
    cluster: ClusterProfile,
    target: Target,
    problems: list[Problem],
    more: tuple[Pass, ...] = (),
) -> Compiled:
    context = Context(cluster, target)
    problems = [*problems, *once([settle(one, data) for one in check_target(spec, job, context)])]
    if _failed(problems):
        return Compiled((), tuple(problems), target)
    built = build(spec, job, context, (*PASSES, *more))
    job, trace = built.job, cache(partial(_trace_of, built))
    problems += checks_fabric.partial(job, data, lambda role, path: trace().line(role, path, data))
    if cluster.spec.node_pools:
        from ptcompile.frontends import checks_pools

        problems += checks_pools.check(job, data, cluster)
    problems += needed(job, built.emitted, cluster, target)
    if spec.spec.model_fields_set & _MAY_BE_IDLE:
        from ptcompile.compiling.effect import without_effect

        problems += without_effect(built)
    manifests = built.named
    problems += _refusals(manifests, data, cluster, trace)
    if level := job.pod_security or cluster.spec.pod_security:
        from ptcompile.compiling.pod_security import violations

        at_lines = partial(_at_lines, data=data, trace=trace)
        problems += violations(level, job, manifests, cluster.versions().kubernetes, at_lines)
    if job.launch is None and job.nodes > 1:
        from ptcompile.compiling.launcher import alone

        problems += _at_lines(alone(job, manifests, cluster), data, trace)
    return Compiled(() if _failed(problems) else manifests, tuple(problems), target, built, trace)


def _trace_of(built: Built) -> Trace:
    from ptcompile.compiling.record import trace_of

    return trace_of(built)


def _refusals(
    manifests: tuple[Json, ...], data: Mapping[str, Any], cluster: ClusterProfile, trace: Callable[[], Trace]
) -> Iterator[Problem]:
    """What the offline API server says of our own manifests, each finding once, at the line of the spec it is about."""
    versions = cluster.versions()
    found = (
        (index, problem)
        for index, one in enumerate(manifests)
        for problem in validate(one, versions=versions, others=manifests)
    )
    told: set[Path] = set()
    for problem in _at_lines(found, data, trace, causes=False):
        if problem.path == ("spec",) or problem.path not in told:  # a second layer's word on the same mistake
            told.add(problem.path)
            yield problem


def _at_lines(
    found: Iterable[tuple[int, Problem]],
    data: Mapping[str, Any],
    trace: Callable[[], Trace],
    *,
    causes: bool = True,
) -> Iterable[Problem]:
    """`located.traced`, loaded where there is something to trace."""
    problems = list(found)
    if not problems:
        return ()
    from ptcompile.compiling.located import traced

    return traced(problems, data, trace, causes=causes)


def advised(
    compiled: Compiled, data: Mapping[str, Any], cluster: ClusterProfile, extensions: Extensions | None = None
) -> Iterator[Problem]:
    """What the rules find in the manifests of a document, each finding once, at the line of the spec that caused it."""
    from ptcompile import linting

    manifests, versions = compiled.manifests, cluster.versions()
    if compiled.trace is None:
        return
    stream = linting.Stream(manifests, versions)
    found = (
        (index, each)
        for index, one in enumerate(manifests)
        for each in linting.run(one, versions=versions, others=stream)
    )
    told = {(problem.name, problem.path) for problem in compiled.problems}
    for problem in _at_lines(found, data, compiled.trace):
        if (problem.name, problem.path) not in told and not _of_a_pass(problem):
            yield problem._replace(help=_HELPS.get(problem.name, problem.help))
    if extensions is not None and extensions.rules:
        from ptcompile.extending.asking import problems

        own = list(problems(extensions, data, manifests))
        there = {(one.name, one.path) for one in own}
        asked = ((at, each) for at, one in enumerate(manifests) for each in problems(extensions, one, manifests))
        yield from own
        yield from (one for one in _at_lines(asked, data, compiled.trace) if (one.name, one.path) not in there)


_HELPS = {
    "unbounded-shm": "set a memory limit, or a size such as sharedMemory: 64Gi",
    "lone-pod-restart": "replace restartPolicy with runPolicy: {onPodFailure: RestartJob}, which restarts all pods",
    "job-restarts-alone": "remove it, or use a target that restarts all pods, such as jobset",
}
"""What to do in a spec where the rule's own help speaks of the manifest's fields."""


def _of_a_pass(problem: Problem) -> bool:
    """Whether a finding asks the user to remove a variable that a pass wrote, for a script without torchrun."""
    return problem.name == "env-that-torchrun-sets" and problem.path[-2:-1] != ("env",)


def not_ours(data: Any) -> Problem | None:
    """Why a document is not a TrainingJob; None where it is one."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    version = data.get("apiVersion") if isinstance(data, Mapping) else None
    if kind == "TrainingJob" or (isinstance(version, str) and version.startswith("ptcompile/") and _near(kind)):
        return None
    if kind == "ClusterProfile":
        help = "give it with --cluster FILE"
    elif kind is None:
        help = "start it with apiVersion: ptcompile/v1 and kind: TrainingJob"
    else:
        help = "to check a manifest, use ptcompile lint"
    shown = f"{version}/{kind}" if version and kind else kind or "a document without kind"
    return Problem("unknown-kind", ("kind",), f"{shown} is not a TrainingJob", help, authority="ptcompile")


def _near(kind: object) -> bool:
    return kind is None or (isinstance(kind, str) and names.suggest(kind, ["TrainingJob"]) is not None)


def _unknown_target(name: str, targets: tuple[str, ...]) -> Problem:
    near = names.suggest(name, targets)
    help = f"did you mean {near}?" if near else f"the targets are {', '.join(targets)}"
    return Problem(
        "unknown-target", ("spec", "target"), f"spec.target: no target {name!r}", help, authority="ptcompile"
    )


def _failed(problems: list[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)
