"""What Kueue's webhooks reject of a queued job, at creation and on updates.

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
_GROUP: Final = f"{PREFIX}pod-group-name"
_TOTAL: Final = f"{PREFIX}pod-group-total-count"


def check(manifest: Json, kind: GroupVersionKind) -> Iterator[Problem]:
    """Every condition at creation that depends on the object alone. `kind` is one that Kueue admits."""
    metadata = nested_map(manifest, "metadata")
    yield from _labels(string_map(metadata.get("labels")))
    if kind == ("v1", "Pod"):
        yield from _group(string_map(metadata.get("labels")), string_map(metadata.get("annotations")))
    for one in templates_of(kind, manifest):
        yield from _topology((*one.path, "metadata", "annotations"), as_mapping(one.template), one.replicas)


def _labels(labels: dict[str, str]) -> Iterator[Problem]:
    path: Path = ("metadata", "labels")
    name, seconds = labels.get(QUEUE), labels.get(SECONDS)
    if name and (why := names.why_not_dns_subdomain(name)):
        yield _refused("refused-queue-label", (*path, QUEUE), f'"{name}": {why}', "write the name of the LocalQueue")
    if seconds is not None and (atoi(seconds) or 0) < 1:
        yield _refused(
            "refused-queue-label", (*path, SECONDS), f'"{seconds}": must be a number above 0', "write seconds"
        )


def _group(labels: dict[str, str], annotations: dict[str, str]) -> Iterator[Problem]:
    """A group of plain Pods has a name and a size, or neither."""
    total, label = annotations.get(_TOTAL), ("metadata", "labels", _GROUP)
    annotation = ("metadata", "annotations", _TOTAL)
    if _GROUP in labels and total is None:
        why, help = f"a group needs the annotation {_TOTAL}", "set how many Pods the group has"
        yield _refused("unpaired-pod-group", label, why, help, on_key=True)
    elif total is not None and _GROUP not in labels:
        why, help = f"a size needs the label {_GROUP}", "name the group in the label"
        yield _refused("unpaired-pod-group", annotation, why, help, on_key=True)
    elif total is not None and (atoi(total) or 0) < 1:
        help = "write how many Pods the group has"
        yield _refused("unpaired-pod-group", annotation, f'"{total}": must be a number above 0', help, on_key=True)


def _topology(path: Path, template: Json, pods: int) -> Iterator[Problem]:
    """One topology request for the pods of a set; a topology and a size for their slices."""
    written = nested_map(template, "metadata", "annotations")
    if not written:
        return
    annotations = string_map(written)
    asked = [name for name in annotations if name in REQUESTS]
    for name in asked[1:]:
        why = f"must not be used with {asked[0].removeprefix(PREFIX)}: a set of pods has one topology request"
        yield _refused("refused-topology-request", (*path, name), why, "keep one of them", on_key=True)
    if (KUEUE_SLICE in written) != (KUEUE_SLICE_SIZE in written):  # a value of another type is rejected by itself
        name, other = (KUEUE_SLICE, KUEUE_SLICE_SIZE) if KUEUE_SLICE in annotations else (KUEUE_SLICE_SIZE, KUEUE_SLICE)
        why = f"must not be without {other.removeprefix(PREFIX)}"
        yield _refused("refused-topology-request", (*path, name), why, f"add {other}", on_key=True)
    elif KUEUE_SLICE_SIZE in annotations:
        size = atoi(annotations[KUEUE_SLICE_SIZE])
        if size is None or not 1 <= size <= pods:
            why = f'"{annotations[KUEUE_SLICE_SIZE]}": must be a number from 1 to {pods}, the pods of the set'
            help = "write how many pods a slice has"
            yield _refused("refused-topology-request", (*path, KUEUE_SLICE_SIZE), why, help, on_key=True)


def _refused(name: str, path: Path, why: str, help: str, *, on_key: bool = False) -> Problem:
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
"""Where the kinds that Kueue manages have `suspend`."""


def kueue_update(update: Update, kind: tuple[str, str]) -> Iterator[Problem]:
    """What the webhook answers to a change of Kueue's labels on a job."""
    if kind not in SUSPENDS:
        return
    labels, were = (nested_map(one, "metadata", "labels") for one in (update.new, update.old))
    after, before = (nested_map(one, *SUSPENDS[kind]).get("suspend") is True for one in (update.new, update.old))
    if were.get(QUEUE) and labels.get(QUEUE) != were[QUEUE] and not after:
        yield _fixed(QUEUE, "suspend the job in the same apply, or delete it first")
    if were.get(PRIORITY) != labels.get(PRIORITY):
        yield from _priority(were.get(PRIORITY), labels.get(PRIORITY), after, update.versions)
    if were.get(SECONDS) != labels.get(SECONDS) and not (before and after):
        yield _fixed(SECONDS, "suspend the job first")


def _priority(was: Any, wanted: Any, suspended: bool, versions: Versions) -> Iterator[Problem]:
    if versions.kueue < (0, 12) or (versions.kueue < (0, 15) and not suspended):
        yield _fixed(PRIORITY, "delete the job and apply again")
    elif versions.kueue >= (0, 15) and not wanted:
        yield _told(PRIORITY, "WorkloadPriorityClass cannot be removed from a workload", "name another class")
    elif versions.kueue >= (0, 15) and not was and not suspended:
        why = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        yield _told(PRIORITY, why, "suspend the job in the same apply")


def _fixed(label: str, help: str) -> Problem:
    return _told(label, "field is immutable", help)


def _told(label: str, why: str, help: str) -> Problem:
    message = f"metadata.labels[{label}]: Invalid value: {why}"
    return Problem("webhook-refusal", ("metadata", "labels", label), message, help, authority="kueue")
