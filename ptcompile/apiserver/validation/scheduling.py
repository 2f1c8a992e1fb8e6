"""Node selectors, affinity, tolerations, topology spread and scheduling gates.

Source: docs/facts/api-server.md#scheduling-and-the-pod 121 to 145, 157, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.apiserver.validation.metadata import (
    check_key,
    check_labels,
    check_operator,
    check_selector,
    check_values,
    selector_keys,
    why_not_key,
    why_not_value,
)
from ptcompile.diagnostics import Path, field_path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, indexed_texts, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings, nested_map

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def check_affinity(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.affinity`."""
    if type(value) is not dict:
        return
    if type(value.get("nodeAffinity")) is dict:
        _check_node_affinity(value["nodeAffinity"], (*path, "nodeAffinity"), scope.problems)
    for name in ("podAffinity", "podAntiAffinity"):
        if type(value.get(name)) is dict:
            _check_pod_affinity(value[name], (*path, name), scope)


def _check_node_affinity(affinity: Json, path: Path, problems: FieldErrors) -> None:
    required = affinity.get(_REQUIRED)
    if type(required) is dict:
        check_node_selector_terms(required.get("nodeSelectorTerms"), (*path, _REQUIRED, "nodeSelectorTerms"), problems)
    for index, item in indexed_mappings(affinity.get(_PREFERRED)):
        item_path = (*path, _PREFERRED, index)
        check_weight(item.get("weight"), (*item_path, "weight"), problems)
        _check_node_term(nested_map(item, "preference"), (*item_path, "preference"), problems, strict=False)


def check_node_selector_terms(terms: Any, path: Path, problems: FieldErrors) -> None:
    """Check the terms of a node selector."""
    if terms is None or terms == []:
        problems.required(path, "must have at least one node selector term", "add a term or remove the selector")
    for index, term in indexed_mappings(terms):
        _check_node_term(term, (*path, index), problems, strict=True)


def check_weight(weight: Any, path: Path, problems: FieldErrors) -> None:
    """Check that the weight of a preference is 1 to 100. An absent weight counts as 0."""
    weight = 0 if weight is None else weight
    if type(weight) is int and not 1 <= weight <= 100:
        problems.invalid(path, weight, "must be in the range 1-100", "use 1 to 100")


def _check_node_term(term: Json, path: Path, problems: FieldErrors, *, strict: bool) -> None:
    for index, requirement in indexed_mappings(term.get("matchExpressions")):
        requirement_path = (*path, "matchExpressions", index)
        _check_expression(requirement, requirement_path, problems)
        check_key(requirement.get("key"), (*requirement_path, "key"), problems)
        if strict:  # the server accepts any value in preferences
            check_values(requirement.get("values"), (*requirement_path, "values"), problems)
    for index, requirement in indexed_mappings(term.get("matchFields")):
        _check_field(requirement, (*path, "matchFields", index), problems)


