"""What matches labels and taints: selectors, their requirements, and tolerations, as Kubernetes
1.36 reads them.

Source: k8s.io/apimachinery pkg/labels/selector.go (`Requirement.Matches`), k8s.io/api
core/v1/toleration.go (`ToleratesTaint`), k8s.io/component-helpers scheduling/corev1/helpers.go
(`FindMatchingUntoleratedTaint`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mappings,
    nested_map,
    nested_string,
    nested_strings,
    string_map,
)


class Chosen(NamedTuple):
    """The jobs that a verb is about: those with all the labels, and of one of `kinds` if any are
    given.
    """

    kinds: frozenset[str] = frozenset()
    labels: frozenset[tuple[str, str]] = frozenset()

    def includes(self, manifest: Json) -> bool:
        """Return whether a job is chosen."""
        if self.kinds and nested_string(manifest, "kind") not in self.kinds:
            return False
        labels = nested_map(manifest, "metadata", "labels")
        return all(labels.get(key) == value for key, value in self.labels)


ALL = Chosen()


def selects(selector: Json, labels: Mapping[str, Any], *, partly: bool = False) -> bool:
    """Return whether a label selector selects these labels; an empty one selects all.

    `partly`: only these labels are known, and a requirement on another one holds.
    """
    requirements = requirements_of(selector.get("matchLabels"), selector.get("matchExpressions"))
    return all(
        meets(labels, requirement)
        for requirement in requirements
        if not partly or nested_string(requirement, "key") in labels
    )


def requirements_of(labels: object, *expressions: object) -> list[Json]:
    """Return a mapping of labels and lists of expressions as one list of requirements, of which
    all must hold.
    """
    fixed = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in string_map(labels).items()
    ]
    return [*fixed, *(item for listed in expressions for item in as_mappings(listed))]


def meets(labels: Mapping[str, Any], requirement: Json) -> bool:
    """Return whether labels meet a requirement. An unknown operator, which the API server
    refuses, is never met.
    """
    key = nested_string(requirement, "key")
    values = nested_strings(requirement, "values")
    match requirement.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Lt" | "Gt" as operator:
            return len(values) == 1 and _compares(nested_string(labels, key), operator, values[0])
        case _:
            return False


def untolerated(
    taints: Iterable[Json], tolerations: Iterable[Json], *, compares: bool = False
) -> Json | None:
    """Return the first taint that keeps pods away and that no toleration tolerates, or None."""
    of_pod = list(tolerations)
    for taint in taints:
        keeps_away = taint.get("effect") in ("NoSchedule", "NoExecute")
        if keeps_away and not any(tolerates(each, taint, compares=compares) for each in of_pod):
            return taint
    return None


def tolerates(toleration: Json, taint: Json, *, compares: bool = False) -> bool:
    """Return whether a toleration tolerates a taint.

    `compares`: whether Lt and Gt compare numbers, by the gate TaintTolerationComparisonOperators,
    which is off up to Kubernetes 1.36; Kueue 0.19 and Karpenter 1.14 always compare. Without it
    they tolerate nothing.
    """
    for field in ("effect", "key"):
        if toleration.get(field) not in (None, "", taint.get(field)):
            return False

    value = nested_string(toleration, "value")
    taint_value = nested_string(taint, "value")
    match toleration.get("operator"):
        case "Exists":
            return True
        case None | "" | "Equal":
            return value == taint_value
        case "Lt" | "Gt" as operator:
            return compares and _compares(taint_value, operator, value)
        case _:
            return False


def _compares(text: str, operator: str, bound: str) -> bool:
    """Return whether a whole number is less (`Lt`) or greater (`Gt`) than another; False if
    either is not a number.
    """
    if not (_is_number(text) and _is_number(bound)):
        return False
    if operator == "Lt":
        return int(text) < int(bound)
    return int(text) > int(bound)


def _is_number(text: str) -> bool:
    digits = text[1:] if text[:1] in ("-", "+") else text
    return is_short_number(digits, 19)
