"""All operators, and the tables that are views of them: by kind, target, queue system and gang scheduler."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.record import Feature, GroupMark, Key, Kind, Operator, overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

OPERATORS: Final[tuple[Operator, ...]] = import_module("ptcompile.operators").OPERATORS
"""Imported by name: the operators' folders import what is here."""

_UNKNOWN: Final = Kind()

BY_FOLDER: Final = {operator.folder: operator for operator in OPERATORS}
BY_QUEUE_SYSTEM: Final = {operator.queue_system: operator for operator in OPERATORS if operator.queue_system}
BY_GANG_SCHEDULER: Final = {operator.gang_scheduler: operator for operator in OPERATORS if operator.gang_scheduler}
BY_TARGET: Final = {operator.target_name: operator for operator in OPERATORS if operator.target_name}
KINDS: Final[dict[Key, tuple[Operator, Kind]]] = {
    kind.key: (operator, kind) for operator in OPERATORS for kind in operator.kinds
}
GROUP_MARKS: Final[dict[Key, GroupMark]] = {
    key: kind.group_mark for key, (_, kind) in KINDS.items() if kind.group_mark is not None
}
"""The kinds of PodGroup that are in files, and how pods name one."""
FEATURES: Final[dict[str, Feature]] = {
    name: feature for operator in OPERATORS for name, feature in operator.features.items()
}
"""What the operators' releases changed. A row that no target asks for is there for people."""


def kind_named(key: Key) -> Kind:
    """Return the kind with this apiVersion and name, or a `Kind` without anything if it is unknown."""
    found = KINDS.get(key)
    return found[1] if found else _UNKNOWN


def kinds_with(method: Callable[..., Any]) -> frozenset[Key]:
    """Return the kinds whose classes override a method of `Kind`, such as `Kind.pods`."""
    return frozenset(key for key, (_, kind) in KINDS.items() if overrides(kind, method))


def has_feature(name: str, versions: Versions) -> bool:
    """Return whether the cluster's release has a feature: the one place that compares releases for targets.

    Raises:
        KeyError: no such feature, which is a bug.
    """
    feature = FEATURES[name]
    release: Version = getattr(versions, feature.operator)
    return feature.since <= release and (feature.until is None or release <= feature.until)
