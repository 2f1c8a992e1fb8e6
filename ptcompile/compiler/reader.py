"""A document to the parts of a sound spec, a profile in any form; what is wrong with them, at its place."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.compiler.checks import check
from ptcompile.compiler.checks.kubernetes_fields import profile_template_problems
from ptcompile.compiler.frontend.parts import SpecParts, parts_of
from ptcompile.compiler.frontend.reader import decode_profile, decode_spec
from ptcompile.compiler.location import PlacedProblem
from ptcompile.diagnostics import Diagnostic, Path, Problem, blocking, blocking_text
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile


_READINGS: Final = 5
"""A mistake may hide others: a block's own check comes after those of its fields, contradictions after both."""


def read(
    data: Any, cluster: ClusterProfile, target: str | None, extensions: Extensions | None
) -> tuple[SpecParts | None, list[list[PlacedProblem]]]:
    """Read and check a document, and behind a mistake what is left of it without the mistake.

    Returns the parts of a spec without mistakes, None if there is none, and the findings of each reading.
    """
    if problem := not_ours(data):
        return None, [[PlacedProblem(problem)]]
    stages: list[list[PlacedProblem]] = []
    refused: dict[tuple[str, Path], Problem] = {}
    rest = data
    while rest is not None and len(stages) < _READINGS:
        spec, problems = decode_spec(rest)
        parts = parts_of(spec, cluster) if spec is not None else None
        stages.append(list(map(PlacedProblem, problems)) if parts is None else check(parts, target, extensions))
        errors = [one.problem for one in stages[-1] if one.problem.severity == "error"]
        if not errors:
            return parts, stages
        before = len(refused)
        refused.update({(one.name, one.path): one for one in errors})
        if len(refused) == before:  # nothing that can be taken out
            break
        from ptcompile.compiler.recovery import mended

        rest, _ = mended(data, refused.values())
    return None, stages


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
    return kind is None or (isinstance(kind, str) and closest_match(kind, ["TrainingJob"]) is not None)


def read_profile(data: Any) -> tuple[ClusterProfile | None, list[Problem]]:
    """A decoded ClusterProfile document with pod templates that Kubernetes can decode; or what is wrong with it."""
    profile, problems = decode_profile(data)
    if profile is not None:
        problems += profile_template_problems(profile)
    return (None if any(one.severity == "error" for one in problems) else profile), blocking(problems)


def load_profile(
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None, *, filename: str | None = None
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """A ClusterProfile in any form, the built-in one for None; or None and what is wrong with it."""
    from ptcompile.spec.reader import default_cluster

    if cluster is None:
        return default_cluster(), []
    from ptcompile.spec.objects import Profile

    if isinstance(cluster, Profile):
        refused = [streams.to_diagnostic(problem, None, filename) for problem in profile_template_problems(cluster)]
        return None if refused else cluster, refused
    read = streams.read(cluster, filename, "cluster")
    found = [streams.to_diagnostic(problem, None, filename) for problem in blocking_text(read.problems)]
    if any(one.severity == "error" for one in found):
        return None, found
    documents = streams.profile_documents(read)
    if len(documents) != 1:
        message = f"a profile is one document of kind ClusterProfile, got {len(documents)}"
        problem = Problem("no-documents", (), message, "give one", authority="ptcompile", blocks_compile=True)
        return None, [*found, streams.to_diagnostic(problem, None, filename)]
    profile, problems = read_profile(documents[0].data)
    return profile, [*found, *(streams.to_diagnostic(problem, documents[0], filename) for problem in problems)]
