"""Findings of lint rules on a compiled document, at the spec's lines, and suppression by
comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.location import PlacedProblem, at_source, locate
from ptcompile.compiler.pipeline import Compiled
from ptcompile.diagnostics import Diagnostic, Edit, Fix, Problem, Problems
from ptcompile.diagnostics.selection import Selection
from ptcompile.kubernetes.unstructured import Json
from ptcompile.source import streams
from ptcompile.source.documents import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.kubernetes.versions import Versions
    from ptcompile.linter import Stream
    from ptcompile.spec.cluster_profile import ClusterProfile


class ReportedFindings(NamedTuple):
    """Findings that are reported, and those that comments suppress or `ignore` names."""

    reported: tuple[Diagnostic, ...]
    suppressed: tuple[Diagnostic, ...] = ()


def findings_of_rules(
    compiled: Compiled,
    data: Json,
    profile: ClusterProfile,
    selection: Selection | None,
    to_diagnostic: Callable[[Problem], Diagnostic],
    extensions: Extensions | None,
) -> ReportedFindings:
    """Return the diagnostics of the rules, and those that are ignored by name; none if `selection`
    is None.

    `to_diagnostic` adds positions.
    """
    if selection is None:
        return ReportedFindings(())

    diagnostics = [
        to_diagnostic(problem) for problem in rule_findings(compiled, data, profile, extensions)
    ]
    reported = [
        selection.with_severity(diagnostic)
        for diagnostic in diagnostics
        if selection.includes(diagnostic.name, diagnostic.stage)
    ]

    return ReportedFindings(
        tuple(reported),
        tuple([diagnostic for diagnostic in diagnostics if diagnostic.name in selection.ignore]),
    )


def rule_findings(
    compiled: Compiled, data: Json, cluster: ClusterProfile, extensions: Extensions | None
) -> Problems:
    """Yield the rules' findings and the API server's warnings about the manifests of a document, at
    the spec lines that caused them.
    """
    from ptcompile import linter

    manifests = compiled.manifests
    versions = cluster.versions()
    trace = compiled.trace
    if trace is None:
        return

    stream = linter.Stream(manifests, versions, frameworks=cluster.spec.queue_frameworks)
    findings = (
        at_source(problem, index, manifests)
        for index, manifest in enumerate(manifests)
        for problem in _manifest_findings(manifest, stream, versions)
    )
    reported = {(problem.name, problem.path) for problem in compiled.problems}
    for problem in locate(findings, data, trace):
        # about a variable that a pass wrote for a script without torchrun
        is_from_pass = problem.name == "env-that-torchrun-sets" and problem.path[-2:-1] != ("env",)
        if (problem.name, problem.path) not in reported and not is_from_pass:
            fix = problem.fix
            if problem.name == "missing-shm" and problem.path[-1:] == ("sharedMemory",):
                fix = Fix("remove sharedMemory: false", (Edit("remove", problem.path),))
            yield problem._replace(help=_HELPS.get(problem.name, problem.help), fix=fix)

    if extensions is not None and extensions.rules:
        from ptcompile.extending.calls import rule_problems

        spec_problems = list(rule_problems(extensions, data, manifests))
        reported = {(problem.name, problem.path) for problem in spec_problems}
        findings = (
            PlacedProblem(problem, index)
            for index, manifest in enumerate(manifests)
            for problem in rule_problems(extensions, manifest, manifests)
        )
        yield from spec_problems
        for problem in locate(findings, data, trace):
            if (problem.name, problem.path) not in reported:
                yield problem


def _manifest_findings(manifest: Json, stream: Stream, versions: Versions) -> Iterable[Problem]:
    from ptcompile import linter
    from ptcompile.apiserver.warnings import unreported_warnings

    findings = list(linter.run(manifest, versions=versions, stream=stream))
    return [*findings, *unreported_warnings(manifest, findings, versions)]


_HELPS = {
    "missing-shm": "remove sharedMemory: false, or set a size such as 64Gi",
    "unbounded-shm": "set a memory limit, or a size such as sharedMemory: 64Gi",
    "lone-pod-restart": "replace restartPolicy with runPolicy: {onPodFailure: RestartJob}, which restarts all pods",
    "job-restarts-alone": "remove it, or use a target that restarts all pods, such as jobset",
}
"""What to do in a spec, for rules whose own help names fields of the manifest."""


def apply_suppressions(
    source: Source,
    diagnostics: Sequence[Diagnostic],
    selection: Selection | None,
    filename: str | None,
) -> ReportedFindings:
    """Return a file's findings, up to the limit, without those that its comments suppress; and
    the suppressed ones.
    """
    diagnostics = streams.limit_findings(diagnostics, filename)
    if selection is None or "ptcompile:" not in source.text:
        return ReportedFindings(tuple(diagnostics))
    from ptcompile.source.suppression import suppress

    kept, suppressed, problems = suppress(source, diagnostics, selection)
    of_comments = (streams.to_diagnostic(problem, None, filename) for problem in problems)
    return ReportedFindings((*kept, *map(selection.with_severity, of_comments)), suppressed)


def targets_by_finding(runs: Sequence[Sequence[Diagnostic]]) -> dict[Diagnostic, list[int]]:
    """Return the findings of one file for several targets, each with the runs that reported it, and
    without its fix.

    A suppression comment counts as unused only if it is unused for all targets.
    """
    numbers_by_diagnostic: dict[Diagnostic, list[int]] = {}
    for number, run in enumerate(runs):
        for diagnostic in run:
            numbers_by_diagnostic.setdefault(diagnostic._replace(fix=None), []).append(number)
    everywhere = list(range(len(runs)))

    return {
        diagnostic: run_numbers
        for diagnostic, run_numbers in numbers_by_diagnostic.items()
        if diagnostic.name != "unused-ignore" or run_numbers == everywhere
    }
