"""The API server's own field rules, in one table of built-in kinds.

The rules are those of the server's internal types, so one function covers all versions of a kind.
The module of a kind is imported when its first object is checked.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.kinds import function_named
from ptcompile.apiserver.validation.dns import why_not_canonical_ip
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.metadata import (
    check_metadata,
    check_own_namespace,
    metadata_problems,
)
from ptcompile.apiserver.validation.values import service_name_rule, why_not_path_segment
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import FieldErrors, TextRule
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, GroupVersionKind
from ptcompile.kubernetes.unstructured import Json, api_group, nested_map, nested_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    KindCheck = Callable[[FieldValue], None]


__all__ = ["ApiServer", "built_in_problems", "has_field_rules", "metadata_problems"]


def _row_of(group: str) -> Json:
    """Return what the server does with the kinds of an API group: their checks as
    `module.function` of this package, rules for names that need not be DNS subdomains, whether the
    generic layer alone checks finalizers, so that they need no domain, and whether objects start
    at generation 1 regardless of the file. `templates` covers the operators' kinds.

    Kinds that only controllers and kubelets write have no checks: CertificateSigningRequest,
    CSINode, CSIStorageCapacity, EndpointSlice and ResourceSlice. Their structure and metadata are
    checked, which a note says.
    """
    return nested_map(load_table("apiserver/validation/kinds.json"), "groups", group)


def _check_of(group: str, kind: str) -> KindCheck | None:
    name = nested_map(_row_of(group), "checks").get(kind)
    if name is None:
        return None

    check: KindCheck = function_named(__name__, name)
    return check


_METADATA_ALONE = frozenset({("", "ServiceAccount")})
"""Kinds of which the server validates metadata alone, by API group and kind."""

_OLDER_MODELS = frozenset({"resource.k8s.io/v1alpha2"})
"""apiVersions whose kinds have other fields than the later ones that the checks are about."""


def has_field_rules(kind: GroupVersionKind) -> bool:
    """Return whether objects of a built-in kind are checked by the server's field rules, not only
    by structure and metadata.
    """
    api_version, name = kind
    group = api_group(api_version)
    if (group, name) in _METADATA_ALONE:
        return True
    return api_version not in _OLDER_MODELS and _check_of(group, name) is not None


def _why_not_cron_job(name: str) -> str | None:
    why = names.why_not_dns_subdomain(name)
    if why is None and len(name) > 52:
        return "must be no more than 52 characters: eleven more make the name of a Job"
    return why


_NAME_RULES: dict[str, TextRule] = {
    "CronJob": _why_not_cron_job,
    "DNS label": names.why_not_dns_label,
    "canonical IP address": why_not_canonical_ip,
    "path segment": why_not_path_segment,
}
"""The rules for names that `kinds.json` names."""

_FREE_FINALIZER_KINDS = frozenset({("", "Event")})
"""Further kinds whose finalizers need no domain."""

_REVIEW_GROUPS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""API groups of review objects: the server answers them without storing them, so they need no
name.
"""


def built_in_problems(manifest: Json, context: ApiServer) -> Problems:
    """Yield the field problems of a built-in kind. The structure is checked elsewhere."""
    problems = FieldErrors()
    whole = FieldValue(manifest, (), CheckScope(context, problems))
    kind = group_and_kind(manifest)
    group, name = kind
    row = _row_of(group)

    if group not in _REVIEW_GROUPS:
        plain_finalizers = "plain finalizers" in row or kind in _FREE_FINALIZER_KINDS
        rule = _name_rule(kind, row, context)
        check_metadata(
            manifest.get("metadata"), ("metadata",), problems, rule, not plain_finalizers
        )
        # the namespace of an Event is compared with that of the object that it is about
        if name != "Event":
            check_own_namespace(manifest, problems)
        # the server generates the name of a LimitRange
        if kind == ("", "LimitRange"):
            problems[:] = [
                problem
                for problem in problems
                if problem.path != ("metadata", "name") or problem.name != "required-value"
            ]

    is_revision = kind == ("apps", "ControllerRevision")
    starts_at_1 = "starts at generation 1" in row and not is_revision
    if kind != ("", "Pod") and not starts_at_1:
        whole["metadata"].check_not_negative("generation")

    if (check := _check_of(group, name)) is not None:
        check(whole)

    return iter(problems)


def _name_rule(kind: tuple[str, str], row: Json, context: ApiServer) -> TextRule:
    """Return the rule for the names of a kind, whose API group has this row in the table."""
    if kind == ("apps", "StatefulSet") and context.at_least(36):
        return names.why_not_dns_label
    if kind == ("", "Service"):
        return service_name_rule(context)
    _, name = kind
    rule = nested_value(row, "names", name)
    if rule is None:
        return names.why_not_dns_subdomain
    return _NAME_RULES[rule]
