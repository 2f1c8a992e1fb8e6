"""Label selectors, wherever they stand: affinity, spread, Services, Jobs, policies, claims."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import check_labels, why_not_key, why_not_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WITH_VALUES = ("In", "NotIn")
_WITHOUT_VALUES = ("Exists", "DoesNotExist")


def check_selector(selector: Any, path: Path, found: f.Found) -> None:
    """A `LabelSelector` of Kubernetes 1.36; null selects nothing and is fine."""
    if type(selector) is not dict:
        return
    if selector.get("matchLabels"):
        check_labels(selector["matchLabels"], (*path, "matchLabels"), found)
    for index, requirement in f.objects(selector.get("matchExpressions")):
        _check_requirement(requirement, (*path, "matchExpressions", index), found)


def _check_requirement(requirement: dict[str, Any], path: Path, found: f.Found) -> None:
    operator, values = requirement.get("operator"), requirement.get("values") or []
    if operator in _WITH_VALUES:
        if not values:
            f.required(found, (*path, "values"), "must be specified when `operator` is 'In' or 'NotIn'", "list values")
    elif operator in _WITHOUT_VALUES:
        if values:
            f.forbidden(found, (*path, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator is None or type(operator) is str:
        check_operator(operator, path, found, (*_WITH_VALUES, *_WITHOUT_VALUES))
    check_key(requirement.get("key"), (*path, "key"), found)
    check_values(values, (*path, "values"), found)


def check_operator(operator: Any, path: Path, found: f.Found, known: tuple[str, ...]) -> None:
    """Say that a requirement's operator is none of those known."""
    value = operator or ""
    f.invalid(found, (*path, "operator"), value, "not a valid selector operator", f"use {', '.join(known)}")


def check_key(key: Any, path: Path, found: f.Found) -> None:
    """The label key of a requirement."""
    if (key is None or type(key) is str) and (why := why_not_key(key or "")):
        f.invalid(found, path, key or "", why)


def check_values(values: Any, path: Path, found: f.Found) -> None:
    """The label values of a requirement."""
    if type(values) is not list:
        return
    for index, value in enumerate(values):
        if type(value) is str and (why := why_not_value(value)):
            f.invalid(found, (*path, index), value, why)


def selector_keys(selector: Any) -> set[str]:
    """The label keys that a selector names."""
    parts = f.mapping(selector)
    keys = set(f.mapping(parts.get("matchLabels")))
    return keys | {r["key"] for _, r in f.objects(parts.get("matchExpressions")) if type(r.get("key")) is str}


def selects(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Whether a selector matches labels, as the server reads both. The selector has to be valid."""
    for key, value in f.mapping(selector.get("matchLabels")).items():
        if labels.get(key) != value:
            return False
    return all(_meets(labels, r) for _, r in f.objects(selector.get("matchExpressions")))


def _meets(labels: Mapping[str, Any], requirement: Mapping[str, Any]) -> bool:
    key, operator, values = requirement.get("key"), requirement.get("operator"), requirement.get("values")
    if type(key) is not str or (values and type(values) is not list):
        return True  # wrongly typed, which is another's finding
    if operator == "In":
        return key in labels and labels[key] in (values or ())
    if operator == "NotIn":
        return key not in labels or labels[key] not in (values or ())
    return (key in labels) == (operator == "Exists")
