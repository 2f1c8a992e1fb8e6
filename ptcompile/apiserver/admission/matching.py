"""Requests that an admission policy or one of its bindings applies to: rules, selectors, and what
is excluded.

Source: Kubernetes 1.36, apiserver pkg/admission/plugin/policy/matching and
plugin/webhook/predicates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from ptcompile.apiserver.admission.request import ClusterState, Request, is_namespaced, resource_of
from ptcompile.apiserver.kinds import BUILT_IN, other_kind
from ptcompile.apiserver.validation.metadata import selector_keys
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mappings,
    namespace_of,
    nested_map,
    nested_string,
    nested_strings,
    object_name,
)

_NAMESPACE = ("v1", "Namespace")
_NAME_LABEL = "kubernetes.io/metadata.name"
"""The label that the server gives each namespace."""


class Decision(IntEnum):
    """Whether a policy applies. The files may not settle it: the labels of a namespace may not
    be in them.
    """

    NO = 0
    UNKNOWN = 1
    YES = 2


def matches(criteria: Json, request: Request, state: ClusterState) -> Decision:
    """Return whether `matchConstraints` of a policy or `matchResources` of a binding select a
    request.
    """
    selector = nested_map(criteria, "objectSelector")
    sides = [request.object] if request.old is None else [request.object, request.old]
    if not any(selects(selector, nested_map(side, "metadata", "labels")) for side in sides):
        return Decision.NO
    if _rules_match("excludeResourceRules", criteria, request, state, Decision.NO) is Decision.YES:
        return Decision.NO
    decision = _rules_match("resourceRules", criteria, request, state, Decision.YES)
    return min(
        decision, _selects_namespace(nested_map(criteria, "namespaceSelector"), request, state)
    )


def _rules_match(
    field: str, criteria: Json, request: Request, state: ClusterState, default: Decision
) -> Decision:
    """Return whether one of the rules in a field matches a request, or the default if there are
    none.

    The rules are read once for each kind and operation, by the names of objects that they list.
    """
    if not criteria.get(field):
        return default

    key = (field, id(criteria), request.kind, request.old is None)
    if key not in state.indexes:
        rules = as_mappings(criteria[field])
        state.evaluations.spend(len(rules))
        equivalent = criteria.get("matchPolicy") != "Exact"
        decisions: dict[str | None, Decision] = {} if rules else {None: default}
        for rule in rules:
            decision = _rule_matches(rule, request, state, equivalent)
            names: Sequence[str | None] = nested_strings(rule, "resourceNames")
            for listed in names or (None,):
                decisions[listed] = max(decision, decisions.get(listed, Decision.NO))

        state.indexes[key] = decisions

    by_name: dict[str | None, Decision] = state.indexes[key]
    name = nested_string(request.object, "metadata", "name")

    return max(by_name.get(None, Decision.NO), by_name.get(name, Decision.NO))


def _selects_namespace(selector: Json, request: Request, state: ClusterState) -> Decision:
    if not any(selector.values()):
        return Decision.YES

    if request.kind == _NAMESPACE:
        labels: Mapping[str, str] | None = nested_map(request.object, "metadata", "labels")
        name = object_name(request.object)
    elif not is_namespaced(request.kind, state):
        return Decision.YES
    else:
        name = namespace_of(request.object)
        labels = namespace_labels(name, state)
    if labels is None and not selector_keys(selector) <= {_NAME_LABEL}:
        return Decision.UNKNOWN
    if selects(selector, {**(labels or {}), _NAME_LABEL: name}):
        return Decision.YES
    return Decision.NO


def namespace_labels(name: str, state: ClusterState) -> Mapping[str, str] | None:
    """Return the labels of a namespace of the files, or None if no file has it."""
    written = next(iter(state.objects.by_name(_NAMESPACE, name)), None)
    if written is None:
        return None
    return nested_map(written, "metadata", "labels")


def _rule_matches(rule: Json, request: Request, state: ClusterState, equivalent: bool) -> Decision:
    """Return whether a rule matches the kind and the operation of a request."""
    resource = resource_of(request.kind, state)
    operation = "CREATE" if request.old is None else "UPDATE"
    if not _lists(rule, "operations", operation) or not _lists(rule, "apiGroups", resource.group):
        return Decision.NO
    if not _in_scope(rule, request, state) or not any(
        _names_resource(text, resource.plural) for text in nested_strings(rule, "resources")
    ):
        return Decision.NO
    if _lists(rule, "apiVersions", resource.version):
        return Decision.YES

    # the server converts the object, which is not modeled
    converted = equivalent and any(
        _is_served(
            (f"{resource.group}/{version}" if resource.group else version, request.kind.name), state
        )
        for version in nested_strings(rule, "apiVersions")
    )

    return Decision.UNKNOWN if converted else Decision.NO


def _lists(rule: Json, key: str, value: str) -> bool:
    listed = nested_strings(rule, key)
    return "*" in listed or value in listed


def _names_resource(text: str, plural: str) -> bool:
    """Return whether a rule's text names the resource itself: `pods`, `pods/*`, `*` and `*/*` do,
    `pods/log` does not.
    """
    resource, _, subresource = text.partition("/")
    return resource in ("*", plural) and subresource in ("", "*")


def _in_scope(rule: Json, request: Request, state: ClusterState) -> bool:
    scope = rule.get("scope")
    if scope not in ("Namespaced", "Cluster"):
        return True
    return is_namespaced(request.kind, state) is (scope == "Namespaced")


def _is_served(kind: tuple[str, str], state: ClusterState) -> bool:
    served = other_kind(kind)
    if served is not None:
        return served.served(state.versions.kubernetes)
    return kind in BUILT_IN or (
        state.definitions is not None and state.definitions.find(kind) is not None
    )
