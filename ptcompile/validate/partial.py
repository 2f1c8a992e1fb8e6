"""Structure alone, for a pod that is not complete: a patch, or the part of one that a person wrote."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.versions import Versions
from ptcompile.validate.schemas import known_version
from ptcompile.validate.structure import structure
from ptcompile.validate.structure_fault import to_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_POD = ("v1", "Pod")


def partial_pod(pod: Mapping[str, Any]) -> list[Problem]:
    """What Kubernetes' decoder has against the fields that are there: unknown names and wrong types."""
    return [to_problem(fault) for fault in structure(pod, _POD, known_version(Versions().kubernetes))]
