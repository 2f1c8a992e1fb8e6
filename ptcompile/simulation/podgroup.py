"""The gang: how many pods have to fit at once, and what they ask for together."""

from __future__ import annotations

from typing import Any

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.untyped import Json, at, integer, kind_of, mapping
from ptcompile.operators import all as operators
from ptcompile.operators.common.pod_group import Shares
from ptcompile.operators.pods import Expansion, Role
from ptcompile.simulation import amounts

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
    sized = (operators.part(kind_of(manifest), "gang") or _all)(group, expansion.roles)
    total: dict[str, Quantity] = {}
    for role, count in sized:
        if count > 0:
            one = _asked(role.pod(0).spec, kind_of(manifest)[1])
            total = amounts.added(total, amounts.times(one, count))
    out: dict[str, Any] = {**group, "minResources": amounts.as_text(total)}
    return out


def _named(expansion: Expansion, others: Objects) -> Json | None:
    """A PodGroup that is already there, as it stands; with a note where the pods name one that is in no file."""
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
