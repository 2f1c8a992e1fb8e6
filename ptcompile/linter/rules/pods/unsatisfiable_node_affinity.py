"""No node can match the labels that a pod requires.

What: nodeSelector and the required node affinity contradict each other for some label in every term, or an expression
Gt or Lt compares with something that is not a whole number.

Why: the API server accepts each. Together they match no node: the pod stays Pending.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
    -   nodeSelector: {pool: a100}
    +   nodeSelector: {pool: h100}
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:  # <--
              nodeSelectorTerms:
                - matchExpressions:
                    - {key: pool, operator: In, values: [h100]}
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: set the label once, or make the two agree.

Source: Kubernetes 1.36, node affinity: nodeSelector and affinity both have to match, terms are alternatives,
expressions of a term all have to match; Gt and Lt read whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, nested_map, string_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        required = nested_map(template.spec, "affinity", "nodeAffinity", _REQUIRED)
        terms = as_mappings(required.get("nodeSelectorTerms")) if required else []
        if not terms:
            continue
        selector = string_map(template.spec.get("nodeSelector"))
        reasons = [_contradiction(selector, term) for term in terms]
        if all(reasons):
            path = (*template.path, "spec", "affinity", "nodeAffinity", _REQUIRED)
            yield found_at(
                path,
                f"no node matches: {reasons[0]}",
                "make nodeSelector and affinity agree",
                on_key=True,
            )


def _contradiction(selector: Mapping[str, str], term: Json) -> str | None:
    """Why no node can match a term together with the selector; None where one may."""
    allowed: dict[str, set[str]] = {key: {value} for key, value in selector.items()}
    for one in as_mappings(term.get("matchExpressions")):
        key, operator, values = (
            as_string(one.get("key")),
            as_string(one.get("operator")),
            set(as_strings(one.get("values"))),
        )
        if operator == "In":
            left = values & allowed[key] if key in allowed else values
            if not left:
                return _both(key, allowed.get(key, set()), f"one of {_listed(values)}")
            allowed[key] = left
        elif operator in ("Gt", "Lt") and not all(map(_is_number, values)):
            return f"{key} is compared with {_listed(values)}, but {operator} needs whole numbers"
    for one in as_mappings(term.get("matchExpressions")):
        key, operator, values = (
            as_string(one.get("key")),
            as_string(one.get("operator")),
            set(as_strings(one.get("values"))),
        )
        if key in allowed and operator == "DoesNotExist":
            return _both(key, allowed[key], "absent")
        if key in allowed and operator == "NotIn" and allowed[key] <= values:
            return _both(key, allowed[key], f"none of {_listed(values)}")
    return None


def _both(key: str, wanted: set[str], other: str) -> str:
    return f"{key} has to be {_listed(wanted)} and {other}"


def _listed(values: set[str]) -> str:
    return ", ".join(sorted(values)) or "nothing"


def _is_number(value: str) -> bool:
    digits = value[1:] if value[:1] in ("-", "+") else value
    return digits.isascii() and digits.isdigit()


RULE = Rule("unsatisfiable-node-affinity", _check, severity="error", stage="run", authority="ptcompile")
