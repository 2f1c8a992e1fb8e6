"""Node selectors, affinity, tolerations, topology spread and scheduling gates.

Source: docs/facts/api-server.md#scheduling-and-the-pod 121 to 145, 157, Kubernetes 1.36.
"""

from __future__ import annotations

from functools import partial

from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import (
    check_labels,
    check_requirement,
    check_selector,
    check_values,
    reject_operator,
    selector_keys,
    why_not_key,
    why_not_value,
)
from ptcompile.apiserver.validation.values import is_canonical
from ptcompile.diagnostics import field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.pod_spec import PREFERRED, REQUIRED


def check_affinity(affinity: FieldValue) -> None:
    """Check `spec.affinity`."""
    _check_node_affinity(affinity["nodeAffinity"])
    for name in ("podAffinity", "podAntiAffinity"):
        _check_pod_affinity(affinity[name])


def _check_node_affinity(affinity: FieldValue) -> None:
    required = affinity[REQUIRED]
    if required.is_mapping:
        check_node_selector_terms(required["nodeSelectorTerms"])
    for item in affinity[PREFERRED].objects():
        check_weight(item["weight"])
        _check_node_term(item["preference"], strict=False)


def check_node_selector_terms(terms: FieldValue) -> None:
    """Check the terms of a node selector."""
    if terms.value in (None, []):
        terms.required(
            "must have at least one node selector term", "add a term or remove the selector"
        )
    for term in terms.objects():
        _check_node_term(term, strict=True)


def check_weight(weight: FieldValue) -> None:
    """Check that the weight of a preference is 1 to 100. An absent weight counts as 0."""
    weight.or_zero(0).check_range(1, 100, "must be in the range 1-100")


def _check_node_term(term: FieldValue, *, strict: bool) -> None:
    for requirement in term["matchExpressions"].objects():
        requirement.check(partial(check_requirement, of_nodes=True))
        # the server accepts any value in preferences
        if strict:
            requirement["values"].check(check_values)
    for requirement in term["matchFields"].objects():
        _check_field(requirement)


def _check_field(requirement: FieldValue) -> None:
    key = requirement["key"]
    operator = requirement["operator"]
    values = requirement["values"].or_default([])
    if operator.value in ("In", "NotIn"):
        if values.is_list and len(values.value) != 1:
            why_single = (
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            )
            values.required(why_single, "name one node")
    else:
        reject_operator(operator.value, requirement.path, requirement.problems, ("In", "NotIn"))
    if key.value == "metadata.name":
        for value in values.texts():
            value.check_text(names.why_not_dns_subdomain)
    elif key.value is None or key.is_text:
        key.or_default("").invalid("not a valid field selector key", "use metadata.name")


def _check_pod_affinity(affinity: FieldValue) -> None:
    for required in affinity[REQUIRED].objects():
        _check_pod_term(required)
    for item in affinity[PREFERRED].objects():
        term = item["podAffinityTerm"]
        check_weight(item["weight"])
        if term.value is None or term.is_mapping:
            _check_pod_term(term)


def _check_pod_term(term: FieldValue) -> None:
    topology = term["topologyKey"]
    for name in ("labelSelector", "namespaceSelector"):
        term[name].check(check_selector)
    for namespace in term["namespaces"].texts():
        if why := names.why_not_dns_label(namespace.value):
            namespace.invalid(why, field=field_path((*term.path, "namespace")))
    topology.check_required_text(why_not_key, detail="can not be empty", help="name a node label")
    if term.server.has_gate("MatchLabelKeysInPodAffinity", 31):
        _check_label_keys(term)


def _check_label_keys(term: FieldValue) -> None:
    match = term["matchLabelKeys"]
    mismatch = term["mismatchLabelKeys"]
    for keys in (match, mismatch):
        if keys.strings and term.get("labelSelector") is None:
            keys.forbidden("must not be specified when labelSelector is not set")
        for key in keys.items(keys.strings):
            key.check_text(why_not_key)

    used = selector_keys(term.get("labelSelector"))
    for key in match.items(match.strings):
        if key.value in mismatch.strings:
            key.invalid("exists in both matchLabelKeys and mismatchLabelKeys")
        if key.value in used:
            key.invalid(_IN_SELECTOR)


