"""Warnings about what every kind has: apiVersion, owners, finalizers, and names that are accepted
and advised against.

Source: Kubernetes 1.36, apiserver/pkg/endpoints/handlers/create.go:
dedupOwnerReferencesAndAddWarning; apiextensions-apiserver/pkg/registry/customresource/validator.go:
validateKubeFinalizerName; the strategies of Pods and workloads;
pkg/apis/admissionregistration/validation: WarningsForStaticSuffix;
apiserver/pkg/endpoints/deprecation: WarningMessage, and the lifecycles of the types. For versions
of custom resources, see `crds.loader.deprecation_of`.
"""

from __future__ import annotations

from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.validation.metadata import owner_key
from ptcompile.apiserver.warnings.header import repeated, warning
from ptcompile.diagnostics import Problem, Problems
from ptcompile.diagnostics.field_errors import indexed_items, indexed_mappings, quote_value
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, ObjectKind, nested_map, nested_value

_OWNERS_TEXT = (
    "contains duplicate entries; API server dedups owner references in 1.20+, and may reject such "
    "requests as early "
    "as 1.24; please fix your requests; duplicate UID(s) observed:"
)
_PREFER = "prefer a domain-qualified finalizer name"
_AVOID = "to avoid accidental conflicts with other finalizer writers"
_STANDARD_FINALIZERS = frozenset({"foregroundDeletion", "kubernetes", "orphan"})
_GENERATED_BASE_MAX = 58
_TABLE = load_table("apiserver/warnings/lifecycles.json")
_LIFECYCLES = {(row["apiVersion"], row["kind"]): row for row in _TABLE["kinds"]}
"""Minor releases of Kubernetes 1 that deprecated a kind and that no longer serve it, and its
replacement or "".
"""


def owner_warnings(manifest: Json) -> Problems:
    """Yield a warning at the first owner that equals an earlier one. The header names the UIDs
    of all of them.
    """
    seen: set[str] = set()
    repeats: list[tuple[int, Json]] = []
    for index, owner in indexed_mappings(nested_value(manifest, "metadata", "ownerReferences")):
        if owner_key(owner) in seen:
            repeats.append((index, owner))
        seen.add(owner_key(owner))

    if repeats:
        uids = ", ".join(str(owner.get("uid") or "") for _, owner in repeats)
        (index, _), *_ = repeats
        yield repeated(
            ("metadata", "ownerReferences", index),
            f".metadata.ownerReferences {_OWNERS_TEXT} {uids}",
            "name each owner once",
            field="",
        )


def finalizer_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield a warning for each finalizer of a custom resource that names no domain."""
    reported: set[str] = set()
    for index, name in indexed_items(nested_value(manifest, "metadata", "finalizers")):
        if (
            type(name) is not str
            or not name
            or name in reported
            or "/" in name
            or name in _STANDARD_FINALIZERS
        ):
            continue

        reported.add(name)
        path = " including a path (/)" if "." in name and server.at_least(32) else ""
        text = f"{quote_value(name)}: {_PREFER}{path} {_AVOID}"
        help = "name it as domain/name, such as example.com/cleanup"
        yield warning(
            "discouraged-name",
            ("metadata", "finalizers", index),
            text,
            help,
            field="metadata.finalizers",
        )


def host_name_warnings(manifest: Json, use: str) -> Problems:
    """Yield a warning if the object's name cannot be a hostname. `use` says what the name is
    used in.
    """
    metadata = nested_map(manifest, "metadata")
    key = "name"
    name = metadata.get("name")
    if not name and type(metadata.get("generateName")) is str:
        key = "generateName"
        name = f"{metadata['generateName'][:_GENERATED_BASE_MAX]}xxxxx"
    if type(name) is not str or names.is_dns_label(name) or not names.is_dns_subdomain(name):
        return

    reasons = []
    if len(name) > names.DNS_LABEL_MAX:
        reasons.append("must be no more than 63 characters")
    if not names.is_label(name):
        reasons.append("must not contain dots")
    text = (
        f"this is used in {use}, which can result in surprising behavior; a DNS label is "
        "recommended: "
    )
    help = "use at most 63 lower case letters, digits and '-'"
    yield warning(
        "discouraged-name",
        ("metadata", key),
        f"{text}[{' '.join(reasons)}]",
        help,
        field="metadata.name",
    )


def static_name_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield a warning if a policy or webhook configuration has a name of the static
    configuration (1.36).
    """
    name = nested_value(manifest, "metadata", "name")
    if server.at_least(36) and type(name) is str and name.endswith(".static.k8s.io"):
        text = (
            'names ending with ".static.k8s.io" are reserved for static manifest-based '
            "configurations and cannot be "
            "managed via the API"
        )
        yield warning(
            "discouraged-name", ("metadata", "name"), text, "give it a name with another ending"
        )


def built_in_version_warnings(kind: ObjectKind, server: ApiServer) -> Problems:
    """Yield a warning if the server deprecates this version of a built-in kind."""
    row = _LIFECYCLES.get(kind)
    if row is None or not server.at_least(row["deprecated"]):
        return

    replacement = row["replacement"]
    text = f"{kind.api_version} {kind.name} is deprecated in v1.{row['deprecated']}+"
    if row["removed"] is not None:
        text += f", unavailable in v1.{row['removed']}+"
    if replacement:
        text += f"; use {replacement}"
    help = f"use {replacement}" if replacement else "use a newer apiVersion"
    yield deprecated_version(text, help)


def deprecated_version(text: str, help: str) -> Problem:
    """Return the warning that an apiVersion is deprecated, in the server's words."""
    return warning("deprecated-api", ("apiVersion",), text, help, field="")
