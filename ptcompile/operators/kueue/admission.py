"""The validation of queued jobs by Kueue's webhooks, at creation and on updates.

Sources: pkg/controller/jobframework, the validation of labels and of topology requests; pkg/controller/jobs/pod, groups
of pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import as_mapping, nested_map, string_map
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import PREFIX, QUEUE, REQUESTS
from ptcompile.registry.model import GroupVersionKind, Update
from ptcompile.registry.queue_systems import KUEUE_SLICE, KUEUE_SLICE_SIZE
from ptcompile.registry.table import templates_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


PRIORITY: Final = f"{PREFIX}priority-class"
SECONDS: Final = f"{PREFIX}max-exec-time-seconds"
_POD_GROUP_NAME: Final = f"{PREFIX}pod-group-name"
_POD_GROUP_SIZE: Final = f"{PREFIX}pod-group-total-count"


def check_queued(manifest: Json, kind: GroupVersionKind) -> Iterator[Problem]:
    """Yield the rejections at creation that depend only on the object. `kind` is one that Kueue admits."""
    metadata = nested_map(manifest, "metadata")
    yield from _check_labels(string_map(metadata.get("labels")))
    if kind == ("v1", "Pod"):
        yield from _check_pod_group(string_map(metadata.get("labels")), string_map(metadata.get("annotations")))
    for template in templates_of(kind, manifest):
        yield from _check_topology(
            (*template.path, "metadata", "annotations"), as_mapping(template.template), template.replicas
        )


def _check_labels(labels: dict[str, str]) -> Iterator[Problem]:
    path: Path = ("metadata", "labels")
    name, seconds = labels.get(QUEUE), labels.get(SECONDS)
    if name and (why := names.why_not_dns_subdomain(name)):
        yield _rejection("refused-queue-label", (*path, QUEUE), f'"{name}": {why}', "write the name of the LocalQueue")
    if seconds is not None and (atoi(seconds) or 0) < 1:
        yield _rejection(
            "refused-queue-label", (*path, SECONDS), f'"{seconds}": must be a number above 0', "write seconds"
        )


def _check_pod_group(labels: dict[str, str], annotations: dict[str, str]) -> Iterator[Problem]:
    """Check that a group of plain Pods has both a name and a size, or neither."""
    total, label = annotations.get(_POD_GROUP_SIZE), ("metadata", "labels", _POD_GROUP_NAME)
    annotation = ("metadata", "annotations", _POD_GROUP_SIZE)
    if _POD_GROUP_NAME in labels and total is None:
        why, help = f"a group needs the annotation {_POD_GROUP_SIZE}", "set how many Pods the group has"
        yield _rejection("unpaired-pod-group", label, why, help, on_key=True)
    elif total is not None and _POD_GROUP_NAME not in labels:
        why, help = f"a size needs the label {_POD_GROUP_NAME}", "name the group in the label"
        yield _rejection("unpaired-pod-group", annotation, why, help, on_key=True)
    elif total is not None and (atoi(total) or 0) < 1:
        help = "set it to the number of Pods in the group"
        yield _rejection("unpaired-pod-group", annotation, f'"{total}": must be a number above 0', help, on_key=True)


def _check_topology(path: Path, template: Json, pods: int) -> Iterator[Problem]:
    """Check for at most one topology request per pod set, and for slices with both a topology and a size."""
    written = nested_map(template, "metadata", "annotations")
    if not written:
        return
    annotations = string_map(written)
    requests = [name for name in annotations if name in REQUESTS]
    for name in requests[1:]:
        why = f"must not be used with {requests[0].removeprefix(PREFIX)}: a set of pods has one topology request"
        yield _rejection("refused-topology-request", (*path, name), why, "keep one of them", on_key=True)
    if (KUEUE_SLICE in written) != (KUEUE_SLICE_SIZE in written):  # a value of another type is rejected separately
        name, missing = (
            (KUEUE_SLICE, KUEUE_SLICE_SIZE) if KUEUE_SLICE in annotations else (KUEUE_SLICE_SIZE, KUEUE_SLICE)
        )
        why = f"must not be without {missing.removeprefix(PREFIX)}"
        yield _rejection("refused-topology-request", (*path, name), why, f"add {missing}", on_key=True)
    elif KUEUE_SLICE_SIZE in annotations:
        size = atoi(annotations[KUEUE_SLICE_SIZE])
        if size is None or not 1 <= size <= pods:
            why = f'"{annotations[KUEUE_SLICE_SIZE]}": must be a number from 1 to {pods}, the pods of the set'
            help = "set it to the number of pods in a slice"
            yield _rejection("refused-topology-request", (*path, KUEUE_SLICE_SIZE), why, help, on_key=True)


def _rejection(name: str, path: Path, why: str, help: str, *, on_key: bool = False) -> Problem:
    message = f"{field_path(path)}: Invalid value: {why}"
    return Problem(name, path, message, help, authority="kueue", on_key=on_key)


SUSPENDS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("batch", "Job"): ("spec",),
    ("jobset.x-k8s.io", "JobSet"): ("spec",),
    ("kubeflow.org", "MPIJob"): ("spec", "runPolicy"),
    ("kubeflow.org", "PyTorchJob"): ("spec", "runPolicy"),
    ("ray.io", "RayCluster"): ("spec",),
    ("ray.io", "RayJob"): ("spec",),
    ("trainer.kubeflow.org", "TrainJob"): ("spec",),
}
"""Path of the mapping with `suspend`, by the kinds that Kueue manages."""


def check_update(update: Update, kind: tuple[str, str]) -> Iterator[Problem]:
    """Yield what the webhook rejects of a change of Kueue's labels on a job."""
    if kind not in SUSPENDS:
        return
    labels, old_labels = (nested_map(manifest, "metadata", "labels") for manifest in (update.new, update.old))
    is_suspended, was_suspended = (
        nested_map(manifest, *SUSPENDS[kind]).get("suspend") is True for manifest in (update.new, update.old)
    )
    if old_labels.get(QUEUE) and labels.get(QUEUE) != old_labels[QUEUE] and not is_suspended:
        yield _immutable_label(QUEUE, "suspend the job in the same apply, or delete it first")
    if old_labels.get(PRIORITY) != labels.get(PRIORITY):
        yield from _check_priority(old_labels.get(PRIORITY), labels.get(PRIORITY), is_suspended, update.versions)
    if old_labels.get(SECONDS) != labels.get(SECONDS) and not (was_suspended and is_suspended):
        yield _immutable_label(SECONDS, "suspend the job first")


def _check_priority(old_class: Any, new_class: Any, is_suspended: bool, versions: Versions) -> Iterator[Problem]:
    if versions.kueue < (0, 12) or (versions.kueue < (0, 15) and not is_suspended):
        yield _immutable_label(PRIORITY, "delete the job and apply again")
    elif versions.kueue >= (0, 15) and not new_class:
        yield _label_rejection(
            PRIORITY, "WorkloadPriorityClass cannot be removed from a workload", "name another class"
        )
    elif versions.kueue >= (0, 15) and not old_class and not is_suspended:
        why = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        yield _label_rejection(PRIORITY, why, "suspend the job in the same apply")


def _immutable_label(label: str, help: str) -> Problem:
    return _label_rejection(label, "field is immutable", help)


def _label_rejection(label: str, why: str, help: str) -> Problem:
    message = f"metadata.labels[{label}]: Invalid value: {why}"
    return Problem("webhook-refusal", ("metadata", "labels", label), message, help, authority="kueue")
