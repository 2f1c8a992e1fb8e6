"""A decoded document to the parts of a sound spec, and what is wrong with the document."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.compiling.checks import check
from ptcompile.compiling.location import Finding
from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.amounts import Parts, parts_of
from ptcompile.frontends.spec import read_spec
from ptcompile.kubernetes import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.extending import Extensions
    from ptcompile.vocabulary.cluster.model import ClusterProfile

_READINGS: Final = 5
"""A mistake may hide others: a block's own check comes after those of its fields, contradictions after both."""


def read(
    data: Any, cluster: ClusterProfile, target: str | None, extensions: Extensions | None
) -> tuple[Parts | None, list[list[Finding]]]:
    """Read and check a document, and behind a mistake what is left of it without the mistake.

    Returns the parts of a spec without mistakes, None if there is none, and the findings of each reading.
    """
    if problem := not_ours(data):
        return None, [[Finding(problem)]]
    stages: list[list[Finding]] = []
    refused: dict[tuple[str, Path], Problem] = {}
    rest = data
    while rest is not None and len(stages) < _READINGS:
        spec, problems = read_spec(rest)
        parts = parts_of(spec, cluster) if spec is not None else None
        stages.append(list(map(Finding, problems)) if parts is None else check(parts, target, extensions))
        errors = [one.problem for one in stages[-1] if one.problem.severity == "error"]
        if not errors:
            return parts, stages
        before = len(refused)
        refused.update({(one.name, one.path): one for one in errors})
        if len(refused) == before:  # nothing that can be taken out
            break
        from ptcompile.compiling.further import mended

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
    return kind is None or (isinstance(kind, str) and names.suggest(kind, ["TrainingJob"]) is not None)
