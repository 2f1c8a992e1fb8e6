"""LimitRange (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.names import is_native_resource
from ptcompile.kubernetes.quantity import NANO, Quantity, parse
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import why_not_key
from ptcompile.validate.core.quota_names import why_not_resource_type
from ptcompile.validate.core.resources import why_not_resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")
_AMOUNTS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_Amounts = dict[str, Quantity]


def check_limit_range(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A LimitRange without its metadata."""
    seen: set[str] = set()
    for index, limit in f.objects(f.mapping(manifest.get("spec")).get("limits")):
        path: Path = ("spec", "limits", index)
        kind = limit.get("type") or ""
        if type(kind) is not str:
            continue
        if why := why_not_key(kind):
            f.invalid(found, (*path, "type"), kind, why)
        elif "/" not in kind and kind not in _TYPES:
            why = "must be a standard limit type or fully qualified"
            f.invalid(found, (*path, "type"), kind, why, f"use one of {', '.join(_TYPES)}")
        if kind in seen:
            f.duplicate(found, (*path, "type"), kind)
        seen.add(kind)
        _check_limit(limit, kind, path, found)


def _check_limit(limit: dict[str, Any], kind: str, path: Path, found: f.Found) -> None:
    why_not = why_not_resource if kind in ("Pod", "Container") else why_not_resource_type
    for name in _AMOUNTS:
        if kind == "Pod" and name in ("default", "defaultRequest"):
            if limit.get(name):
                f.forbidden(found, (*path, name), "may not be specified when `type` is 'Pod'")
            continue
        _check_names(limit.get(name), why_not, (*path, name), found)
    amounts = {name: _read(limit.get(name)) for name in _AMOUNTS}
    if kind == "PersistentVolumeClaim" and not any("storage" in amounts[name] for name in ("min", "max")):
        why = "either minimum or maximum storage value is required, but neither was provided"
        f.required(found, (*path, "limits"), why, "set min.storage or max.storage")
    if kind == "Container":
        amounts["default"] = {**amounts["max"], **amounts["default"]}
        amounts["defaultRequest"] = {**amounts["min"], **amounts["default"], **amounts["defaultRequest"]}
    for resource in sorted({name for values in amounts.values() for name in values}):
        _check_order(resource, amounts, path, found)


def _check_names(amounts: Any, why_not: Callable[[str], str | None], path: Path, found: f.Found) -> None:
    for name in f.mapping(amounts):
        if why := why_not(name):
            f.invalid(found, (*path, name), name, why, at=f.key_path((*path, name)))


def _read(amounts: Any) -> _Amounts:
    read = {name: parse(0 if text is None else text) for name, text in f.mapping(amounts).items()}
    return {name: amount for name, amount in read.items() if amount is not None}


_ORDER: Final = (
    ("min", "min", "max", "min value {} is greater than max value {}"),
    ("defaultRequest", "min", "defaultRequest", "min value {} is greater than default request value {}"),
    ("defaultRequest", "defaultRequest", "max", "default request value {} is greater than max value {}"),
    ("defaultRequest", "defaultRequest", "default", "default request value {} is greater than default limit value {}"),
    ("default", "min", "default", "min value {} is greater than default value {}"),
    ("max", "default", "max", "default value {} is greater than max value {}"),
)
"""Where it is said, which amount may not be above which, and how it is said."""


def _check_order(resource: str, amounts: dict[str, _Amounts], path: Path, found: f.Found) -> None:
    of = {name: values[resource] for name, values in amounts.items() if resource in values}
    for field, low, high, text in _ORDER:
        if low in of and high in of and of[low] > of[high]:
            here = (*path, field, resource)
            f.invalid(found, here, str(of[field]), text.format(of[low], of[high]), at=f.key_path(here))
    ratio, here = of.get("maxLimitRequestRatio"), (*path, "maxLimitRequestRatio", resource)
    if ratio is not None and ratio.nano < NANO:
        f.invalid(found, here, str(ratio), f"ratio {ratio} is less than 1", at=f.key_path(here))
    elif ratio is not None and _is_above_all(ratio, of):
        f.invalid(found, here, str(ratio), f"ratio {ratio} is greater than max/min", at=f.key_path(here))
    firm = not is_native_resource(resource) or resource.startswith("hugepages-")
    if firm and "default" in of and "defaultRequest" in of and of["default"] != of["defaultRequest"]:
        here, why = (*path, "defaultRequest", resource), "default value must equal to defaultRequest value"
        f.invalid(found, here, str(of["defaultRequest"]), why, at=f.key_path(here))


def _is_above_all(ratio: Quantity, of: dict[str, Quantity]) -> bool:
    """Whether no request and limit between `min` and `max` could have a ratio."""
    if "min" not in of or "max" not in of or not of["min"].nano:
        return False
    return ratio.nano * of["min"].nano > of["max"].nano * NANO
