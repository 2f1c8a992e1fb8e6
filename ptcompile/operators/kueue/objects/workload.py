"""The webhook of Workloads, which Kueue makes of queued jobs and users make as prebuilt ones.

Source: Kueue 0.19, pkg/webhooks/workload_webhook.go and pkg/util/webhook. Its checks of `status`
are left out: the server drops the status of what a user applies.
"""

from __future__ import annotations

from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.validation.metadata import check_annotations, check_labels
from ptcompile.diagnostics.field_errors import FieldErrors, immutable, indexed_mappings, key_path
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    as_mappings,
    nested_int,
    nested_map,
    nested_value,
)
from ptcompile.operators.kueue.gates import check_gates, check_gates_update
from ptcompile.operators.kueue.objects.quotas import parse_amount
from ptcompile.operators.kueue.queues import ELASTIC, has_condition, is_elastic
from ptcompile.operators.kueue.webhooks.pod_sets import max_pod_sets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ptcompile.diagnostics import Path
    from ptcompile.kubernetes.requests import Update
    from ptcompile.kubernetes.versions import Versions


_POD_SETS: Path = ("spec", "podSets")


def check_workload(manifest: Json, versions: Versions, problems: FieldErrors) -> None:
    """Check a Workload at creation and on updates."""
    pod_sets = nested_value(manifest, "spec", "podSets")
    counted = 0
    for index, pod_set in indexed_mappings(pod_sets):
        _check_pod_set(pod_set, (*_POD_SETS, index), problems)
        counted += pod_set.get("minCount") is not None
    if counted > 1:
        problems.invalid(
            _POD_SETS, counted, "at most one podSet can use minCount", "keep one minCount"
        )
    elif counted and is_elastic(manifest):
        problems.invalid(
            _POD_SETS,
            counted,
            "partial admission and elastic job cannot be used together",
            f"remove minCount, or the annotation {ELASTIC}",
        )

    limit = max_pod_sets(versions)
    if isinstance(pod_sets, list) and len(pod_sets) > limit:
        help = f"keep at most {limit}, or split the job"
        problems.too_many(_POD_SETS, len(pod_sets), limit, help)
    if versions.kueue >= (0, 19):
        check_gates(manifest, problems)


def _check_pod_set(pod_set: Json, path: Path, problems: FieldErrors) -> None:
    template = nested_map(pod_set, "template")
    template_path = (*path, "template")
    metadata = nested_map(template, "metadata")
    metadata_path = (*template_path, "metadata")
    check_labels(metadata.get("labels"), (*metadata_path, "labels"), problems)
    check_annotations(metadata.get("annotations"), (*metadata_path, "annotations"), problems)
    for resources, resources_path in _resources_of(
        nested_map(template, "spec"), (*template_path, "spec")
    ):
        for field in ("requests", "limits"):
            _check_amounts(resources.get(field), (*resources_path, field), problems)

    _check_slices(nested_map(pod_set, "topologyRequest"), (*path, "topologyRequest"), problems)


def _resources_of(spec: Json, path: Path) -> Iterator[tuple[Json, Path]]:
    """Yield the resources of a pod and of its containers, with their paths."""
    yield nested_map(spec, "resources"), (*path, "resources")
    for kind in ("initContainers", "containers"):
        for index, container in indexed_mappings(spec.get(kind)):
            yield nested_map(container, "resources"), (*path, kind, index, "resources")


def _check_amounts(amounts: Any, path: Path, problems: FieldErrors) -> None:
    for name, value in as_mapping(amounts).items():
        amount_path = (*path, name)
        if name == "pods":
            problems.invalid(
                amount_path,
                name,
                "the key is reserved for internal kueue use",
                "remove it: Kueue counts the pods itself",
                field=key_path(amount_path),
            )

        amount = parse_amount(value, amount_path, problems)
        if amount is not None and amount.nano < 0:
            problems.invalid(
                amount_path,
                str(amount),
                "must be greater than or equal to 0",
                "use 0 or more",
                field=key_path(amount_path),
            )


def _check_slices(request: Json, path: Path, problems: FieldErrors) -> None:
    """Check that a slice has both a topology and a size."""
    topology = request.get("podSetSliceRequiredTopology")
    size = request.get("podSetSliceSize")
    size_path = (*path, "podSetSliceSize")
    if topology is None and size is not None:
        why = "may not be set when podSetSliceRequiredTopology is not specified"
        problems.forbidden(size_path, why, "set podSetSliceRequiredTopology, or remove the size")
    elif topology is not None and size is None:
        why = "must be set when podSetSliceRequiredTopology is specified"
        problems.required(size_path, why, "set how many pods a slice has")
    elif isinstance(size, int) and size <= 0:
        problems.invalid(size_path, size, "must be greater than 0", "set how many pods a slice has")


def check_workload_update(update: Update, problems: FieldErrors) -> None:
    """Check what may not change: the pod sets of a Workload with reserved quota, and its gates.

    The last pod set stays: the CRD rejects an empty list, and the webhook rejects the absent list
    that a server-side apply leaves.
    """
    before, after = map(as_mappings, update.values("spec", "podSets"))
    if before and not after:
        problems.invalid(
            _POD_SETS, 0, "should have at least 1 items", "keep a pod set, or delete the Workload"
        )
    elif has_condition(update.old, "QuotaReserved"):
        _check_pod_sets_update(update, before, after, problems)
    if update.versions.kueue >= (0, 19):
        check_gates_update(update.old, update.new, problems)


def _check_pod_sets_update(
    update: Update, before: Sequence[Json], after: Sequence[Json], problems: FieldErrors
) -> None:
    help = "wait for the Workload to lose its quota, or delete it"
    if len(before) != len(after):
        problems.append(immutable(_POD_SETS, None, help))
        return

    changed = set[int]()
    for path in update.under(*map(str, _POD_SETS)):
        index = _index(path)
        if index >= len(after):
            continue
        # the count of an elastic job may be lowered
        old_count, new_count = (
            nested_int(sets[index], "count", default=1) for sets in (before, after)
        )
        if path[3:] != ("count",) or new_count >= old_count:
            changed.add(index)

    problems += [immutable((*_POD_SETS, index), None, help) for index in sorted(changed)]


def _index(path: tuple[str, ...]) -> int:
    """Return the index of the pod set in a changed path, such as 0 of `spec podSets [0] name`."""
    position = str(path[len(_POD_SETS)]).strip("[]") if len(path) > len(_POD_SETS) else ""
    return int(position) if is_short_number(position) else 0
