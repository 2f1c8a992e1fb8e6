"""Roles and their bindings (Kubernetes 1.36)."""

from __future__ import annotations

from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map

_RBAC_GROUP = "rbac.authorization.k8s.io"
_SUBJECT_GROUPS = {"ServiceAccount": "", "User": _RBAC_GROUP, "Group": _RBAC_GROUP}
"""API groups of subjects, keyed by kind."""


def check_role(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Role, except its metadata."""
    for index, rule in indexed_mappings(manifest.get("rules")):
        _check_rule(rule, ("rules", index), problems, namespaced=True)


def check_cluster_role(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ClusterRole, except its metadata."""
    for index, rule in indexed_mappings(manifest.get("rules")):
        _check_rule(rule, ("rules", index), problems, namespaced=False)
    aggregation = manifest.get("aggregationRule")
    if type(aggregation) is not dict:
        return
    selectors_path: Path = ("aggregationRule", "clusterRoleSelectors")
    selectors = aggregation.get("clusterRoleSelectors")
    if not selectors:
        problems.required(selectors_path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for index, selector in indexed_mappings(selectors):
        check_selector(selector, (*selectors_path, index), problems)


def _check_rule(rule: Json, path: Path, problems: FieldErrors, *, namespaced: bool) -> None:
    if not rule.get("verbs"):
        problems.required((*path, "verbs"), "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        non_resource_urls_path = (*path, "nonResourceURLs")
        if namespaced:
            why = "namespaced rules cannot apply to non-resource URLs"
            problems.invalid(non_resource_urls_path, urls, why, "use a ClusterRole")
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            problems.invalid(non_resource_urls_path, urls, why, "split the rule in two")
        return
    if not rule.get("apiGroups"):
        why = "resource rules must supply at least one api group"
        problems.required((*path, "apiGroups"), why, 'add apiGroups; [""] is the core group')
    if not rule.get("resources"):
        problems.required((*path, "resources"), "resource rules must supply at least one resource")


def check_role_binding(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a RoleBinding, except its metadata."""
    _check_binding(manifest, ("ClusterRole", "Role"), problems, namespaced=True)


def check_cluster_role_binding(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ClusterRoleBinding, except its metadata."""
    _check_binding(manifest, ("ClusterRole",), problems, namespaced=False)


def _check_binding(manifest: Json, kinds: tuple[str, ...], problems: FieldErrors, *, namespaced: bool) -> None:
    from ptcompile.apiserver.validation.values import why_not_path_segment

    reference = nested_map(manifest, "roleRef")
    group = reference.get("apiGroup")
    name = reference.get("name")
    if group:
        problems.check_choice(("roleRef", "apiGroup"), group, (_RBAC_GROUP,))
    kind = reference.get("kind")
    problems.check_choice(("roleRef", "kind"), "" if kind is None else kind, kinds)
    problems.check_required_text(("roleRef", "name"), name, why_not_path_segment)
    for index, subject in indexed_mappings(manifest.get("subjects")):
        _check_subject(subject, ("subjects", index), problems, namespaced)


def _check_subject(subject: Json, path: Path, problems: FieldErrors, namespaced: bool) -> None:
    kind = subject.get("kind") or ""
    name = subject.get("name")
    group = subject.get("apiGroup")
    if name is None or name == "":
        problems.required((*path, "name"))
    if type(kind) is not str:
        return
    if kind not in _SUBJECT_GROUPS:
        problems.unsupported((*path, "kind"), kind, _SUBJECT_GROUPS)
        return
    if group and group != _SUBJECT_GROUPS[kind]:
        problems.unsupported((*path, "apiGroup"), group, (_SUBJECT_GROUPS[kind],), "remove it: the kind sets the group")
    if kind == "ServiceAccount":
        problems.check_optional_text((*path, "name"), name, names.why_not_dns_subdomain)
        if not namespaced and not subject.get("namespace"):
            problems.required((*path, "namespace"), help="set the namespace of the service account")
