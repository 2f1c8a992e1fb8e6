"""The nodes that take the pods of an object: each pod alone, and all that wait for one another
at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.nodes import Placement, VolumePlace, fits, room_by_domain, room_for
from ptcompile.kubernetes.pod_spec import pinned_values, request_path
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_value,
)
from ptcompile.linter.claims import claims_of_pod, places_of_claim
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.table import modeled_queue_system
from ptcompile.simulator.pod import Pod, labels_apart, repel
from ptcompile.world.nodes import Pools, is_about, misfit_in
from ptcompile.world.templates import ManifestTemplate
from ptcompile.world.workload import Stream

_MOST_NODES = 4
"""Node names in a message."""


def placements_of(subject: Subject, pools: Pools) -> list[tuple[ManifestTemplate, Placement]]:
    """Return each pod template with the nodes that take its pods.

    Pods of a queue get the labels and tolerations of the flavors that it chose. Until it has, they
    may get the tolerations of any.
    """
    chosen = pools.flavors
    if chosen is None:
        marks = _possible_tolerations(subject)
    else:
        marks = [nested_map(each, "spec") for each in chosen]

    return [
        (
            template,
            fits(
                _with_marks(template.spec, marks),
                pools.groups,
                places=[*_volume_places(subject, template)],
            ),
        )
        for template in subject.templates
    ]


def _volume_places(subject: Subject, template: ManifestTemplate) -> Iterator[VolumePlace]:
    """Yield where the volumes of a pod are, by labels that the pod does not select:
    `volume-elsewhere` reports the labels that it does select.
    """
    in_spec = len(template.path) + 1
    for path, claim in claims_of_pod(subject, template):
        for label, values, _ in places_of_claim(subject.stream, claim):
            if not any(pinned_values(template.spec, label)):
                yield VolumePlace(path=path[in_spec:], label=label, values=values)


def _possible_tolerations(subject: Subject) -> list[Json]:
    named_by = modeled_queue_system()[0].named_by
    if named_by is None or not named_by(subject.manifest):
        return []
    return subject.stream.cached(_flavor_tolerations)


def _flavor_tolerations(stream: Stream) -> list[Json]:
    return [
        {"tolerations": nested_value(each, "spec", "tolerations")}
        for each in stream.objects
        if each.get("kind") == "ResourceFlavor"
    ]


def _with_marks(spec: Json, marks: Sequence[Json]) -> Json:
    """Return a pod's spec with the labels and tolerations of flavors."""
    if not marks:
        return spec

    labels = nested_string_map(spec, "nodeSelector")
    tolerations = nested_maps(spec, "tolerations")
    for mark in marks:
        labels = {**nested_string_map(mark, "nodeLabels"), **labels}
        tolerations = [*tolerations, *nested_maps(mark, "tolerations")]
    return {**spec, "nodeSelector": labels, "tolerations": tolerations}


def pod_misfits(subject: Subject, pools: Pools) -> Findings:
    """Yield a finding for each pod template whose pods no node takes."""
    for template, placement in placements_of(subject, pools):
        misfit = misfit_in(pools, placement)
        if misfit is not None:
            yield found_at(
                (*template.spec_path, *misfit.path),
                misfit.text,
                misfit.help,
                severity=misfit.severity,
            )


def gang_misfits(subject: Subject, pools: Pools) -> Findings:
    """Yield a finding if pods that wait for one another before they train do not fit at once."""
    least = subject.min_nodes_to_start
    if least < 2:
        return

    waiting = [role for role in subject.roles if role.expanded.name in subject.waiting_roles]
    pods = [role.pod for role in waiting]
    templates = {id(role.template) for role in waiting}
    placed = [
        (template, placement)
        for template, placement in placements_of(subject, pools)
        if id(template) in templates
    ]
    placements = [placement for _, placement in placed]
    if not placed or not all(
        placement.fitting and is_about(pools, placement) for placement in placements
    ):
        return

    room = room_for(placements, apart=all(repel(a, b) for a in pods for b in pods))
    template, placement = placed[0]
    rooms = [(room, "")]
    if len(placements) == 1:
        rooms += _rooms_by_domain(pods[0], placement)
    decided_rooms = [(room, why) for room, why in rooms if room is not None]
    room, why = min(decided_rooms, default=(None, ""))
    if room is not None and room < least:
        fitting = [group for each in placements for group in each.fitting]
        names = sorted({name for group in fitting for name in group.names})
        needed = [name for name, _ in placement.pod.requests]
        yield found_at(
            (*template.spec_path, *request_path(template.spec, needed[0] if needed else "")),
            f"{least} pods wait for one another, but the nodes that take them "
            f"({', '.join(names[:_MOST_NODES])}) have room for {room}{why}",
            f"use at most {room} pods, or request less in each",
            severity="error" if pools.is_complete else None,
        )


def _rooms_by_domain(pod: Pod, placement: Placement) -> Iterator[tuple[int | None, str]]:
    """Yield how many pods like this fit by each constraint that spreads them over domains such as
    zones, with the constraint as a clause.
    """
    for label in labels_apart(pod, pod):
        yield room_by_domain(placement, label), f": one for each {label}"
    for constraint in nested_maps(pod.view.spec, "topologySpreadConstraints"):
        label = nested_string(constraint, "topologyKey")
        selector = nested_map(constraint, "labelSelector")
        if (
            constraint.get("whenUnsatisfiable") == "DoNotSchedule"
            and selector
            and selects(selector, pod.view.labels)
        ):
            counts_tainted = constraint.get("nodeTaintsPolicy") != "Honor"
            skew = nested_int(constraint, "maxSkew", default=1)
            room = room_by_domain(placement, label, skew=skew, counts_tainted=counts_tainted)
            yield room, f": maxSkew {skew} over {label}"
