"""Roles and their bindings (Kubernetes 1.36)."""

from __future__ import annotations

from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.apiserver.validation.values import why_not_path_segment
from ptcompile.kubernetes import names

_RBAC_GROUP = "rbac.authorization.k8s.io"
_SUBJECT_GROUPS = {"ServiceAccount": "", "User": _RBAC_GROUP, "Group": _RBAC_GROUP}
"""API groups of subjects, keyed by kind."""


def check_role(role: FieldValue) -> None:
    """Check a Role, except its metadata."""
    for rule in role["rules"].objects():
        _check_rule(rule, namespaced=True)


def check_cluster_role(role: FieldValue) -> None:
    """Check a ClusterRole, except its metadata."""
    for rule in role["rules"].objects():
        _check_rule(rule, namespaced=False)
    if not role["aggregationRule"].is_mapping:
        return

    selectors = role["aggregationRule"]["clusterRoleSelectors"]
    if not selectors.value:
        selectors.required(
            "at least one clusterRoleSelector required if aggregationRule is non-nil"
        )

    for selector in selectors.objects():
        selector.check(check_selector)


def _check_rule(rule: FieldValue, *, namespaced: bool) -> None:
    urls = rule["nonResourceURLs"]
    if not rule.get("verbs"):
        rule["verbs"].required("verbs must contain at least one value")
    if urls.value:
        if namespaced:
            urls.invalid("namespaced rules cannot apply to non-resource URLs", "use a ClusterRole")
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            urls.invalid(why, "split the rule in two")
        return

    if not rule.get("apiGroups"):
        why = "resource rules must supply at least one api group"
        rule["apiGroups"].required(why, 'add apiGroups; [""] is the core group')
    if not rule.get("resources"):
        rule["resources"].required("resource rules must supply at least one resource")


def check_role_binding(binding: FieldValue) -> None:
    """Check a RoleBinding, except its metadata."""
    _check_binding(binding, ("ClusterRole", "Role"), namespaced=True)


def check_cluster_role_binding(binding: FieldValue) -> None:
    """Check a ClusterRoleBinding, except its metadata."""
    _check_binding(binding, ("ClusterRole",), namespaced=False)


def _check_binding(binding: FieldValue, kinds: tuple[str, ...], *, namespaced: bool) -> None:
    reference = binding["roleRef"]
    reference["apiGroup"].check_optional_choice((_RBAC_GROUP,))
    reference["kind"].or_zero("").check_choice(kinds)
    reference["name"].check_required_text(why_not_path_segment)
    for subject in binding["subjects"].objects():
        _check_subject(subject, namespaced)


def _check_subject(subject: FieldValue, namespaced: bool) -> None:
    kind = subject["kind"].or_default("")
    name = subject["name"]
    group = subject["apiGroup"]
    name.check_filled()
    if not kind.is_text:
        return
    if kind.value not in _SUBJECT_GROUPS:
        kind.unsupported(_SUBJECT_GROUPS)
        return

    allowed_group = _SUBJECT_GROUPS[kind.value]
    if group.value and group.value != allowed_group:
        group.unsupported((allowed_group,), "remove it: the kind sets the group")
    if kind.value == "ServiceAccount":
        name.check_optional_text(names.why_not_dns_subdomain)
        if not namespaced and not subject.get("namespace"):
            subject["namespace"].required(help="set the namespace of the service account")
