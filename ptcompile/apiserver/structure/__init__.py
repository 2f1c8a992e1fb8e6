"""The structure of a manifest against the schema of its kind: unknown fields, types, required fields.

Built-in kinds are held to what kube-apiserver's strict decoder takes; the operators' kinds to their CRD's schema, with
`metadata` decoded as for any kind and `status` only looked at for unknown fields (the server drops it on creation).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import BUILT_IN, CORE, CUSTOM, as_tuple, known_version, other_kind
from ptcompile.apiserver.structure.checks import SchemaScope, compile_node, definition
from ptcompile.apiserver.structure.faults import SchemaViolation, Violations, to_problem
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes.versions import Versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.structure.faults import ValueCheck


_UNKNOWN: Final = frozenset({"unknown-field", "version-unknown-field"})


def structure(manifest: Mapping[str, Any], kind: tuple[str, str], kubernetes: str) -> list[SchemaViolation]:
    """What the server's decoder, or the CRD's schema, has against a manifest of a known kind.

    `kind`: a key of `schemas.BUILT_IN` or `schemas.CUSTOM`, or one that `kinds.other_kind` knows; `kubernetes`: one of
    `schemas.versions()`.
    """
    return root_check(kind, kubernetes)(manifest if isinstance(manifest, dict) else dict(manifest)) or []


def complete(manifest: Mapping[str, Any], kind: tuple[str, str], kubernetes: str) -> bool:
    """Whether `structure` finds nothing in an operator's object, and Go would change nothing in its spec.

    No field there is null or a fraction. In such an object what is equal is the same: 1, 1.0 and True are never of one
    field. May be False of one of them.
    """
    return root_check(kind, kubernetes, complete=True)(manifest) is None


def rejected_paths(faults: list[SchemaViolation]) -> set[Path]:
    """The paths of which nothing more is to be said: where the faults are, and fields that they probably mean."""
    paths: set[Path] = set()
    for fault in faults:
        path = tuple(reversed(fault.path))
        paths.add(path)
        if fault.suggestion is not None:
            paths.add((*path[:-1], fault.suggestion))
    return paths


def is_outside(problem: Problem, paths: set[Path]) -> bool:
    """Whether a problem is neither at nor under any of the paths."""
    path = problem.path
    return not any(path[:n] in paths for n in range(len(path) + 1))


@cache
def root_check(kind: tuple[str, str], kubernetes: str, *, complete: bool = False) -> ValueCheck:
    """The compiled check of a kind's whole manifest."""
    if kind in BUILT_IN:
        return definition(CORE, BUILT_IN[kind], kubernetes, False)
    if kind not in CUSTOM:
        place = other_kind(kind)
        assert place is not None  # noqa: S101  # the caller has looked
        return definition(place.document, place.definition, kubernetes, False)
    document = CUSTOM[kind]
    schema = load(document)
    scope = SchemaScope(document, schema["x-kubernetes-version"], True, as_tuple(kubernetes), complete)
    return without_status(compile_node(schema, scope))


def without_status(check: ValueCheck) -> ValueCheck:
    """On creation a custom resource's status is dropped before its schema is applied, but after strict decoding."""

    def checked(manifest: Any) -> Violations:
        found = check(manifest)
        if found is None or "status" not in manifest:
            return found
        return [fault for fault in found if _counts(fault)] or None

    return checked


def _counts(fault: SchemaViolation) -> bool:
    return fault.path[-1:] != ["status"] or fault.name in _UNKNOWN


_POD = ("v1", "Pod")


def partial_pod(pod: Mapping[str, Any]) -> list[Problem]:
    """What Kubernetes' decoder has against the fields that are there: unknown names and wrong types."""
    return [to_problem(fault) for fault in structure(pod, _POD, known_version(Versions().kubernetes))]
