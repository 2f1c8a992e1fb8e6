"""One TrainingJob document to manifests: read, check, lower, check for the target, build, verify, locate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.build import Built, PluginFailedError, build
from ptcompile.compiler.checks import check_target
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.location import PlacedProblem, locate_stages
from ptcompile.compiler.passes import PASSES
from ptcompile.compiler.reader import read
from ptcompile.compiler.verification import verify
from ptcompile.diagnostics import Problem, blocking
from ptcompile.ir.job import Context, Job, Pass, Target
from ptcompile.registry.targets import TARGETS, default_target, target_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.compiler.trace import Trace
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile

    Json = dict[str, Any]


class Compiled(NamedTuple):
    """What became of one document. Without manifests there is an error among the problems."""

    manifests: tuple[Json, ...]
    problems: tuple[Problem, ...]
    target: Target | None = None
    """None if the document was refused before it mattered."""
    built: Built | None = None
    """None if the document was refused before anything was built."""
    trace: Callable[[], Trace] | None = None
    """Returns what wrote each value, made at the first call; None where nothing was built."""


def compile_document(
    data: Any, cluster: ClusterProfile, target: str | None = None, extensions: Extensions | None = None
) -> Compiled:
    """Compile one decoded document for a target: the one named here, else the spec's own, else what the job needs.

    Behind a mistake the stages go on with what is right, so that every mistake is told at once. Pure.
    """
    parts, findings = read(data, cluster, target, extensions)
    if parts is None:
        return Compiled((), tuple(blocking(locate_stages(findings, data))))
    spec, sound, built = parts.spec, len(findings) == 1, None
    job = lower(spec, cluster, parts)
    context = Context(cluster, choose(target or spec.spec.target, job, cluster, extensions))
    try:
        findings.append(check_target(spec, job, context))
        built = build(spec, job, context, passes_with(extensions))
        findings.append(verify(built))
    except PluginFailedError as failure:
        findings.append([PlacedProblem(failure.problem)])
    trace = None if built is None else cache(partial(_trace_of, built))
    problems = tuple(blocking(locate_stages(findings, data, spec, trace)))
    if built is None or refused(findings[:-1]):
        return Compiled((), problems, context.target if sound else None)
    return Compiled(() if refused(findings) else built.manifests, problems, context.target, built, trace)


def refused(stages: Iterable[Iterable[PlacedProblem]]) -> bool:
    """Return whether a stage found an error."""
    return any(finding.problem.severity == "error" for stage in stages for finding in stage)


def choose(name: str | None, job: Job, cluster: ClusterProfile, extensions: Extensions | None) -> Target:
    """Return the target of a name; what the job needs without one, or with one that does not exist."""
    if name is not None and extensions is not None and name in extensions.targets:
        from ptcompile.compiler.extensions import safe_target

        return safe_target(extensions.targets[name])
    return target_named(name) if name is not None and name in TARGETS else default_target(job, cluster)


def passes_with(extensions: Extensions | None) -> tuple[Pass, ...]:
    """Return the passes in their order: the built-in ones, then those of plugins."""
    if extensions is None or not extensions.passes:
        return PASSES
    from ptcompile.compiler.extensions import passes_of

    return (*PASSES, *passes_of(extensions))


def _trace_of(built: Built) -> Trace:
    from ptcompile.compiler.trace import trace_of

    return trace_of(built)