def _check_expression(requirement: Json, path: Path, problems: FieldErrors) -> None:
    operator = requirement.get("operator")
    values = requirement.get("values") or []
    values_path = (*path, "values")
    if operator in ("In", "NotIn"):
        if not values:
            problems.required(values_path, "must be specified when `operator` is 'In' or 'NotIn'", "list values")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            problems.forbidden(values_path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator in ("Gt", "Lt"):
        if type(values) is list and len(values) != 1:
            why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            problems.required(values_path, why, "give one whole number")
    elif operator is None or type(operator) is str:
        check_operator(operator, path, problems, _OPERATORS)


def _check_field(requirement: Json, path: Path, problems: FieldErrors) -> None:
    key = requirement.get("key")
    operator = requirement.get("operator")
    values = requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if type(values) is list and len(values) != 1:
            why_single = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            problems.required((*path, "values"), why_single, "name one node")
    elif operator is None or type(operator) is str:
        check_operator(operator, path, problems, ("In", "NotIn"))
    if key != "metadata.name":
        if key is None or type(key) is str:
            problems.invalid((*path, "key"), key or "", "not a valid field selector key", "use metadata.name")
        return
    for index, value in indexed_texts(values):
        problems.check_text((*path, "values", index), value, names.why_not_dns_subdomain)


def _check_pod_affinity(affinity: Json, path: Path, scope: PodContext) -> None:
    for index, required in indexed_mappings(affinity.get(_REQUIRED)):
        _check_pod_term(required, (*path, _REQUIRED, index), scope)
    for index, item in indexed_mappings(affinity.get(_PREFERRED)):
        item_path = (*path, _PREFERRED, index)
        check_weight(item.get("weight"), (*item_path, "weight"), scope.problems)
        term = item.get("podAffinityTerm")
        if term is None or type(term) is dict:
            _check_pod_term(as_mapping(term), (*item_path, "podAffinityTerm"), scope)


def _check_pod_term(term: Json, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    for name in ("labelSelector", "namespaceSelector"):
        check_selector(term.get(name), (*path, name), problems)
    for index, space in indexed_texts(term.get("namespaces")):
        if why := names.why_not_dns_label(space):
            problems.invalid((*path, "namespaces", index), space, why, field=field_path((*path, "namespace")))
    topology = term.get("topologyKey")
    if is_empty(topology):
        problems.required((*path, "topologyKey"), "can not be empty", "name a node label")
    else:
        check_key(topology, (*path, "topologyKey"), problems)
    if scope.context.has_gate("MatchLabelKeysInPodAffinity", 31):
        _check_label_keys(term, path, problems)


def _check_label_keys(term: Json, path: Path, problems: FieldErrors) -> None:
    match, mismatch = (as_strings(term.get(name)) for name in ("matchLabelKeys", "mismatchLabelKeys"))
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and term.get("labelSelector") is None:
            problems.forbidden((*path, name), "must not be specified when labelSelector is not set")
        for index, key in enumerate(keys):
            problems.check_text((*path, name, index), key, why_not_key)
    used = selector_keys(term.get("labelSelector"))
    for index, key in enumerate(match):
        if key in mismatch:
            why = "exists in both matchLabelKeys and mismatchLabelKeys"
            problems.invalid((*path, "matchLabelKeys", index), key, why)
        if key in used:
            problems.invalid((*path, "matchLabelKeys", index), key, "exists in both matchLabelKeys and labelSelector")


_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_UNSATISFIABLE_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")


def check_node_selector(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.nodeSelector`."""
    check_labels(value, path, scope.problems)


def check_tolerations(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.tolerations`."""
    for index, toleration in indexed_mappings(value):
        check_toleration(toleration, (*path, index), scope.context, scope.problems)


def check_toleration(toleration: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    """Check one toleration (Kubernetes 1.36 `ValidateTolerations`). The operators Lt and Gt need an alpha gate."""
    key = toleration.get("key")
    operator = toleration.get("operator") or ""
    operator_path = (*path, "operator")
    if is_empty(key):
        if type(operator) is str and operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            problems.invalid(operator_path, operator, why, "set a key, or operator: Exists to tolerate every taint")
    else:
        problems.check_text((*path, "key"), key, why_not_key)
    value = toleration.get("value")
    if type(operator) is str:
        _check_toleration_value(operator, value if type(value) is str else "", path, context, problems)
    _check_effect(toleration, (*path, "effect"), problems)


def _check_toleration_value(operator: str, value: str, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    operator_path = (*path, "operator")
    if operator in ("", "Equal"):
        problems.check_text(operator_path, value, why_not_value, "change the toleration's value")
    elif operator == "Exists":
        if value:
            why = "value must be empty when `operator` is 'Exists'"
            problems.invalid(operator_path, value, why, "remove the value")
    elif operator not in ("Gt", "Lt") or not context.has_gate("TaintTolerationComparisonOperators", None):
        problems.unsupported(operator_path, operator, ("Equal", "Exists"))
    elif not _is_decimal(value):
        why = "must be a valid decimal integer in canonical form"
        problems.invalid((*path, "value"), value, why, "write a whole number, such as 950")


def _is_decimal(text: str) -> bool:
    """Return whether a text is an integer of 64 bits, written as Go formats it."""
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 19:
        return False
    return text == str(int(text)) and -(2**63) <= int(text) < 2**63


def _check_effect(toleration: Json, path: Path, problems: FieldErrors) -> None:
    effect = toleration.get("effect") or ""
    if type(effect) is not str:
        return
    if effect and effect not in _EFFECTS:
        problems.unsupported(path, effect, _EFFECTS)
    elif toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        problems.invalid(path, effect, why, "set effect: NoExecute, or remove tolerationSeconds")


def check_spread(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.topologySpreadConstraints`."""
    problems = scope.problems
    seen: set[tuple[str, str]] = set()
    for index, item in indexed_mappings(value):
        item_path = (*path, index)
        key = item.get("topologyKey")
        when = item.get("whenUnsatisfiable")
        skew = item.get("maxSkew") or 0
        if type(skew) is int and skew <= 0:
            problems.invalid((*item_path, "maxSkew"), skew, "must be greater than zero", "use 1 or more")
        if is_empty(key):
            problems.required((*item_path, "topologyKey"), "can not be empty", "name a node label")
        problems.check_choice((*item_path, "whenUnsatisfiable"), "" if when is None else when, _UNSATISFIABLE_ACTIONS)
        if type(key) is type(when) is str:
            if (key, when) in seen:
                field = field_path(item_path) + ".{topologyKey, whenUnsatisfiable}"
                problems.duplicate(item_path, f"{{{key}, {when}}}", "merge the two constraints", field)
            seen.add((key, when))
        _check_spread_options(item, item_path, scope)


def _check_spread_options(item: Json, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    domains = item.get("minDomains")
    when = item.get("whenUnsatisfiable")
    if type(domains) is int:
        if domains <= 0:
            problems.invalid((*path, "minDomains"), domains, "must be greater than zero", "use 1 or more")
        elif when == "ScheduleAnyway":
            why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
            problems.invalid((*path, "minDomains"), domains, why)
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        problems.check_choice((*path, name), item.get(name), ("Honor", "Ignore"))
    selector = item.get("labelSelector")
    check_selector(selector, (*path, "labelSelector"), problems)
    keys = item.get("matchLabelKeys")
    if type(keys) is list and keys:
        if selector is None:
            problems.forbidden((*path, "matchLabelKeys"), "must not be specified when labelSelector is not set")
        used = selector_keys(selector)
        for index, key in indexed_texts(keys):
            if why_key := why_not_key(key):
                problems.invalid((*path, "matchLabelKeys", index), key, why_key)
            elif key in used:
                why = "exists in both matchLabelKeys and labelSelector"
                problems.invalid((*path, "matchLabelKeys", index), key, why)


def check_scheduling_gates(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.schedulingGates`."""
    problems = scope.problems
    seen = set[str]()
    for index, gate in indexed_mappings(value):
        name = gate.get("name") or ""
        gate_path = (*path, index)
        if type(name) is not str:
            continue
        problems.check_text(gate_path, name, why_not_key)
        problems.check_unseen(gate_path, name, seen)
