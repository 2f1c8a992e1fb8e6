"""What the rules say of a document that was compiled, at the spec's lines, without what comments say is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.location import PlacedProblem, locate
from ptcompile.compiler.pipeline import Compiled
from ptcompile.diagnostics import Diagnostic, Problem
from ptcompile.diagnostics.selection import Selection
from ptcompile.source import streams
from ptcompile.source.documents import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile


class Left(NamedTuple):
    """The findings that are told, and those that comments or `ignore` say are meant."""

    told: tuple[Diagnostic, ...]
    meant: tuple[Diagnostic, ...] = ()


def advice(
    compiled: Compiled,
    data: Mapping[str, Any],
    profile: ClusterProfile,
    asked: Selection | None,
    stamp: Callable[[Problem], Diagnostic],
    extensions: Extensions | None = None,
) -> Left:
    """The findings of the rules, and those of them that are ignored by name; none where `asked` is None.

    `stamp` adds positions.
    """
    if asked is None:
        return Left(())
    found = [stamp(problem) for problem in rule_findings(compiled, data, profile, extensions)]
    told = [one for one in found if asked.tells(one.name, one.stage)]
    return Left(tuple(told), tuple([one for one in found if one.name in asked.ignore]))


def rule_findings(
    compiled: Compiled, data: Mapping[str, Any], cluster: ClusterProfile, extensions: Extensions | None = None
) -> Iterator[Problem]:
    """Yield what the rules find in the manifests of a document, at the line of the spec that caused it."""
    from ptcompile import linter

    manifests, versions, trace = compiled.manifests, cluster.versions(), compiled.trace
    if trace is None:
        return
    stream = linter.Stream(manifests, versions)
    found = (
        PlacedProblem(problem, index)
        for index, manifest in enumerate(manifests)
        for problem in linter.run(manifest, versions=versions, others=stream)
    )
    known = {(problem.name, problem.path) for problem in compiled.problems}
    for problem in locate(found, data, trace):
        if (problem.name, problem.path) not in known and not _of_a_pass(problem):
            yield problem._replace(help=_HELPS.get(problem.name, problem.help))
    if extensions is not None and extensions.rules:
        from ptcompile.extending.calls import rule_problems

        own = list(rule_problems(extensions, data, manifests))
        known = {(problem.name, problem.path) for problem in own}
        found = (
            PlacedProblem(problem, index)
            for index, manifest in enumerate(manifests)
            for problem in rule_problems(extensions, manifest, manifests)
        )
        yield from own
        yield from (one for one in locate(found, data, trace) if (one.name, one.path) not in known)


_HELPS = {
    "unbounded-shm": "set a memory limit, or a size such as sharedMemory: 64Gi",
    "lone-pod-restart": "replace restartPolicy with runPolicy: {onPodFailure: RestartJob}, which restarts all pods",
    "job-restarts-alone": "remove it, or use a target that restarts all pods, such as jobset",
}
"""What to do in a spec where the rule's own help speaks of the manifest's fields."""


def _of_a_pass(problem: Problem) -> bool:
    """Whether a finding asks the user to remove a variable that a pass wrote, for a script without torchrun."""
    return problem.name == "env-that-torchrun-sets" and problem.path[-2:-1] != ("env",)


def apply_suppressions(
    read: Source,
    found: Sequence[Diagnostic],
    asked: Selection | None,
    filename: str | None,
) -> Left:
    """Return the findings of a file up to the limit, without those that its comments cover, and those covered."""
    found = streams.limit_findings(found, filename)
    if asked is None or "ptcompile:" not in read.text:
        return Left(tuple(found))
    from ptcompile.source.suppression import suppress

    kept, meant, problems = suppress(read, found, asked)
    told = (*kept, *(streams.to_diagnostic(problem, None, filename) for problem in problems))
    return Left(told, meant)


def of_all(runs: Sequence[Sequence[Diagnostic]]) -> dict[Diagnostic, list[int]]:
    """The findings of one file for several targets, each with the runs that made it, and without its fix.

    A comment that covers a finding for one of the targets is not unused.
    """
    found: dict[Diagnostic, list[int]] = {}
    for number, run in enumerate(runs):
        for one in run:
            found.setdefault(one._replace(fix=None), []).append(number)
    everywhere = list(range(len(runs)))
    return {one: numbers for one, numbers in found.items() if one.name != "unused-ignore" or numbers == everywhere}
