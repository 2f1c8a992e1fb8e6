"""The table of all operators, keyed by kind, with views by target, queue system and release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptcompile.kinds.model import (
    Feature,
    GroupMark,
    Kind,
    KindContext,
    Operator,
    QueueSystem,
    is_overridden,
)
from ptcompile.kinds.pods import ExpandedRole, Expansion, remember_first
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import Json, kind_of
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators import OPERATORS as OPERATORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diagnostics import Authority
    from ptcompile.kinds.status import Status
    from ptcompile.kinds.templates import Template


_UNKNOWN = Kind()

BY_FOLDER = {operator.folder: operator for operator in OPERATORS}
BY_QUEUE_SYSTEM = {
    operator.queue_system: operator for operator in OPERATORS if operator.queue_system
}
BY_GANG_SCHEDULER = {
    operator.gang_scheduler: operator for operator in OPERATORS if operator.gang_scheduler
}
BY_TARGET = {operator.target_name: operator for operator in OPERATORS if operator.target_name}
KINDS: dict[GroupVersionKind, tuple[Operator, Kind]] = {
    kind.key: (operator, kind) for operator in OPERATORS for kind in operator.kinds
}
GROUP_MARKS: dict[GroupVersionKind, GroupMark] = {
    key: kind.group_mark for key, (_, kind) in KINDS.items() if kind.group_mark is not None
}
"""Kinds of PodGroup that appear in files, and how pods name one."""
FEATURES: dict[str, Feature] = {
    name: feature for operator in OPERATORS for name, feature in operator.features.items()
}
"""Changes between the operators' releases. Rows that no target checks are documentation."""


def kind_named(key: GroupVersionKind) -> Kind:
    """Return the kind with this apiVersion and name, or a `Kind` without anything if it is
    unknown.
    """
    _, kind = KINDS.get(key, (None, _UNKNOWN))
    return kind


def record_of(manifest: Json) -> Kind:
    """Return the record of an object's kind, or an empty one if the kind is unknown."""
    return kind_named(kind_of(manifest))


def operator_of(key: GroupVersionKind) -> Operator:
    """Return the operator of a kind. Raises KeyError for a kind that none has."""
    operator, _ = KINDS[key]
    return operator


def main_kind(operator: Operator) -> Kind:
    """Return the kind of an operator that its target emits."""
    return operator.kinds[0]


def kinds_with(method: Callable[..., Any]) -> frozenset[GroupVersionKind]:
    """Return the kinds whose classes override a method of `Kind`, such as `Kind.pods`."""
    return frozenset(key for key, (_, kind) in KINDS.items() if is_overridden(kind, method))


def has_feature(name: str, versions: Versions) -> bool:
    """Return whether the cluster's release has a feature: the one place that compares releases for
    targets.

    Raises:
        KeyError: no such feature, which is a bug.
    """
    feature = FEATURES[name]
    release: Version = getattr(versions, feature.operator)
    return feature.since <= release and (feature.until is None or release <= feature.until)


def modeled_queue_system() -> tuple[QueueSystem, Authority]:
    """Return the queue system whose admission is modeled, and its name in findings."""
    operator = next(item for item in BY_QUEUE_SYSTEM.values() if item.queues().admit is not None)
    return operator.queues(), operator.authority


def status_of(live: Json) -> Status:
    """Return the state of a live object of a kind that ptcompile emits. Raises ValueError for
    another kind.
    """
    following = record_of(live).following()
    if following is None:
        kinds = ", ".join(
            sorted({f"{version}/{kind}" for version, kind in kinds_with(Kind.following)})
        )
        raise ValueError(
            f"status: not a job, but {live.get('apiVersion')}/{live.get('kind')}; a job is one of "
            f"{kinds}"
        )

    return following.status(live)


def templates_of(manifest: Json) -> Iterator[Template]:
    """Yield the pod templates of an object; a TrainJob, for example, has none."""
    return record_of(manifest).templates(manifest)


RUNS_PODS = kinds_with(Kind.pods)
"""Kinds, by apiVersion and name, that run pods: jobs, a Pod itself, and services."""
JOB_KINDS = frozenset(key for key in RUNS_PODS if kind_named(key).trains)
"""Those whose pods may be a training job."""


def expand(
    manifest: Json, *, versions: Versions | None = None, related: Sequence[Json] = ()
) -> Expansion:
    """Return what the operator of this manifest creates, or an empty expansion for a kind that
    creates no pods.

    `related` are the other objects of the same stream, such as runtimes and Services. Accepts any
    data; never raises.
    """
    expansion = record_of(manifest).pods(manifest, KindContext(versions or Versions(), related))
    return Expansion(
        tuple(
            [ExpandedRole(name, count, remember_first(pod)) for name, count, pod in expansion.roles]
        ),
        *expansion[1:],
    )
