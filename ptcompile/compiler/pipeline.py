"""Compile one TrainingJob document to manifests: read, check, lower, check for the target,
build, verify, locate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.compiler.build import Built, PluginFailedError, build
from ptcompile.compiler.checks import check_target
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.location import PlacedProblem, locate_stages
from ptcompile.compiler.passes import PASSES
from ptcompile.compiler.reader import read
from ptcompile.compiler.verification import verify
from ptcompile.diagnostics import Problem, blocking
from ptcompile.ir.job import Context, Job, Pass, Target
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.targets import TARGETS, default_target, target_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.compiler.trace import Trace
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile


class Compiled(NamedTuple):
    """The result of compiling one document. Without manifests, the problems include an error."""

    manifests: tuple[JsonDict, ...]
    problems: tuple[Problem, ...]
    target: Target | None = None
    """None if the document was rejected before the target was needed."""
    built: Built | None = None
    """None if the document was rejected before anything was built."""
    trace: Callable[[], Trace] | None = None
    """Returns the origin of each value, computed at the first call; None if nothing was built."""


def compile_document(
    data: Any,
    cluster: ClusterProfile,
    target: str | None = None,
    extensions: Extensions | None = None,
    *,
    notes: bool = True,
) -> Compiled:
    """Compile one decoded document for `target`, else the spec's own target, else the default for
    the job.

    After a mistake, the stages continue with the correct parts, so that all mistakes are reported
    at once. Without `notes`, fields that have no effect are not searched for, and only errors are
    located. Pure.
    """
    parts, findings = read(data, cluster, target, extensions)
    if parts is None:
        return Compiled((), tuple(blocking(locate_stages(findings, data))))

    spec = parts.spec
    is_valid = len(findings) == 1
    built = None
    job = lower(spec, cluster, parts)
    context = Context(cluster, choose_target(target or spec.spec.target, job, cluster, extensions))
    try:
        findings.append(check_target(spec, job, context))
        built = build(spec, job, context, passes_with(extensions))
        findings.append(verify(built, notes=notes))
    except PluginFailedError as failure:
        findings.append([PlacedProblem(failure.problem)])

    trace = None if built is None else cache(partial(_compute_trace, built))
    located = findings if notes else [list(filter(_is_error, stage)) for stage in findings]
    problems = tuple(blocking(locate_stages(located, data, spec, trace)))
    if built is None or has_error(findings[:-1]):
        return Compiled((), problems, context.target if is_valid else None)

    return Compiled(
        () if has_error(findings) else built.manifests, problems, context.target, built, trace
    )


def has_error(stages: Iterable[Iterable[PlacedProblem]]) -> bool:
    """Return whether any stage found an error."""
    return any(_is_error(finding) for stage in stages for finding in stage)


def _is_error(finding: PlacedProblem) -> bool:
    return finding.problem.severity == "error"


def choose_target(
    name: str | None, job: Job, cluster: ClusterProfile, extensions: Extensions | None
) -> Target:
    """Return the target with this name, or the default for the job if the name is None or
    unknown.
    """
    if name is not None and extensions is not None and name in extensions.targets:
        from ptcompile.compiler.extensions import safe_target

        return safe_target(extensions.targets[name])
    if name is not None and name in TARGETS:
        return target_named(name)
    return default_target(job, cluster)


def passes_with(extensions: Extensions | None) -> tuple[Pass, ...]:
    """Return the built-in passes and then those of plugins, in order."""
    if extensions is None or not extensions.passes:
        return PASSES
    from ptcompile.compiler.extensions import passes_of

    return (*PASSES, *passes_of(extensions))


def _compute_trace(built: Built) -> Trace:
    from ptcompile.compiler.trace import trace_of

    return trace_of(built)
