"""Whether pods may run on nodes with given labels and taints, as kube-scheduler decides it.

Source: k8s.io/component-helpers 1.36, scheduling/corev1; Kueue 0.19, pkg/scheduler/flavorassigner.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, nested_map, string_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def excluding_taint(taints: Iterable[Json], tolerations: Sequence[Json]) -> Json | None:
    """Return the first taint that keeps pods away and that no toleration tolerates, or None."""
    for taint in taints:
        if taint.get("effect") in ("NoSchedule", "NoExecute") and not any(
            tolerates(toleration, taint) for toleration in tolerations
        ):
            return taint
    return None


def tolerates(toleration: Json, taint: Json) -> bool:
    """Return whether a toleration tolerates a taint."""
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    value, wanted = as_string(toleration.get("value")), as_string(taint.get("value"))
    match toleration.get("operator"):
        case "Exists":
            return True
        case None | "" | "Equal":
            return value == wanted
        case "Lt" | "Gt" as operator:
            return _compare(wanted, value, operator)
        case _:
            return False


def _compare(label: str, value: str, operator: str) -> bool:
    """Return whether the number of a label is less (`Lt`) or greater (`Gt`) than a value."""
    if not (_is_number(label) and _is_number(value)):
        return False
    return int(label) < int(value) if operator == "Lt" else int(label) > int(value)


def _is_number(text: str) -> bool:
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isascii() and digits.isdigit() and len(digits) < 19


def selects_labels(spec: Json, labels: Mapping[str, str], keys: Collection[str]) -> bool:
    """Return whether a pod may run on nodes with these labels; only its terms about the `keys` count."""
    selector = string_map(spec.get("nodeSelector"))
    if any(labels.get(key) != value for key, value in selector.items() if key in keys):
        return False
    terms = _required_terms(spec)
    relevant = [
        [item for item in as_mappings(term.get("matchExpressions")) if as_string(item.get("key")) in keys]
        for term in terms
    ]
    if not all(relevant):  # a term about other labels alone matches these nodes too
        return True
    return not terms or any(all(_expression_holds(item, labels) for item in term) for term in relevant)


def matches_affinity(spec: Json, labels: Mapping[str, str], name: str) -> bool:
    """Return whether a node fulfills the required node affinity of a pod."""
    affinity = nested_map(spec, "affinity", "nodeAffinity")
    if not isinstance(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"), Mapping):
        return True
    return any(_term_holds(term, labels, name) for term in _required_terms(spec))


def _required_terms(spec: Json) -> list[Json]:
    required = nested_map(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    return as_mappings(required.get("nodeSelectorTerms"))


def _term_holds(term: Json, labels: Mapping[str, str], name: str) -> bool:
    expressions, fields = as_mappings(term.get("matchExpressions")), as_mappings(term.get("matchFields"))
    if not expressions and not fields:
        return False
    return all(_expression_holds(item, labels) for item in expressions) and all(
        _expression_holds(item, {"metadata.name": name}) for item in fields
    )


def _expression_holds(expression: Json, labels: Mapping[str, str]) -> bool:
    key, values = as_string(expression.get("key")), as_strings(expression.get("values"))
    match expression.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Lt" | "Gt" as operator:
            return len(values) == 1 and key in labels and _compare(labels[key], values[0], operator)
        case _:
            return False
