"""No node can match the labels that a pod requires.

PTC203 unsatisfiable-node-affinity: error at run (waits), by ptcompile.
Needs: nodeAffinity

What: nodeSelector and the required node affinity contradict each other for some label in every
term, or an expression Gt or Lt compares with something that is not a whole number.

Why: the API server accepts them, but no node matches, so the pod stays Pending.

Example: pod.yaml with

      restartPolicy: Never
    - nodeSelector: {pool: a100}
    + nodeSelector: {pool: h100}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:  # <--
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: pool, operator: In, values: [h100]}

Fix: set the label once, or make the two agree.

Source: Kubernetes 1.36, node affinity: nodeSelector and affinity must both match, terms are
alternatives, all expressions of a term must match; Gt and Lt read whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes.pod_spec import REQUIRED, terms_of
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
)
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        terms = terms_of(template.spec)
        if not terms:
            continue

        selector = nested_string_map(template.spec, "nodeSelector")
        reasons = [_find_contradiction(selector, term) for term in terms]
        if all(reasons):
            yield found_at(
                (*template.spec_path, "affinity", "nodeAffinity", REQUIRED),
                f"no node matches: {reasons[0]}",
                "make nodeSelector and affinity agree",
                on_key=True,
            )


def _find_contradiction(selector: Mapping[str, str], term: Json) -> str | None:
    """Return why no node can match both the term and the selector, or None if one may."""
    if not term.get("matchExpressions") and not term.get("matchFields"):
        return "an empty term selects none"

    allowed: dict[str, set[str]] = {key: {value} for key, value in selector.items()}
    expressions = [
        (
            nested_string(item, "key"),
            nested_string(item, "operator"),
            {*nested_strings(item, "values")},
        )
        for item in nested_maps(term, "matchExpressions")
    ]
    for key, operator, values in expressions:
        if operator == "In":
            remaining = values & allowed[key] if key in allowed else values
            if not remaining:
                return _conflict_message(
                    key, allowed.get(key, set()), f"one of {_join_values(values)}"
                )
            allowed[key] = remaining
        elif operator in ("Gt", "Lt") and not all(map(_is_number, values)):
            return (
                f"{key} is compared with {_join_values(values)}, but {operator} needs whole numbers"
            )

    for key, operator, values in expressions:
        if key in allowed and operator == "DoesNotExist":
            return _conflict_message(key, allowed[key], "absent")
        if key in allowed and operator == "NotIn" and allowed[key] <= values:
            return _conflict_message(key, allowed[key], f"none of {_join_values(values)}")

    return None


def _conflict_message(key: str, values: set[str], conflict: str) -> str:
    return f"{key} must be both {_join_values(values)} and {conflict}"


def _join_values(values: set[str]) -> str:
    return ", ".join(sorted(values)) or "nothing"


def _is_number(value: str) -> bool:
    digits = value[1:] if value[:1] in ("-", "+") else value
    return digits.isascii() and digits.isdigit()
