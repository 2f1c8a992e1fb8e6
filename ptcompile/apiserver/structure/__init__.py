"""Checks of a manifest's structure against the schema of its kind: unknown fields, types, required
fields.

Built-in kinds are checked like kube-apiserver's strict decoder, operators' kinds against their
CRD's schema. Of the latter, `metadata` is decoded as for any kind and `status` is only checked for
unknown fields, because the server drops it on creation.
"""

from __future__ import annotations

from functools import cache

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import BUILT_IN, CORE, CUSTOM, as_tuple, known_version, other_kind
from ptcompile.apiserver.structure.checks import SchemaScope, compile_node, definition_check
from ptcompile.apiserver.structure.violations import (
    Release,
    SchemaViolation,
    ValueCheck,
    Violations,
    to_problem,
)
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes.versions import Versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.kubernetes.versions import Switches


_UNKNOWN_FIELD_RULES = frozenset({"unknown-field", "version-unknown-field"})


def structure_violations(
    manifest: Json,
    kind: tuple[str, str],
    kubernetes: str,
    gates: Switches = (),
    release: Release | None = None,
) -> list[SchemaViolation]:
    """Return the violations that the server's decoder, or the CRD's schema, finds in a manifest.

    `kind` is a key of `BUILT_IN` or `CUSTOM`, or one that `kinds.other_kind` finds; `kubernetes` is
    one of `kinds.versions()`; `gates` are the server's feature gates that differ from their
    defaults; `release` is that of the kind's operator.
    """
    return (
        root_check(kind, kubernetes, gates, release)(
            manifest if isinstance(manifest, dict) else dict(manifest)
        )
        or []
    )


def is_complete(
    manifest: Json,
    kind: tuple[str, str],
    kubernetes: str,
    gates: Switches = (),
    release: Release | None = None,
) -> bool:
    """Return whether an operator's object has no violation and Go would leave its spec unchanged:
    no nulls, no fractions.

    In such an object equal values are identical: 1, 1.0 and True never occur in the same field. The
    check may return False for an object that qualifies.
    """
    return root_check(kind, kubernetes, gates, release, complete=True)(manifest) is None


def rejected_paths(violations: list[SchemaViolation]) -> set[Path]:
    """Return the paths on which nothing more is reported: those of the violations, and of the
    fields suggested instead.
    """
    paths: set[Path] = set()
    for violation in violations:
        path = tuple(reversed(violation.path))
        paths.add(path)
        if violation.suggestion is not None:
            paths.add((*path[:-1], violation.suggestion))
    return paths


def is_outside(problem: Problem, paths: set[Path]) -> bool:
    """Return whether a problem is neither at nor below any of the paths."""
    path = problem.path
    return not any(path[:n] in paths for n in range(len(path) + 1))


@cache
def root_check(
    kind: tuple[str, str],
    kubernetes: str,
    gates: Switches,
    release: Release | None,
    *,
    complete: bool = False,
) -> ValueCheck:
    """Return the compiled check of a kind's whole manifest."""
    if kind in BUILT_IN:
        return definition_check(BUILT_IN[kind], SchemaScope(CORE, kubernetes, False, gates=gates))
    if kind not in CUSTOM:
        served_kind = other_kind(kind)
        assert served_kind is not None  # noqa: S101  # the caller knows that the kind exists
        scope = SchemaScope(served_kind.document, kubernetes, False, gates=gates)
        return definition_check(served_kind.definition, scope)

    document = CUSTOM[kind]
    schema = load(document)
    title = schema["x-crd"].partition(" ")[0] if release is not None else ""
    named = release._replace(title=title) if release is not None else None
    scope = SchemaScope(
        document, schema["x-kubernetes-version"], True, as_tuple(kubernetes), complete, gates, named
    )

    return without_status(compile_node(schema, scope))


def without_status(check: ValueCheck) -> ValueCheck:
    """Wrap a check so that it ignores a custom resource's status, except unknown fields.

    The server drops the status on creation after strict decoding, but before it applies the schema.
    """

    def check_spec(manifest: Any) -> Violations:
        violations = check(manifest)
        if violations is None or "status" not in manifest:
            return violations
        return [
            violation
            for violation in violations
            if violation.path[-1:] != ["status"] or violation.name in _UNKNOWN_FIELD_RULES
        ] or None

    return check_spec


_POD_KIND = ("v1", "Pod")


def pod_decode_problems(pod: Json) -> list[Problem]:
    """Return a problem for each field that Kubernetes' decoder rejects: unknown names and wrong
    types.
    """
    return [
        to_problem(violation)
        for violation in structure_violations(pod, _POD_KIND, known_version(Versions().kubernetes))
    ]
