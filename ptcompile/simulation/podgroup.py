"""The gang: how many pods have to fit at once, and what they ask for together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.untyped import Json, at, integer, kind_of, mapping, text
from ptcompile.operators.pods import Expansion, Role
from ptcompile.simulation import amounts

Shares = list[tuple[Role, int]]
"""Roles, each with the number of its pods that count."""


POD_GROUPS = {
    ("scheduling.volcano.sh/v1beta1", "PodGroup"): "volcano",
    ("scheduling.x-k8s.io/v1alpha1", "PodGroup"): "coscheduling",
}
"""The kinds of PodGroup that stand in files, and who reads them: Volcano 1.16, scheduler-plugins."""

_ANNOTATION, _LABEL = "scheduling.k8s.io/group-name", "scheduling.x-k8s.io/pod-group"


def pod_group(manifest: Json, expansion: Expansion, others: Objects) -> Json | None:
    """The operator's PodGroup with `minResources` in it, else the one of the same stream that the pods name.

    None where there is no gang. `others` are all objects of the stream.
    """
    group = expansion.pod_group
    if group is None:
        return _named(expansion, others)
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


def _named(expansion: Expansion, others: Objects) -> Json | None:
    """A PodGroup that is there already, as it stands; with a note where the pods name one that is in no file."""
    first = next((role.pod(0) for role in expansion.roles if role.count), None)
    if first is None:
        return None
    wanted = {"volcano": first.annotations.get(_ANNOTATION), "coscheduling": first.labels.get(_LABEL)}
    for kind, scheduler in POD_GROUPS.items():
        name = wanted[scheduler]
        if name is None:
            continue
        there = others.named(kind, name)
        spec = at(there[0], "spec") if there else {}
        size = integer(spec.get("minMember")) if there else None
        more = {key: spec[key] for key in ("queue", "priorityClassName", "networkTopology") if key in spec}
        out: dict[str, Any] = {"name": name, "scheduler": scheduler, "minMember": size, **more}
        return out | {"minResources": dict(mapping(spec.get("minResources")))} if there else out | {"missing": True}
    return None


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
