"""The gang: how many pods have to fit at once, and what they ask for together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptcompile.expand import Expansion, Role
from ptcompile.plain import Json, at, integer, kind_of, mapping, text
from ptcompile.quantity import Quantity
from ptcompile.simulation import amounts

Shares = list[tuple[Role, int]]
"""Roles, each with the number of its pods that count."""


def pod_group(manifest: Json, expansion: Expansion) -> Json | None:
    """The operator's PodGroup with `minResources` in it; None where there is no gang."""
    group = expansion.pod_group
    if group is None:
        return None
    given = at(manifest, "spec", "runPolicy", "schedulingPolicy").get("minResources")
    if isinstance(given, dict):
        return {**group, "minResources": given}
    sized = _SHARES.get(kind_of(manifest), _all)(group, expansion.roles)
    total: dict[str, Quantity] = {}
    for role, count in sized:
        if count > 0:
            one = _asked(role.pod(0).spec, kind_of(manifest)[1])
            total = amounts.added(total, amounts.times(one, count))
    out: dict[str, Any] = {**group, "minResources": amounts.as_text(total)}
    return out


def _asked(spec: Json, kind: str) -> dict[str, Quantity]:
    """Requests; training-operator takes limits where there are none, Volcano and Trainer do not (3.3, 2.7)."""
    return amounts.of_pod(spec, defaulted=kind == "PyTorchJob")


def _all(_group: Json, roles: tuple[Role, ...]) -> Shares:
    return [(role, role.count) for role in roles]


def _first(limit: int, roles: tuple[Role, ...]) -> Shares:
    """The first pods in the order of their roles, the higher priority class first: its value is not in the manifest."""
    out: Shares = []
    for role in roles:
        taken = min(limit, role.count)
        out.append((role, taken))
        limit -= taken
    return out


def _pytorchjob(group: Json, roles: tuple[Role, ...]) -> Shares:
    return _first(integer(group.get("minMember")), roles)


def _volcano(group: Json, roles: tuple[Role, ...]) -> Shares:
    """Every task's least, then filled up; the first pods only where the job asks for fewer than the tasks do."""
    least = {str(name): integer(n) for name, n in mapping(group.get("minTaskMember")).items()}
    limit = integer(group.get("minMember"))
    if limit < sum(least.values()):
        return _first(limit, roles)
    left = limit - sum(least.values())
    out: Shares = []
    for role in roles:
        wanted = min(role.count, least.get(text(role.name), 0))
        more = min(left, role.count - wanted)
        out.append((role, wanted + more))
        left -= more
    return out


_SHARES: dict[tuple[str, str], Callable[[Json, tuple[Role, ...]], Shares]] = {
    ("kubeflow.org/v1", "PyTorchJob"): _pytorchjob,
    ("batch.volcano.sh/v1alpha1", "Job"): _volcano,
}
