"""One workload simulated: its pods, its gang, and what its operator does on failure."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import as_int, as_mapping, kind_of, nested_map
from ptcompile.kubernetes.versions import Versions
from ptcompile.registry.pods import Expansion
from ptcompile.registry.table import GROUP_MARKS, expand, kind_named
from ptcompile.simulator import amounts
from ptcompile.simulator.pod import WorkloadPods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


def on_failure(manifest: Json, others: Sequence[Json]) -> tuple[str, ...]:
    """The sentences for a manifest."""
    return tuple(kind_named(kind_of(manifest)).on_failure(manifest, others))


class SimulatedJob(WorkloadPods):
    """One workload manifest and all that comes of it. The first two pods and the last of each role are built once."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it is made of: roles build their pods by functions, which cannot be pickled."""
        return job_of, (self.manifest, self.given, self.versions, self.target)

    @property
    def failure(self) -> tuple[str, ...]:
        """What happens when a pod fails, and when the job ends: one sentence each."""
        from ptcompile.simulator.faults import agents_of, sentences
        from ptcompile.simulator.meeting import job_rendezvous

        agents = agents_of(self, job_rendezvous(self))
        return (*on_failure(self.manifest, self.given), *(sentences(agents) if agents else ()))

    @property
    def pod_group(self) -> Json | None:
        """The gang, with what its pods ask for together; None where there is none."""
        return pod_group(self.manifest, self.expansion, self.given)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, who has to let the job in, and what a live cluster leaves to chance."""
        from ptcompile.registry.queue_systems import notes

        return (*self.expansion.notes, *notes(self.manifest))


def job_of(manifest: Json, given: Objects, versions: Versions, target: str | None) -> SimulatedJob:
    """One job among the objects of its stream."""
    return SimulatedJob(manifest, expand(manifest, versions=versions, others=given), given, target, versions)


def pod_group(manifest: Json, expansion: Expansion, others: Objects) -> Json | None:
    """The operator's PodGroup with `minResources` in it, else the one of the same stream that the pods name.

    None where there is no gang. `others` are all objects of the stream.
    """
    group = expansion.pod_group
    if group is None:
        return _named(expansion, others)
    given = nested_map(manifest, "spec", "runPolicy", "schedulingPolicy").get("minResources")
    if isinstance(given, dict):
        return {**group, "minResources": given}
    kind = kind_named(kind_of(manifest))
    total: dict[str, Quantity] = {}
    for role, count in kind.gang(group, expansion.roles):
        if count > 0:
            one = amounts.of_pod(role.pod(0).spec, defaulted=kind.gang_counts_limits)
            total = amounts.add(total, amounts.multiply(one, count))
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
        spec = nested_map(there[0], "spec") if there else {}
        size = as_int(spec.get("minMember")) if there else None
        more = {key: spec[key] for key in ("queue", "priorityClassName", "networkTopology") if key in spec}
        out: dict[str, Any] = {"name": name, "scheduler": scheduler, "minMember": size, **more}
        return out | {"minResources": dict(as_mapping(spec.get("minResources")))} if there else out | {"missing": True}
    return None