_IN_SELECTOR = "exists in both matchLabelKeys and labelSelector"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_UNSATISFIABLE_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")


def check_node_selector(selector: FieldValue) -> None:
    """Check `spec.nodeSelector`."""
    selector.check(check_labels)


def check_tolerations(tolerations: FieldValue) -> None:
    """Check `spec.tolerations`."""
    for toleration in tolerations.objects():
        _check_toleration(toleration)


def _check_toleration(toleration: FieldValue) -> None:
    """Check one toleration (Kubernetes 1.36 `ValidateTolerations`). The operators Lt and Gt need
    an alpha gate.
    """
    key = toleration["key"]
    operator = toleration["operator"].or_default("")
    if not key.is_empty:
        key.check_text(why_not_key)
    elif operator.is_text and operator.value != "Exists":
        why = (
            'operator must be Exists when `key` is empty, which means "match all values and all '
            'keys"'
        )
        operator.invalid(why, "set a key, or operator: Exists to tolerate every taint")
    _check_toleration_value(operator, toleration["value"])
    _check_effect(toleration)


def _check_toleration_value(operator: FieldValue, value: FieldValue) -> None:
    compares = operator.server.has_gate("TaintTolerationComparisonOperators")
    text = value.value if value.is_text else ""
    if not operator.is_text:
        return

    if operator.value in ("", "Equal"):
        operator.replaced(text).check_text(why_not_value, "change the toleration's value")
    elif operator.value == "Exists":
        if text:
            operator.replaced(text).invalid(
                "value must be empty when `operator` is 'Exists'", "remove the value"
            )
    elif operator.value not in ("Gt", "Lt") or not compares:
        operator.unsupported(("Equal", "Exists"))
    elif not is_canonical(text, 64):
        why = "must be a valid decimal integer in canonical form"
        value.replaced(text).invalid(why, "write a whole number, such as 950")


def _check_effect(toleration: FieldValue) -> None:
    effect = toleration["effect"].or_default("")
    if not effect.is_text:
        return
    if effect.value and effect.value not in _EFFECTS:
        effect.unsupported(_EFFECTS)
    elif toleration.get("tolerationSeconds") is not None and effect.value != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        effect.invalid(why, "set effect: NoExecute, or remove tolerationSeconds")


def check_spread(constraints: FieldValue) -> None:
    """Check `spec.topologySpreadConstraints`."""
    seen: set[tuple[str, str]] = set()
    for item in constraints.objects():
        key = item["topologyKey"]
        when = item["whenUnsatisfiable"]
        skew = item["maxSkew"].or_default(0)
        skew.check_at_least(1, "must be greater than zero", "use 1 or more")
        key.check_filled("can not be empty", "name a node label")
        when.or_zero("").check_choice(_UNSATISFIABLE_ACTIONS)
        if key.is_text and when.is_text:
            if (key.value, when.value) in seen:
                field = field_path(item.path) + ".{topologyKey, whenUnsatisfiable}"
                item.replaced(f"{{{key.value}, {when.value}}}").duplicate(
                    "merge the two constraints", field
                )
            seen.add((key.value, when.value))

        _check_spread_options(item)


def _check_spread_options(item: FieldValue) -> None:
    domains = item["minDomains"]
    when = item.get("whenUnsatisfiable")
    selector = item["labelSelector"]
    keys = item["matchLabelKeys"]
    if domains.is_integer:
        if domains.value <= 0:
            domains.invalid("must be greater than zero", "use 1 or more")
        elif when == "ScheduleAnyway":
            domains.invalid(
                f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
            )

    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        item[name].check_choice(("Honor", "Ignore"))
    selector.check(check_selector)
    if not keys.is_list or not keys.value:
        return

    if selector.value is None:
        keys.forbidden("must not be specified when labelSelector is not set")
    used = selector_keys(selector.value)
    for key in keys.texts():
        if why_key := why_not_key(key.value):
            key.invalid(why_key)
        elif key.value in used:
            key.invalid(_IN_SELECTOR)


def check_scheduling_gates(gates: FieldValue) -> None:
    """Check `spec.schedulingGates`."""
    seen = set[str]()
    for gate in gates.objects():
        name = gate.replaced(gate.get("name") or "")
        if name.is_text:
            name.check_text(why_not_key)
            name.check_unseen(seen)
