"""The checks of the annotations with which a pod template asks for a topology.

Source: Kueue 0.19, pkg/controller/jobframework/tas_validation.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.namedtuple import Any
from ptcompile.diagnostics import Path, Problem, Problems, field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.goflags import atoi, parse_bool
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import PREFIX, REQUESTS
from ptcompile.operators.kueue.webhooks.labels import rejection
from ptcompile.operators.kueue.webhooks.pod_sets import PodSetTemplate
from ptcompile.operators.queues.queue_systems import (
    KUEUE_POD_SET_GROUP,
    KUEUE_SLICE,
    KUEUE_SLICE_SIZE,
    KUEUE_TOPOLOGY,
)

CONSTRAINTS = f"{PREFIX}podset-slice-required-topology-constraints"
"""Annotation: up to three levels of slices, as JSON, the largest first."""

_REQUIRED = KUEUE_TOPOLOGY["required"]
_PREFERRED = KUEUE_TOPOLOGY["preferred"]
_UNCONSTRAINED = KUEUE_TOPOLOGY["unconstrained"]
_MAX_LAYERS = 3
_INT32 = 2**31
_LEVEL_HELP = "write the node label of a level of the Topology, such as kubernetes.io/hostname"


_topology_rejection = partial(rejection, name="refused-topology-request")


def check_template(
    pod_set: PodSetTemplate, versions: Versions, *, is_bounded: bool = True
) -> Problems:
    """Yield the rejections of one template. `is_bounded`: whether slices may not be larger than the
    pod set, which is not checked for a Pod.
    """
    values = pod_set.annotations
    path = pod_set.annotations_path
    yield from _check_requests(values, path)
    if KUEUE_POD_SET_GROUP in values:
        yield from _check_group_name(values, (*path, KUEUE_POD_SET_GROUP))
    limit = pod_set.pods if is_bounded else None
    yield from _check_slices(values, path, limit)
    if CONSTRAINTS in values:
        yield from _check_constraints(values, (*path, CONSTRAINTS), limit, versions)


def _check_requests(values: Mapping[str, str], path: Path) -> Problems:
    """Check for at most one topology request, with a level that can be the key of a node label."""
    requests = [name for name in values if name in REQUESTS]
    for name in requests[1:]:
        listed = ", ".join(f'"{request}"' for request in REQUESTS)
        why = f"Invalid value: must not contain more than one topology annotation: [{listed}]"
        yield _topology_rejection((*path, name), why, f"remove it, or {requests[0]}", on_key=True)

    for name in (_REQUIRED, _PREFERRED, KUEUE_SLICE):
        reason = names.why_not_qualified_name(values[name]) if name in values else None
        if reason is not None:
            yield _topology_rejection(
                (*path, name), f'Invalid value: "{values[name]}": {reason}', _LEVEL_HELP
            )

    if parse_bool(values.get(_UNCONSTRAINED, "true")) is None:
        why = f'Invalid value: "{values[_UNCONSTRAINED]}": must be a boolean value'
        yield _topology_rejection((*path, _UNCONSTRAINED), why, 'write "true"')


def _check_group_name(values: Mapping[str, str], path: Path) -> Problems:
    name = values[KUEUE_POD_SET_GROUP]
    if _is_uint64(name):
        yield _topology_rejection(
            path, f'Invalid value: "{name}": must not be a number', "write a name, such as workers"
        )

    for other in (KUEUE_SLICE_SIZE, KUEUE_SLICE, CONSTRAINTS):
        if other in values:
            why = f"Forbidden: may not be set when '{other}' is specified"
            yield _topology_rejection(path, why, f"remove it, or {other}")

    if _PREFERRED not in values and _REQUIRED not in values:
        why = (
            f"Forbidden: may not be set when neither '{_PREFERRED}' nor '{_REQUIRED}' is specified"
        )
        yield _topology_rejection(path, why, f"add {_REQUIRED} or {_PREFERRED}", on_key=True)


def _is_uint64(text: str) -> bool:
    """Return whether `strconv.ParseUint(text, 10, 64)` succeeds."""
    if not (text.isascii() and text.isdigit()):
        return False
    # compared as text: Python converts no more than 4300 digits
    digits = text.lstrip("0")
    largest = str(2**64 - 1)
    return (len(digits), digits) <= (len(largest), largest)


def _check_slices(values: Mapping[str, str], path: Path, limit: int | None) -> Problems:
    """Check that slices have both a level and a size, and that one slice is not larger than the
    pod set.
    """
    if KUEUE_SLICE_SIZE not in values:
        if KUEUE_SLICE in values:
            # Kueue names the missing annotation; the finding is at the one that requires it
            why = f"Required value: must be set when '{KUEUE_SLICE}' is specified"
            yield _topology_rejection(
                (*path, KUEUE_SLICE),
                why,
                f"add {KUEUE_SLICE_SIZE}",
                field=field_path((*path, KUEUE_SLICE_SIZE)),
                on_key=True,
            )
        return

    size_path = (*path, KUEUE_SLICE_SIZE)
    text = values[KUEUE_SLICE_SIZE]
    size = atoi(text)
    help = "write the number of pods in a slice"
    if size is None or not -_INT32 <= size < _INT32:
        yield _topology_rejection(
            size_path, f'Invalid value: "{text}": must be a numeric value', help
        )
    elif size < 1:
        yield _topology_rejection(
            size_path, f'Invalid value: "{text}": must be greater than or equal to 1', help
        )
    elif limit is not None and size > limit:
        why = f'Invalid value: "{text}": must not be greater than pod set count {limit}'
        help = f"write 1 to {limit}, or add pods" if limit > 0 else "add pods"
        yield _topology_rejection(size_path, why, help)
    if KUEUE_SLICE not in values:
        why = f"Forbidden: may not be set when '{KUEUE_SLICE}' is not specified"
        yield _topology_rejection(size_path, why, f"add {KUEUE_SLICE}", on_key=True)


def _check_constraints(
    values: Mapping[str, str], path: Path, limit: int | None, versions: Versions
) -> Problems:
    """Check the slices of several levels, which Kueue has had since 0.19."""
    if versions.kueue < (0, 19):
        why = (
            "Forbidden: the TASMultiLayerTopology feature gate must be enabled to use this "
            "annotation"
        )
        yield _topology_rejection(
            path, why, f"use {KUEUE_SLICE} and {KUEUE_SLICE_SIZE}, or Kueue 0.19", on_key=True
        )
        return

    for other in (KUEUE_SLICE, KUEUE_SLICE_SIZE):
        if other in values:
            why = f"Forbidden: may not be set when '{other}' is specified"
            yield _topology_rejection(path, why, f"remove {other}", on_key=True)

    layers = parse_constraints(values[CONSTRAINTS])
    text = values[CONSTRAINTS]
    example = 'write a list such as [{"topology": "rack", "size": 8}]'
    if layers is None:
        yield _topology_rejection(
            path, f'Invalid value: "{text}": must be a valid JSON array', example
        )
        return
    if not 1 <= len(layers) <= _MAX_LAYERS:
        why = (
            f"topology constraints must contain between 1 and {_MAX_LAYERS} entries: got "
            f"{len(layers)}"
        )
        yield _topology_rejection(path, f'Invalid value: "{text}": {why}', example)
        return

    for field, reason in _layer_errors(layers):
        yield _topology_rejection(path, reason, "correct the entry", field=field_path(path) + field)
    _, first_size = layers[0]
    if limit is not None and first_size > limit:
        why = f"Invalid value: {first_size}: must not be greater than pod set count {limit}"
        yield _topology_rejection(path, why, "lower the first size, or add pods")


def _layer_errors(layers: Sequence[tuple[str, int]]) -> Iterator[tuple[str, str]]:
    """Yield the field of an entry and why it is rejected; each size must divide the one before
    it.
    """
    levels = [topology for topology, _ in layers]
    parent_size = 0
    for i, (topology, size) in enumerate(layers):
        if reason := names.why_not_qualified_name(topology):
            yield f"[{i}].topology", f'Invalid value: "{topology}": {reason}'
        if size < 1:
            yield f"[{i}].size", f"Invalid value: {size}: must be greater than or equal to 1"

        if topology in levels[:i]:
            yield (
                f"[{i}].topology",
                f'Duplicate value: "{topology} (also at index {levels.index(topology)})"',
            )
        if size > 0 and parent_size % size:
            yield (
                f"[{i}].size",
                f"Invalid value: {size}: must evenly divide the parent layer size {parent_size}",
            )
        parent_size = size


def parse_constraints(text: str) -> list[tuple[str, int]] | None:
    """Return level and size of each entry as Go's encoding/json decodes them, or None if it fails.

    Keys match in any case, the last one wins, a null leaves the zero value, and other keys are
    ignored.
    """
    try:
        # objects become tuples of pairs, so they differ from lists and keep repeated keys
        entries = json.loads(text, object_pairs_hook=tuple, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return None

    if entries is None:
        return []
    if not isinstance(entries, list):
        return None

    layers: list[tuple[str, int]] = []
    for entry in entries:
        layer = _layer(entry)
        if layer is None:
            return None
        layers.append(layer)

    return layers


def _reject_constant(name: str) -> Any:
    raise ValueError(name)


def _layer(entry: Any) -> tuple[str, int] | None:
    """Return the topology and the size of one layer, as Go decodes them, or None if it cannot."""
    topology = ""
    size = 0
    if entry is not None and not isinstance(entry, tuple):
        return None

    for key, value in entry or ():
        if value is None:
            continue
        if key.lower() == "topology":
            if not isinstance(value, str):
                return None
            topology = value
        elif key.lower() == "size":
            if type(value) is not int or not -_INT32 <= value < _INT32:
                return None
            size = value

    return topology, size


def check_groups(pod_sets: Sequence[PodSetTemplate]) -> Problems:
    """Check that exactly two pod sets share each group, one of them of a single pod, with the
    same topology.
    """
    groups: dict[str, list[PodSetTemplate]] = {}
    for pod_set in pod_sets:
        values = pod_set.annotations
        has_level = _REQUIRED in values or _PREFERRED in values
        if has_level and KUEUE_POD_SET_GROUP in values:
            groups.setdefault(values[KUEUE_POD_SET_GROUP], []).append(pod_set)

    for name, members in groups.items():
        if len(members) != 2:
            why = f"can only define groups of exactly 2 pod sets, got: {len(members)} pod set(s)"
            help = "give the same group name to exactly two templates"
            for member in members:
                yield _group_rejection(member, name, why, help)
            continue

        first, second = members
        if first.pods != 1 and second.pods != 1:
            counts = f"{first.pods} replica(s) and {second.pods} replica(s)"
            why = (
                "can only define groups where at least one pod set has only 1 replica, got: "
                f"{counts} in the group"
            )
            for member in members:
                yield _group_rejection(member, name, why, "set one of them to one pod")
        if _level(first) != _level(second):
            yield from _different_topologies(first, second, name)


def _level(pod_set: PodSetTemplate) -> tuple[str | None, str | None]:
    """Return the required level, or else the preferred one."""
    required = pod_set.annotations.get(_REQUIRED)
    return required, None if required is not None else pod_set.annotations.get(_PREFERRED)


def _group_rejection(pod_set: PodSetTemplate, group: str, why: str, help: str) -> Problem:
    return _topology_rejection(
        (*pod_set.annotations_path, KUEUE_POD_SET_GROUP), f'Invalid value: "{group}": {why}', help
    )


def _different_topologies(first: PodSetTemplate, second: PodSetTemplate, group: str) -> Problems:
    for member, other in ((first, second), (second, first)):
        where = field_path(other.annotations_path)
        why = (
            f"Invalid value: must specify '{_REQUIRED}' or '{_PREFERRED}' topology consistent with "
            f"'{where}' in group '{group}'"
        )
        path = (*member.annotations_path, KUEUE_POD_SET_GROUP)
        yield _topology_rejection(
            path, why, "request the same level in both", field=field_path(member.annotations_path)
        )
