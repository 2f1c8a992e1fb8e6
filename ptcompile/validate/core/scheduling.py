"""Where a pod may run: node selector, tolerations, spread, gates.

Source: docs/facts/api-server.md#scheduling-and-the-pod 121 to 129, 140 to 145, 157, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path, field_path
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope
from ptcompile.validate.core.metadata import check_labels, why_not_key, why_not_value
from ptcompile.validate.core.selectors import check_selector, selector_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WHEN: Final = ("DoNotSchedule", "ScheduleAnyway")


def check_node_selector(value: Any, path: Path, scope: Scope) -> None:
    """`spec.nodeSelector`."""
    check_labels(value, path, scope.found)


def check_tolerations(value: Any, path: Path, scope: Scope) -> None:
    """`spec.tolerations`."""
    for index, toleration in f.objects(value):
        check_toleration(toleration, (*path, index), scope.found)


def check_toleration(toleration: dict[str, Any], path: Path, found: f.Found) -> None:
    """One toleration (Kubernetes 1.36 `ValidateTolerations`; the operators Lt and Gt are behind an alpha gate)."""
    key, operator = toleration.get("key"), toleration.get("operator") or ""
    here = (*path, "operator")
    if f.is_empty(key):
        if type(operator) is str and operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            f.invalid(found, here, operator, why, "set a key, or operator: Exists to tolerate every taint")
    elif type(key) is str and (why_key := why_not_key(key)):
        f.invalid(found, (*path, "key"), key, why_key)
    value = toleration.get("value") or ""
    if operator in ("", "Equal"):
        if type(value) is str and (why_value := why_not_value(value)):
            f.invalid(found, here, value, why_value, "change the toleration's value")
    elif operator == "Exists":
        if value:
            f.invalid(found, here, value, "value must be empty when `operator` is 'Exists'", "remove the value")
    elif type(operator) is str:
        f.unsupported(found, here, operator, ("Equal", "Exists"))
    _check_effect(toleration, (*path, "effect"), found)


def _check_effect(toleration: dict[str, Any], path: Path, found: f.Found) -> None:
    effect = toleration.get("effect") or ""
    if type(effect) is not str:
        return
    if effect and effect not in _EFFECTS:
        f.unsupported(found, path, effect, _EFFECTS)
    elif toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        f.invalid(found, path, effect, why, "set effect: NoExecute, or remove tolerationSeconds")


def check_spread(value: Any, path: Path, scope: Scope) -> None:
    """`spec.topologySpreadConstraints`."""
    found = scope.found
    seen: set[tuple[str, str]] = set()
    for index, item in f.objects(value):
        here, key, when = (*path, index), item.get("topologyKey"), item.get("whenUnsatisfiable")
        skew = item.get("maxSkew") or 0
        if type(skew) is int and skew <= 0:
            f.invalid(found, (*here, "maxSkew"), skew, "must be greater than zero", "use 1 or more")
        if f.is_empty(key):
            f.required(found, (*here, "topologyKey"), "can not be empty", "name a node label")
        f.check_choice(found, (*here, "whenUnsatisfiable"), "" if when is None else when, _WHEN)
        if type(key) is type(when) is str:
            if (key, when) in seen:
                at = field_path(here) + ".{topologyKey, whenUnsatisfiable}"
                f.duplicate(found, here, f"{{{key}, {when}}}", "merge the two constraints", at)
            seen.add((key, when))
        _check_spread_options(item, here, scope)


def _check_spread_options(item: dict[str, Any], path: Path, scope: Scope) -> None:
    found, domains, when = scope.found, item.get("minDomains"), item.get("whenUnsatisfiable")
    if type(domains) is int:
        if domains <= 0:
            f.invalid(found, (*path, "minDomains"), domains, "must be greater than zero", "use 1 or more")
        elif when == "ScheduleAnyway":
            why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
            f.invalid(found, (*path, "minDomains"), domains, why)
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        f.check_choice(found, (*path, name), item.get(name), ("Honor", "Ignore"))
    selector = item.get("labelSelector")
    check_selector(selector, (*path, "labelSelector"), found)
    keys = item.get("matchLabelKeys")
    if type(keys) is list and keys:
        if selector is None:
            f.forbidden(found, (*path, "matchLabelKeys"), "must not be specified when labelSelector is not set")
        used = selector_keys(selector)
        for index, key in enumerate(keys):
            if type(key) is str and (why_key := why_not_key(key)):
                f.invalid(found, (*path, "matchLabelKeys", index), key, why_key)
            elif type(key) is str and key in used:
                why = "exists in both matchLabelKeys and labelSelector"
                f.invalid(found, (*path, "matchLabelKeys", index), key, why)


def check_scheduling_gates(value: Any, path: Path, scope: Scope) -> None:
    """`spec.schedulingGates`."""
    found, seen = scope.found, set[str]()
    for index, gate in f.objects(value):
        name, here = gate.get("name") or "", (*path, index)
        if type(name) is not str:
            continue
        if why := why_not_key(name):
            f.invalid(found, here, name, why)
        if name in seen:
            f.duplicate(found, here, name)
        seen.add(name)
