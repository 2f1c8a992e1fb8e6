"""Warnings that the API server sends with its answer (`Warning` headers), in its words and at its
paths.

The server accepts the object. The modules of a kind are imported when its first object is checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.kinds import CUSTOM, function_named, is_built_in
from ptcompile.diagnostics import Problem, Problems
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, api_group, kind_of, nested_map
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import KINDS, operator_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.crds import Definitions

__all__ = ["server_warnings", "unreported_warnings"]


def server_warnings(
    manifest: Json, versions: Versions | None = None, definitions: Definitions | None = None
) -> Problems:
    """Yield the warnings that the API server sends when the object is created, if it accepts the
    object.

    `versions` are the cluster's releases (default: the newest supported), `definitions` those of
    kinds that users supply.
    """
    releases = versions or Versions()
    server = ApiServer(releases.kubernetes)
    kind = kind_of(manifest)
    metadata = nested_map(manifest, "metadata")
    if metadata.get("ownerReferences"):
        from ptcompile.apiserver.warnings.metadata import owner_warnings

        yield from owner_warnings(manifest)
    if kind in CUSTOM or not is_built_in(kind):
        if definitions is not None or kind not in CUSTOM:
            yield from _custom_version_warnings(manifest, releases, definitions)
        if metadata.get("finalizers"):
            from ptcompile.apiserver.warnings.metadata import finalizer_warnings

            yield from finalizer_warnings(manifest, server)
        return

    if kind.api_version == "v1" or "beta" in kind.api_version:
        from ptcompile.apiserver.warnings.metadata import built_in_version_warnings

        yield from built_in_version_warnings(kind, server)

    # the functions of the kinds as `module.function` of this package, by API group and kind
    groups = load_table("apiserver/warnings/kinds.json")["groups"]
    if function := nested_map(groups, api_group(kind.api_version)).get(kind.name):
        yield from function_named(__name__, function)(manifest, server)


def unreported_warnings(
    manifest: Json,
    findings: Sequence[Problem],
    versions: Versions | None,
    definitions: Definitions | None = None,
) -> Problems:
    """Yield the server's warnings, except where the server rejects the object or a rule reports
    the same.
    """
    warnings = list(server_warnings(manifest, versions, definitions))
    if not warnings:
        return

    rejected = {
        problem.path
        for problem in findings
        if problem.stage == "apply" and problem.severity == "error"
    }
    rejected_parents = {path[:end] for path in rejected for end in range(1, len(path))}
    # the rule reports the entry that is hidden, the server the one that hides it
    reported = {
        (problem.name, problem.path[: -2 if problem.name == "repeated-env" else None])
        for problem in findings
    }
    for problem in warnings:
        path = problem.path
        subject = path[:-1] if problem.name == "repeated-env" else path
        is_rejected = path in rejected_parents or any(
            path[:end] in rejected for end in range(len(path) + 1)
        )
        if not is_rejected and (problem.name, subject) not in reported:
            yield problem


def _custom_version_warnings(
    manifest: Json, versions: Versions, definitions: Definitions | None
) -> Problems:
    """Yield a warning if the CRD deprecates the object's version; for a shipped CRD, unless the
    profile's release is older than it.
    """
    from ptcompile.apiserver.crds import NO_DEFINITIONS, Definition

    kind = kind_of(manifest)
    definition = (definitions or NO_DEFINITIONS).find(kind)
    if not isinstance(definition, Definition) or not definition.deprecation:
        return

    if definition.document and kind in KINDS:
        operator = operator_of(kind)
        if operator.release_in(versions) < operator.release_in(Versions()):
            return

    from ptcompile.apiserver.warnings.metadata import deprecated_version

    yield deprecated_version(definition.deprecation, "use a newer apiVersion")
