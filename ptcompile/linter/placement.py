"""The nodes that take the pods of an object: each pod alone, and all that wait for one another at once."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.kubernetes.nodes import Placement, fits, room_for
from ptcompile.kubernetes.pod_spec import request_path
from ptcompile.kubernetes.unstructured import Json, as_mappings, nested_map, string_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.table import modeled_queue_system
from ptcompile.simulator.pod import repel
from ptcompile.world.nodes import Pools, is_about, misfit_in
from ptcompile.world.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.world.templates import ManifestTemplate


def placements_of(subject: Subject, pools: Pools) -> list[tuple[ManifestTemplate, Placement]]:
    """Return each pod template with the nodes that take its pods.

    Pods of a queue get the labels and tolerations of the flavors that it chose. Until it has, they may get the
    tolerations of any.
    """
    chosen = pools.flavors
    marks = _possible_tolerations(subject) if chosen is None else [nested_map(each, "spec") for each in chosen]
    return [(template, fits(_with_marks(template.spec, marks), pools.groups)) for template in subject.templates]


def _possible_tolerations(subject: Subject) -> list[Json]:
    named_by = modeled_queue_system()[0].named_by
    if named_by is None or not named_by(subject.metadata):
        return []
    return [{"tolerations": flavor.get("tolerations")} for flavor in subject.stream.cached(_flavor_specs)]


def _flavor_specs(stream: Stream) -> list[Json]:
    return [nested_map(each, "spec") for each in stream.objects if each.get("kind") == "ResourceFlavor"]


def _with_marks(spec: Json, marks: Sequence[Json]) -> Json:
    """Return a pod's spec with the labels and tolerations of flavors."""
    if not marks:
        return spec

    labels = string_map(spec.get("nodeSelector"))
    tolerations = as_mappings(spec.get("tolerations"))
    for mark in marks:
        labels = {**string_map(mark.get("nodeLabels")), **labels}
        tolerations = [*tolerations, *as_mappings(mark.get("tolerations"))]
    return {**spec, "nodeSelector": labels, "tolerations": tolerations}


def pod_misfits(subject: Subject, pools: Pools) -> Findings:
    """Yield a finding for each pod template whose pods no node takes."""
    for template, placement in placements_of(subject, pools):
        misfit = misfit_in(pools, placement)
        if misfit is not None:
            path = (*template.path, "spec", *misfit.path)
            yield found_at(path, misfit.text, misfit.help, severity=misfit.severity)


def gang_misfits(subject: Subject, pools: Pools) -> Findings:
    """Yield a finding if pods that wait for one another before they train do not fit at once."""
    least = subject.min_nodes_to_start
    if least < 2:
        return

    waiting = [role for role in subject.roles if role.expanded.name in subject.waiting_roles]
    pods = [role.pod for role in waiting]
    templates = {id(role.template) for role in waiting}
    placed = [item for item in placements_of(subject, pools) if id(item[0]) in templates]
    placements = [placement for _, placement in placed]
    if not placed or not all(placement.fitting and is_about(pools, placement) for placement in placements):
        return

    room = room_for(placements, apart=all(repel(a, b) for a in pods for b in pods))
    if room is not None and room < least:
        template, placement = placed[0]
        names = ", ".join(sorted({name for each in placements for group in each.fitting for name in group.names})[:4])
        needed = [name for name, _ in placement.pod.requests]
        yield found_at(
            (*template.path, "spec", *request_path(template.spec, needed[0] if needed else "")),
            f"{least} pods wait for one another, but the nodes that take them ({names}) have room for {room}",
            f"use at most {room} pods, or request less in each",
            severity="error" if pools.is_complete else None,
        )
