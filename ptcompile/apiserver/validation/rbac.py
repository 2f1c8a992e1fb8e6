"""Roles and their bindings (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_GROUP: Final = "rbac.authorization.k8s.io"
_SUBJECTS: Final = {"ServiceAccount": "", "User": _GROUP, "Group": _GROUP}
"""The kinds of subjects, and the group of each."""


def check_role(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A Role without its metadata."""
    for index, rule in f.indexed_mappings(manifest.get("rules")):
        _check_rule(rule, ("rules", index), found, namespaced=True)


def check_cluster_role(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A ClusterRole without its metadata."""
    for index, rule in f.indexed_mappings(manifest.get("rules")):
        _check_rule(rule, ("rules", index), found, namespaced=False)
    aggregation = manifest.get("aggregationRule")
    if type(aggregation) is not dict:
        return
    here: Path = ("aggregationRule", "clusterRoleSelectors")
    selectors = aggregation.get("clusterRoleSelectors")
    if not selectors:
        f.required(found, here, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for index, selector in f.indexed_mappings(selectors):
        check_selector(selector, (*here, index), found)


def _check_rule(rule: dict[str, Any], path: Path, found: f.Problems, *, namespaced: bool) -> None:
    if not rule.get("verbs"):
        f.required(found, (*path, "verbs"), "verbs must contain at least one value")
    addresses = rule.get("nonResourceURLs")
    if addresses:
        here = (*path, "nonResourceURLs")
        if namespaced:
            why = "namespaced rules cannot apply to non-resource URLs"
            f.invalid(found, here, addresses, why, "use a ClusterRole")
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            f.invalid(found, here, addresses, why, "make two rules of them")
        return
    if not rule.get("apiGroups"):
        why = "resource rules must supply at least one api group"
        f.required(found, (*path, "apiGroups"), why, 'add apiGroups; [""] is the core group')
    if not rule.get("resources"):
        f.required(found, (*path, "resources"), "resource rules must supply at least one resource")


def check_role_binding(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A RoleBinding without its metadata."""
    _check_binding(manifest, ("ClusterRole", "Role"), found, namespaced=True)


def check_cluster_role_binding(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A ClusterRoleBinding without its metadata."""
    _check_binding(manifest, ("ClusterRole",), found, namespaced=False)


def _check_binding(manifest: Mapping[str, Any], kinds: tuple[str, ...], found: f.Problems, *, namespaced: bool) -> None:
    from ptcompile.apiserver.validation.values import why_not_path_segment

    reference = f.as_field_mapping(manifest.get("roleRef"))
    group, name = reference.get("apiGroup"), reference.get("name")
    if group:
        f.check_choice(found, ("roleRef", "apiGroup"), group, (_GROUP,))
    kind = reference.get("kind")
    f.check_choice(found, ("roleRef", "kind"), "" if kind is None else kind, kinds)
    if name is None or name == "":
        f.required(found, ("roleRef", "name"))
    elif type(name) is str and (why := why_not_path_segment(name)):
        f.invalid(found, ("roleRef", "name"), name, why)
    for index, subject in f.indexed_mappings(manifest.get("subjects")):
        _check_subject(subject, ("subjects", index), found, namespaced)


def _check_subject(subject: dict[str, Any], path: Path, found: f.Problems, namespaced: bool) -> None:
    kind, name, group = subject.get("kind") or "", subject.get("name"), subject.get("apiGroup")
    if name is None or name == "":
        f.required(found, (*path, "name"))
    if type(kind) is not str:
        return
    if kind not in _SUBJECTS:
        f.unsupported(found, (*path, "kind"), kind, _SUBJECTS)
        return
    if group and group != _SUBJECTS[kind]:
        f.unsupported(found, (*path, "apiGroup"), group, (_SUBJECTS[kind],), "remove it: the kind says which")
    if kind == "ServiceAccount":
        if type(name) is str and name and (why := names.why_not_dns_subdomain(name)):
            f.invalid(found, (*path, "name"), name, why)
        if not namespaced and not subject.get("namespace"):
            f.required(found, (*path, "namespace"), help="say the namespace of the service account")
