"""Pod over an update (Kubernetes 1.30 to 1.36 `ValidatePodUpdate`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diffing.applying.told import forbidden
from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.operators.record import Update

_ANEW: Final = "delete the pod and apply again: a pod's image, deadline and tolerations change, nothing else"
_WHY: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_update(update: Update) -> Iterator[Problem]:
    """A Pod: what may change of it is little."""
    old, new = at(update.old, "spec"), at(update.new, "spec")
    for key in ("containers", "initContainers"):
        if _names(old.get(key)) != _names(new.get(key)):
            yield forbidden(("spec", key), "pod updates may not add or remove containers", _ANEW)
            return
    gated = bool(old.get("schedulingGates"))
    for path in update.under("spec"):
        if not _may_change(path, old, new, gated):
            yield forbidden(("spec",), _WHY, _ANEW)
            return
    yield from _gates(old, new)


def _names(containers: Any) -> list[Any]:
    return [one.get("name") if isinstance(one, Mapping) else None for one in _items(containers)]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _may_change(path: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any], gated: bool) -> bool:
    field = path[1] if len(path) > 1 else ""
    if field in ("containers", "initContainers"):
        return path[3:] == ("image",)
    if field == "activeDeadlineSeconds":
        before, after = old.get(field), new.get(field)
        return isinstance(after, int) and (before is None or (isinstance(before, int) and after <= before))
    if field == "tolerations":
        return _only_more_tolerations(_items(old.get(field)), _items(new.get(field)))
    if field == "schedulingGates":
        return True
    if field == "nodeSelector":
        before, after = at(old, field), at(new, field)
        return gated and all(after.get(key) == value for key, value in before.items())
    if field == "affinity":
        return gated and path[2:3] == ("nodeAffinity",) and _only_narrower(old, new)
    return field == "terminationGracePeriodSeconds" and new.get(field) == 1 and (old.get(field) or 0) < 0


def _only_more_tolerations(before: list[Any], after: list[Any]) -> bool:
    """Whether every toleration is still there; its `tolerationSeconds` may differ."""
    kept = [_without_seconds(one) for one in after]
    return all(_without_seconds(one) in kept for one in before)


def _without_seconds(toleration: Any) -> Any:
    if not isinstance(toleration, Mapping):
        return toleration
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds" and value is not None}


def _only_narrower(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the required node affinity only gained expressions inside its terms, or was empty."""
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    before = _items(at(old, "affinity", "nodeAffinity", name).get("nodeSelectorTerms"))
    after = _items(at(new, "affinity", "nodeAffinity", name).get("nodeSelectorTerms"))
    if not before:
        return True
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all(_has_all(one, other) for one, other in pairs)


def _has_all(one: Any, other: Any) -> bool:
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    keys = ("matchExpressions", "matchFields")
    return all(_items(other.get(key))[: len(_items(one.get(key)))] == _items(one.get(key)) for key in keys)


def _gates(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Problem]:
    before = _names(old.get("schedulingGates"))
    for index, name in enumerate(_names(new.get("schedulingGates"))):
        if name not in before:
            why = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield forbidden(("spec", "schedulingGates", index, "name"), why, "remove the gate: it is set on creation")
