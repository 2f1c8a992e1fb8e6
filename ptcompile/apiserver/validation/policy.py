"""ResourceQuota, LimitRange and PodDisruptionBudget objects."""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import check_selector, why_not_key
from ptcompile.apiserver.validation.resources import why_not_resource
from ptcompile.apiserver.validation.values import check_amount_or_percent
from ptcompile.diagnostics.field_errors import TextRule, key_path
from ptcompile.kubernetes.quantity import NANO, Quantity, parse
from ptcompile.kubernetes.resources import is_native_resource
from ptcompile.kubernetes.unstructured import Json, without_none


def check_disruption_budget(budget: FieldValue) -> None:
    """Check a PodDisruptionBudget, except its metadata."""
    spec = budget["spec"]
    exclusive_fields = (spec["minAvailable"], spec["maxUnavailable"])
    if all(field.value is not None for field in exclusive_fields):
        spec.invalid("minAvailable and maxUnavailable cannot be both set", "keep one of the two")
    for field in exclusive_fields:
        check_amount_or_percent(field)
    spec["selector"].check(check_selector)
    spec["unhealthyPodEvictionPolicy"].check_choice(("AlwaysAllow", "IfHealthyBudget"))


COMPUTE_RESOURCES = frozenset(
    {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
)
_EPHEMERAL_RESOURCES = frozenset(
    {"ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"}
)
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
STANDARD_RESOURCES = (
    COMPUTE_RESOURCES | _EPHEMERAL_RESOURCES | _COUNTED_RESOURCES | {"requests.storage"}
)
"""Resources without a domain that a quota can limit."""


def is_standard(name: str) -> bool:
    """Return whether a quota can limit a resource without a domain by this name."""
    return name in STANDARD_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-"))


def is_counted(name: str) -> bool:
    """Return whether amounts of a resource must be integers."""
    extended = (
        not is_native_resource(name)
        and not name.startswith("requests.")
        and not why_not_key(f"requests.{name}")
    )
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


def check_limit_range(limit_range: FieldValue) -> None:
    """Check a LimitRange, except its metadata."""
    seen: set[str] = set()
    for limit in limit_range["spec"]["limits"].objects():
        kind = limit["type"].or_default("")
        if not kind.is_text:
            continue

        if why := why_not_key(kind.value):
            kind.invalid(why)
        elif "/" not in kind.value and kind.value not in _LIMIT_TYPES:
            why = "must be a standard limit type or fully qualified"
            kind.invalid(why, f"use one of {', '.join(_LIMIT_TYPES)}")

        kind.check_unseen(seen)
        _check_limit(limit, kind.value)


def _check_limit(limit: FieldValue, kind: str) -> None:
    why_not = why_not_resource if kind in ("Pod", "Container") else why_not_resource_type
    for name in _AMOUNT_FIELDS:
        if kind == "Pod" and name in ("default", "defaultRequest"):
            if limit.get(name):
                limit[name].forbidden("may not be specified when `type` is 'Pod'")
            continue
        _check_names(limit[name], why_not)

    amounts = {name: _parse_amounts(limit[name].mapping) for name in _AMOUNT_FIELDS}
    if kind == "PersistentVolumeClaim" and not any(
        "storage" in amounts[name] for name in ("min", "max")
    ):
        why = "either minimum or maximum storage value is required, but neither was provided"
        limit["limits"].required(why, "set min.storage or max.storage")
    # the server sets these defaults before it compares the amounts
    if kind == "Container":
        amounts["default"] = {**amounts["max"], **amounts["default"]}
        amounts["defaultRequest"] = {
            **amounts["min"],
            **amounts["default"],
            **amounts["defaultRequest"],
        }

    for resource in sorted({name for values in amounts.values() for name in values}):
        _check_order(limit, resource, amounts)


def _check_names(amounts: FieldValue, why_not: TextRule) -> None:
    for name, amount in amounts.entries():
        if why := why_not(name):
            amount.replaced(name).invalid(why, field=key_path(amount.path))


def _parse_amounts(amounts: Json) -> _Quantities:
    return without_none(
        {name: parse(0 if text is None else text) for name, text in amounts.items()}
    )


_ORDER_RULES = (
    ("min", "min", "max", "min value {} is greater than max value {}"),
    (
        "defaultRequest",
        "min",
        "defaultRequest",
        "min value {} is greater than default request value {}",
    ),
    (
        "defaultRequest",
        "defaultRequest",
        "max",
        "default request value {} is greater than max value {}",
    ),
    (
        "defaultRequest",
        "defaultRequest",
        "default",
        "default request value {} is greater than default limit value {}",
    ),
    ("default", "min", "default", "min value {} is greater than default value {}"),
    ("max", "default", "max", "default value {} is greater than max value {}"),
)
"""Rows of the field that reports, the two fields whose amounts are compared, and the message."""


def _check_order(limit: FieldValue, resource: str, amounts: dict[str, _Quantities]) -> None:
    limits = {name: values[resource] for name, values in amounts.items() if resource in values}

    def reject(name: str, why: str) -> None:
        field = limit[name][resource]
        field.replaced(str(limits[name])).invalid(why, field=key_path(field.path))

    for name, low, high, message in _ORDER_RULES:
        if low in limits and high in limits and limits[low] > limits[high]:
            reject(name, message.format(limits[low], limits[high]))

    ratio = limits.get("maxLimitRequestRatio")
    if ratio is not None and ratio.nano < NANO:
        reject("maxLimitRequestRatio", f"ratio {ratio} is less than 1")
    elif ratio is not None and _is_impossible_ratio(ratio, limits):
        reject("maxLimitRequestRatio", f"ratio {ratio} is greater than max/min")

    is_exact = not is_native_resource(resource) or resource.startswith("hugepages-")
    default = limits.get("default")
    request = limits.get("defaultRequest")
    if is_exact and default is not None and request is not None and default != request:
        reject("defaultRequest", "default value must equal to defaultRequest value")


def _is_impossible_ratio(ratio: Quantity, amounts: dict[str, Quantity]) -> bool:
    """Return whether no request and limit between `min` and `max` can have this ratio."""
    if "min" not in amounts or "max" not in amounts or not amounts["min"].nano:
        return False
    return ratio.nano * amounts["min"].nano > amounts["max"].nano * NANO


_SCOPES = frozenset(
    [
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
    ]
)
_EXISTS_SCOPES = _SCOPES - {"PriorityClass"}
_EXCLUSIVE_SCOPES = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_STORAGE_RESOURCES = frozenset({"persistentvolumeclaims", "requests.storage"})


def check_quota(quota: FieldValue) -> None:
    """Check a ResourceQuota, except its metadata."""
    hard = quota["spec"]["hard"]
    for name, amount in hard.entries():
        if why := why_not_quota(name):
            amount.replaced(name).invalid(why, field=key_path(amount.path))
        _check_amount(name, amount)

    scopes = quota["spec"]["scopes"]
    if scopes.is_list:
        _check_scopes(scopes, [scope for scope in scopes.value if type(scope) is str], hard.mapping)
    expressions = quota["spec"]["scopeSelector"]["matchExpressions"]
    requirements = list(expressions.objects())
    names = [requirement.get("scopeName") or "" for requirement in requirements]
    _check_scopes(expressions, [name for name in names if type(name) is str], hard.mapping)
    for requirement in requirements:
        _check_requirement(requirement)


def _check_amount(name: str, amount: FieldValue) -> None:
    """Check that an amount is at least 0, and an integer if the resource is counted."""
    quantity = parse(0 if amount.value is None else amount.value)
    if quantity is None:
        return

    parsed = amount.replaced(str(quantity))
    if quantity.nano < 0:
        parsed.invalid("must be greater than or equal to 0", field=key_path(amount.path))
    if is_counted(name) and quantity.nano % NANO:
        parsed.invalid("must be an integer", field=key_path(amount.path))


def _check_scopes(field: FieldValue, scopes: list[str], hard: Iterable[str]) -> None:
    has_classes = field.server.has_gate("VolumeAttributesClass", 34)
    supported = _SCOPES | {"VolumeAttributesClass"} if has_classes else _SCOPES
    for scope in scopes:
        if scope not in supported:
            field.replaced(scope).invalid(
                "unsupported scope", f"use one of {', '.join(sorted(supported))}"
            )
        for name in hard:
            if is_standard(name) and not _can_limit(scope, name):
                why = "unsupported scope applied to resource"
                field.replaced(scope).invalid(why, f"a quota of scope {scope} cannot limit {name}")

    for pair in _EXCLUSIVE_SCOPES:
        if pair <= set(scopes):
            field.replaced(scopes).invalid("conflicting scopes", "keep one of the two")


def _can_limit(scope: str, name: str) -> bool:
    """Return whether a quota with this scope can limit a standard resource."""
    if scope == "BestEffort":
        return name == "pods"
    if scope == "VolumeAttributesClass":
        return name in _STORAGE_RESOURCES
    return scope not in _SCOPES or name == "pods" or name in COMPUTE_RESOURCES


def _check_requirement(requirement: FieldValue) -> None:
    scope = requirement.get("scopeName")
    operator = requirement["operator"].or_default("")
    values = requirement["values"]
    if type(scope) is not str or not operator.is_text:
        return

    if scope in _EXISTS_SCOPES and operator.value != "Exists":
        why = f"must be 'Exists' when scope is any of {', '.join(sorted(_EXISTS_SCOPES))}"
        operator.invalid(why, "set operator: Exists")
    if operator.value in ("In", "NotIn"):
        if not values.value:
            values.required(
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
    elif operator.value in ("Exists", "DoesNotExist"):
        if values.value:
            why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            values.invalid(why, "remove them")
    else:
        operator.invalid("not a valid selector operator", "use In, NotIn or Exists")
