"""ResourceQuota, LimitRange and PodDisruptionBudget objects."""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.metadata import check_selector, why_not_key
from ptcompile.apiserver.validation.resources import why_not_resource
from ptcompile.apiserver.validation.values import check_amount_or_percent
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, TextRule, indexed_mappings, key_path
from ptcompile.kubernetes.quantity import NANO, Quantity, parse
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.resources import is_native_resource
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map


def check_disruption_budget(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a PodDisruptionBudget, except its metadata."""
    spec = nested_map(manifest, "spec")
    exclusive_fields = ("minAvailable", "maxUnavailable")
    if all(spec.get(name) is not None for name in exclusive_fields):
        problems.invalid(("spec",), spec, "minAvailable and maxUnavailable cannot be both set", "keep one of the two")
    for name in exclusive_fields:
        check_amount_or_percent(spec.get(name), ("spec", name), problems)
    check_selector(spec.get("selector"), ("spec", "selector"), problems)
    policies = ("AlwaysAllow", "IfHealthyBudget")
    problems.check_choice(("spec", "unhealthyPodEvictionPolicy"), spec.get("unhealthyPodEvictionPolicy"), policies)


COMPUTE_RESOURCES = frozenset({"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_EPHEMERAL_RESOURCES = frozenset({"ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"})
_COUNTED_RESOURCES = frozenset(
    [
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    ]
)
STANDARD_RESOURCES = COMPUTE_RESOURCES | _EPHEMERAL_RESOURCES | _COUNTED_RESOURCES | {"requests.storage"}
"""Resources without a domain that a quota can limit."""


def is_standard(name: str) -> bool:
    """Return whether a quota can limit a resource without a domain by this name."""
    return name in STANDARD_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-"))


def is_counted(name: str) -> bool:
    """Return whether amounts of a resource must be integers."""
    extended = not is_native_resource(name) and not name.startswith("requests.") and not why_not_key(f"requests.{name}")
    return name in _COUNTED_RESOURCES or extended


def why_not_resource_type(name: str) -> str | None:
    """Return why a text is not a resource name, or None if it is one."""
    if why := why_not_key(name):
        return why
    if "/" not in name and not is_standard(name) and name != "storage":
        return "must be a standard resource type or fully qualified"
    return None


def why_not_quota(name: str) -> str | None:
    """Return why a quota cannot limit a resource of this name, or None if it can."""
    why = why_not_resource_type(name)
    if why is None and "/" not in name and not is_standard(name):
        return "must be a standard resource for quota"
    return why


_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_AMOUNT_FIELDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_Quantities = dict[str, Quantity]


def check_limit_range(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a LimitRange, except its metadata."""
    seen: set[str] = set()
    for index, limit in indexed_mappings(nested_map(manifest, "spec").get("limits")):
        path: Path = ("spec", "limits", index)
        kind = limit.get("type") or ""
        if type(kind) is not str:
            continue
        if why := why_not_key(kind):
            problems.invalid((*path, "type"), kind, why)
        elif "/" not in kind and kind not in _LIMIT_TYPES:
            why = "must be a standard limit type or fully qualified"
            problems.invalid((*path, "type"), kind, why, f"use one of {', '.join(_LIMIT_TYPES)}")
        problems.check_unseen((*path, "type"), kind, seen)
        _check_limit(limit, kind, path, problems)


def _check_limit(limit: Json, kind: str, path: Path, problems: FieldErrors) -> None:
    why_not = why_not_resource if kind in ("Pod", "Container") else why_not_resource_type
    for name in _AMOUNT_FIELDS:
        if kind == "Pod" and name in ("default", "defaultRequest"):
            if limit.get(name):
                problems.forbidden((*path, name), "may not be specified when `type` is 'Pod'")
            continue
        _check_names(limit.get(name), why_not, (*path, name), problems)
    amounts = {name: _parse_amounts(limit.get(name)) for name in _AMOUNT_FIELDS}
    if kind == "PersistentVolumeClaim" and not any("storage" in amounts[name] for name in ("min", "max")):
        why = "either minimum or maximum storage value is required, but neither was provided"
        problems.required((*path, "limits"), why, "set min.storage or max.storage")
    if kind == "Container":
        amounts["default"] = {**amounts["max"], **amounts["default"]}
        amounts["defaultRequest"] = {**amounts["min"], **amounts["default"], **amounts["defaultRequest"]}
    for resource in sorted({name for values in amounts.values() for name in values}):
        _check_order(resource, amounts, path, problems)


def _check_names(amounts: Any, why_not: TextRule, path: Path, problems: FieldErrors) -> None:
    for name in as_mapping(amounts):
        if why := why_not(name):
            problems.invalid((*path, name), name, why, field=key_path((*path, name)))


def _parse_amounts(amounts: Any) -> _Quantities:
    quantities = {name: parse(0 if text is None else text) for name, text in as_mapping(amounts).items()}
    return {name: amount for name, amount in quantities.items() if amount is not None}


_ORDER_RULES = (
    ("min", "min", "max", "min value {} is greater than max value {}"),
    ("defaultRequest", "min", "defaultRequest", "min value {} is greater than default request value {}"),
    ("defaultRequest", "defaultRequest", "max", "default request value {} is greater than max value {}"),
    ("defaultRequest", "defaultRequest", "default", "default request value {} is greater than default limit value {}"),
    ("default", "min", "default", "min value {} is greater than default value {}"),
    ("max", "default", "max", "default value {} is greater than max value {}"),
)
"""Rows of the field that reports, the two fields whose amounts are compared, and the message."""


def _check_order(resource: str, amounts: dict[str, _Quantities], path: Path, problems: FieldErrors) -> None:
    limits = {name: values[resource] for name, values in amounts.items() if resource in values}
    for field, low, high, message in _ORDER_RULES:
        if low in limits and high in limits and limits[low] > limits[high]:
            amount_path = (*path, field, resource)
            why = message.format(limits[low], limits[high])
            problems.invalid(amount_path, str(limits[field]), why, field=key_path(amount_path))
    ratio = limits.get("maxLimitRequestRatio")
    ratio_path = (*path, "maxLimitRequestRatio", resource)
    if ratio is not None and ratio.nano < NANO:
        problems.invalid(ratio_path, str(ratio), f"ratio {ratio} is less than 1", field=key_path(ratio_path))
    elif ratio is not None and _is_impossible_ratio(ratio, limits):
        why = f"ratio {ratio} is greater than max/min"
        problems.invalid(ratio_path, str(ratio), why, field=key_path(ratio_path))
    is_exact = not is_native_resource(resource) or resource.startswith("hugepages-")
    if (
        is_exact
        and "default" in limits
        and "defaultRequest" in limits
        and limits["default"] != limits["defaultRequest"]
    ):
        request_path = (*path, "defaultRequest", resource)
        why = "default value must equal to defaultRequest value"
        problems.invalid(request_path, str(limits["defaultRequest"]), why, field=key_path(request_path))


def _is_impossible_ratio(ratio: Quantity, amounts: dict[str, Quantity]) -> bool:
    """Return whether no request and limit between `min` and `max` can have this ratio."""
    if "min" not in amounts or "max" not in amounts or not amounts["min"].nano:
        return False
    return ratio.nano * amounts["min"].nano > amounts["max"].nano * NANO


_SCOPES = frozenset(
    ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"]
)
_EXISTS_SCOPES = _SCOPES - {"PriorityClass"}
_EXCLUSIVE_SCOPES = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_STORAGE_RESOURCES = frozenset({"persistentvolumeclaims", "requests.storage"})


def check_quota(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ResourceQuota, except its metadata."""
    spec = nested_map(manifest, "spec")
    hard = nested_map(spec, "hard")
    for name, text in hard.items():
        amount_path = ("spec", "hard", name)
        if why := why_not_quota(name):
            problems.invalid(amount_path, name, why, field=key_path(amount_path))
        check_amount(name, text, amount_path, problems)
    scopes = spec.get("scopes")
    if type(scopes) is list:
        named = [scope for scope in scopes if type(scope) is str]
        _check_scopes(named, hard, ("spec", "scopes"), context, problems)
    requirements = list(indexed_mappings(nested_map(spec, "scopeSelector").get("matchExpressions")))
    expressions_path = ("spec", "scopeSelector", "matchExpressions")
    names = [requirement.get("scopeName") or "" for _, requirement in requirements]
    _check_scopes([name for name in names if type(name) is str], hard, expressions_path, context, problems)
    for index, requirement in requirements:
        _check_requirement(requirement, (*expressions_path, index), problems)


def check_amount(name: str, text: Any, path: Path, problems: FieldErrors) -> None:
    """Check that an amount is at least 0, and an integer if the resource is counted."""
    amount = parse(0 if text is None else text)
    if amount is None:
        return
    if amount.nano < 0:
        problems.invalid(path, str(amount), "must be greater than or equal to 0", field=key_path(path))
    if is_counted(name) and amount.nano % NANO:
        problems.invalid(path, str(amount), "must be an integer", field=key_path(path))


def _check_scopes(
    scopes: list[str], hard: Iterable[str], path: Path, context: ApiServer, problems: FieldErrors
) -> None:
    supported = _SCOPES | {"VolumeAttributesClass"} if context.has_gate("VolumeAttributesClass", 34) else _SCOPES
    for scope in scopes:
        if scope not in supported:
            problems.invalid(path, scope, "unsupported scope", f"use one of {', '.join(sorted(supported))}")
        for name in hard:
            if is_standard(name) and not _can_limit(scope, name):
                why = "unsupported scope applied to resource"
                problems.invalid(path, scope, why, f"a quota of scope {scope} cannot limit {name}")
    for pair in _EXCLUSIVE_SCOPES:
        if pair <= set(scopes):
            problems.invalid(path, scopes, "conflicting scopes", "keep one of the two")


def _can_limit(scope: str, name: str) -> bool:
    """Return whether a quota with this scope can limit a standard resource."""
    if scope == "BestEffort":
        return name == "pods"
    if scope == "VolumeAttributesClass":
        return name in _STORAGE_RESOURCES
    return scope not in _SCOPES or name == "pods" or name in COMPUTE_RESOURCES


def _check_requirement(requirement: Json, path: Path, problems: FieldErrors) -> None:
    scope = requirement.get("scopeName")
    operator = requirement.get("operator") or ""
    values = requirement.get("values")
    if type(scope) is not str or type(operator) is not str:
        return
    if scope in _EXISTS_SCOPES and operator != "Exists":
        why = f"must be 'Exists' when scope is any of {', '.join(sorted(_EXISTS_SCOPES))}"
        problems.invalid((*path, "operator"), operator, why, "set operator: Exists")
    if operator in ("In", "NotIn"):
        if not values:
            why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            problems.required((*path, "values"), why)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            problems.invalid((*path, "values"), values, why, "remove them")
    else:
        problems.invalid((*path, "operator"), operator, "not a valid selector operator", "use In, NotIn or Exists")
