"""The gang: how many pods have to fit at once, and what they ask for together."""

from __future__ import annotations

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.untyped import at, integer, kind_of, mapping
from ptcompile.operators.all import GROUP_MARKS, kind_named
from ptcompile.operators.pods import Expansion
from ptcompile.simulation import amounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json


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
    kind = kind_named(kind_of(manifest))
    total: dict[str, Quantity] = {}
    for role, count in kind.gang(group, expansion.roles):
        if count > 0:
            one = amounts.of_pod(role.pod(0).spec, defaulted=kind.gang_counts_limits)
            total = amounts.added(total, amounts.times(one, count))
    out: dict[str, Any] = {**group, "minResources": amounts.as_text(total)}
    return out


def _named(expansion: Expansion, others: Objects) -> Json | None:
    """A PodGroup that is already there, as it stands; with a note where the pods name one that is in no file."""
    first = next((role.pod(0) for role in expansion.roles if role.count), None)
    if first is None:
        return None
    marks = {"annotations": first.annotations, "labels": first.labels}
    for kind, (scheduler, where, mark) in GROUP_MARKS.items():
        name = marks[where].get(mark)
        if name is None:
            continue
        there = others.named(kind, name)
        spec = at(there[0], "spec") if there else {}
        size = integer(spec.get("minMember")) if there else None
        more = {key: spec[key] for key in ("queue", "priorityClassName", "networkTopology") if key in spec}
        out: dict[str, Any] = {"name": name, "scheduler": scheduler, "minMember": size, **more}
        return out | {"minResources": dict(mapping(spec.get("minResources")))} if there else out | {"missing": True}
    return None
