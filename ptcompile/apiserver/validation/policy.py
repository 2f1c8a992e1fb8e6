"""ResourceQuota, LimitRange and PodDisruptionBudget as objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import check_selector, why_not_key
from ptcompile.apiserver.validation.resources import why_not_resource
from ptcompile.apiserver.validation.values import check_amount_or_percent
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.quantity import NANO, Quantity, parse
from ptcompile.kubernetes.resources import is_native_resource
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


def check_disruption_budget(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A PodDisruptionBudget without its metadata."""
    spec = f.as_field_mapping(manifest.get("spec"))
    both = ("minAvailable", "maxUnavailable")
    if all(spec.get(name) is not None for name in both):
        f.invalid(found, ("spec",), spec, "minAvailable and maxUnavailable cannot be both set", "keep one of the two")
    for name in both:
        check_amount_or_percent(spec.get(name), ("spec", name), found)
    check_selector(spec.get("selector"), ("spec", "selector"), found)
    policy = ("AlwaysAllow", "IfHealthyBudget")
    f.check_choice(found, ("spec", "unhealthyPodEvictionPolicy"), spec.get("unhealthyPodEvictionPolicy"), policy)


COMPUTE: Final = frozenset({"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_EPHEMERAL: Final = frozenset({"ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"})
_COUNTED: Final = frozenset(
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
STANDARD: Final = COMPUTE | _EPHEMERAL | _COUNTED | {"requests.storage"}
"""What a quota can limit by a plain name."""


def is_standard(name: str) -> bool:
    """Whether a quota knows a plain name."""
    return name in STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))


def is_whole(name: str) -> bool:
    """Whether amounts of a resource are whole numbers."""
    extended = not is_native_resource(name) and not name.startswith("requests.") and not why_not_key(f"requests.{name}")
    return name in _COUNTED or extended


def why_not_resource_type(name: str) -> str | None:
    """Why a text names no resource."""
    if why := why_not_key(name):
        return why
    if "/" not in name and not is_standard(name) and name != "storage":
        return "must be a standard resource type or fully qualified"
    return None


def why_not_quota(name: str) -> str | None:
    """Why a text names nothing that a quota can limit."""
    why = why_not_resource_type(name)
    if why is None and "/" not in name and not is_standard(name):
        return "must be a standard resource for quota"
    return why


_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")
_AMOUNTS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_Quantities = dict[str, Quantity]


def check_limit_range(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A LimitRange without its metadata."""
    seen: set[str] = set()
    for index, limit in f.indexed_mappings(f.as_field_mapping(manifest.get("spec")).get("limits")):
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


def _check_limit(limit: dict[str, Any], kind: str, path: Path, found: f.Problems) -> None:
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


def _check_names(amounts: Any, why_not: Callable[[str], str | None], path: Path, found: f.Problems) -> None:
    for name in f.as_field_mapping(amounts):
        if why := why_not(name):
            f.invalid(found, (*path, name), name, why, at=f.key_path((*path, name)))


def _read(amounts: Any) -> _Quantities:
    read = {name: parse(0 if text is None else text) for name, text in f.as_field_mapping(amounts).items()}
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


def _check_order(resource: str, amounts: dict[str, _Quantities], path: Path, found: f.Problems) -> None:
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


_SCOPES: Final = frozenset(
    ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"]
)
_ONLY_EXISTS: Final = _SCOPES - {"PriorityClass"}
_EXCLUSIVE: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_STORAGE: Final = frozenset({"persistentvolumeclaims", "requests.storage"})


def check_quota(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """A ResourceQuota without its metadata."""
    spec = f.as_field_mapping(manifest.get("spec"))
    hard = f.as_field_mapping(spec.get("hard"))
    for name, text in hard.items():
        here = ("spec", "hard", name)
        if why := why_not_quota(name):
            f.invalid(found, here, name, why, at=f.key_path(here))
        check_amount(name, text, here, found)
    scopes = spec.get("scopes")
    if type(scopes) is list:
        named = [scope for scope in scopes if type(scope) is str]
        _check_scopes(named, hard, ("spec", "scopes"), context, found)
    requirements = list(f.indexed_mappings(f.as_field_mapping(spec.get("scopeSelector")).get("matchExpressions")))
    here = ("spec", "scopeSelector", "matchExpressions")
    names = [one.get("scopeName") or "" for _, one in requirements]
    _check_scopes([name for name in names if type(name) is str], hard, here, context, found)
    for index, requirement in requirements:
        _check_requirement(requirement, (*here, index), found)


def check_amount(name: str, text: Any, path: Path, found: f.Problems) -> None:
    """An amount of a resource: 0 or more, and a whole number where the resource is counted."""
    amount = parse(0 if text is None else text)
    if amount is None:
        return
    if amount.nano < 0:
        f.invalid(found, path, str(amount), "must be greater than or equal to 0", at=f.key_path(path))
    if is_whole(name) and amount.nano % NANO:
        f.invalid(found, path, str(amount), "must be an integer", at=f.key_path(path))


def _check_scopes(scopes: list[str], hard: Iterable[str], path: Path, context: ApiServer, found: f.Problems) -> None:
    known = _SCOPES | {"VolumeAttributesClass"} if context.at_least(34) else _SCOPES
    for scope in scopes:
        if scope not in known:
            f.invalid(found, path, scope, "unsupported scope", f"use one of {', '.join(sorted(known))}")
        for name in hard:
            if is_standard(name) and not _applies(scope, name):
                why = "unsupported scope applied to resource"
                f.invalid(found, path, scope, why, f"a quota of scope {scope} cannot limit {name}")
    for pair in _EXCLUSIVE:
        if pair <= set(scopes):
            f.invalid(found, path, scopes, "conflicting scopes", "keep one of the two")


def _applies(scope: str, name: str) -> bool:
    """Whether a quota of a scope can limit a standard resource."""
    if scope == "BestEffort":
        return name == "pods"
    if scope == "VolumeAttributesClass":
        return name in _STORAGE
    return scope not in _SCOPES or name == "pods" or name in COMPUTE


def _check_requirement(requirement: dict[str, Any], path: Path, found: f.Problems) -> None:
    scope, operator = requirement.get("scopeName"), requirement.get("operator") or ""
    values = requirement.get("values")
    if type(scope) is not str or type(operator) is not str:
        return
    if scope in _ONLY_EXISTS and operator != "Exists":
        why = f"must be 'Exists' when scope is any of {', '.join(sorted(_ONLY_EXISTS))}"
        f.invalid(found, (*path, "operator"), operator, why, "set operator: Exists")
    if operator in ("In", "NotIn"):
        if not values:
            why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            f.required(found, (*path, "values"), why)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            f.invalid(found, (*path, "values"), values, why, "remove them")
    else:
        f.invalid(found, (*path, "operator"), operator, "not a valid selector operator", "use In, NotIn or Exists")
