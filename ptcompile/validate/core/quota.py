"""ResourceQuota (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.quantity import NANO, parse
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.quota_names import COMPUTE, is_standard, is_whole, why_not_quota

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_SCOPES: Final = frozenset(
    ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"]
)
_ONLY_EXISTS: Final = _SCOPES - {"PriorityClass"}
_EXCLUSIVE: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_STORAGE: Final = frozenset({"persistentvolumeclaims", "requests.storage"})


def check_quota(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A ResourceQuota without its metadata."""
    spec = f.mapping(manifest.get("spec"))
    hard = f.mapping(spec.get("hard"))
    for name, text in hard.items():
        here = ("spec", "hard", name)
        if why := why_not_quota(name):
            f.invalid(found, here, name, why, at=f.key_path(here))
        check_amount(name, text, here, found)
    scopes = spec.get("scopes")
    if type(scopes) is list:
        named = [scope for scope in scopes if type(scope) is str]
        _check_scopes(named, hard, ("spec", "scopes"), context, found)
    requirements = list(f.objects(f.mapping(spec.get("scopeSelector")).get("matchExpressions")))
    here = ("spec", "scopeSelector", "matchExpressions")
    names = [one.get("scopeName") or "" for _, one in requirements]
    _check_scopes([name for name in names if type(name) is str], hard, here, context, found)
    for index, requirement in requirements:
        _check_requirement(requirement, (*here, index), found)


def check_amount(name: str, text: Any, path: Path, found: f.Found) -> None:
    """An amount of a resource: 0 or more, and a whole number where the resource is counted."""
    amount = parse(0 if text is None else text)
    if amount is None:
        return
    if amount.nano < 0:
        f.invalid(found, path, str(amount), "must be greater than or equal to 0", at=f.key_path(path))
    if is_whole(name) and amount.nano % NANO:
        f.invalid(found, path, str(amount), "must be an integer", at=f.key_path(path))


def _check_scopes(scopes: list[str], hard: Iterable[str], path: Path, context: ApiServer, found: f.Found) -> None:
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


def _check_requirement(requirement: dict[str, Any], path: Path, found: f.Found) -> None:
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
