"""The checks of single Pods and of groups of Pods.

Source: Kueue 0.19, pkg/controller/jobs/pod/pod_webhook.go.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path, Problems
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import Json
from ptcompile.operators.kueue.queues import GROUP, GROUP_SIZE, PREFIX, QUEUE
from ptcompile.operators.kueue.webhooks.kinds import MANAGED
from ptcompile.operators.kueue.webhooks.labels import (
    annotation_or_label,
    annotations_of,
    check_name,
    labels_of,
    prebuilt_of,
    refusal,
    rejection,
)

_RETRIABLE = f"{PREFIX}retriable-in-group"
PARENT = f"{PREFIX}pod-suspending-parent"
"""Annotation that Kueue adds to the pods of a queued Deployment, StatefulSet or LeaderWorkerSet."""


def group_of(pod: Json) -> tuple[Path, str]:
    """Return the path and the name of a Pod's group; the name is empty if it has none. The
    annotation wins over the label.
    """
    return annotation_or_label(pod, GROUP)


def check_pod(pod: Json) -> Problems:
    """Yield what the webhook rejects of a Pod at its creation, apart from labels and topology."""
    if not labels_of(pod).get(QUEUE) and PARENT not in annotations_of(pod):
        yield from check_managed(pod)  # Kueue sets the label of a queued Pod itself
    yield from check_group(pod)


def check_managed(pod: Json) -> Problems:
    """Check the label with which Kueue marks the Pods it manages."""
    if labels_of(pod).get(MANAGED, "true") != "true":
        yield rejection(
            ("metadata", "labels", MANAGED),
            "Forbidden: managed label value can only be 'true'",
            "remove it: Kueue sets it",
        )


def check_group(pod: Json) -> Problems:
    """Check that a group has a name and a size, or neither, and that it shares its name with a
    prebuilt Workload.
    """
    path, name = group_of(pod)
    count = annotations_of(pod).get(GROUP_SIZE)
    kind = "annotation" if "annotations" in path else "label"
    why = (
        f"Required value: both the '{GROUP_SIZE}' annotation and the '{GROUP}' {kind} should be set"
    )
    count_path = ("metadata", "annotations", GROUP_SIZE)
    if not name and count is not None:
        yield rejection(
            count_path, why, f"add the label {GROUP}", name="unpaired-pod-group", on_key=True
        )
    elif name and count is None:
        yield rejection(
            path, why, f"add the annotation {GROUP_SIZE}", name="unpaired-pod-group", on_key=True
        )
    elif count is not None:
        yield from _check_count(count, count_path)
    if name:
        yield from check_name(path, name, "write a name such as train-1")

    prebuilt_path, prebuilt = prebuilt_of(pod)
    if name and prebuilt and prebuilt != name:
        why = f'Invalid value: "{prebuilt}": prebuilt workload and pod group should be equal'
        yield rejection(prebuilt_path, why, f'write "{name}", the name of the group')


def _check_count(text: str, path: Path) -> Problems:
    count = atoi(text)
    help = "set it to the number of Pods in the group"
    if count is None:
        why = f'Invalid value: "{text}": must be a whole number'
        yield rejection(path, why, help, name="unpaired-pod-group")
    elif count <= 0:
        why = (
            f"incorrect annotation value '{GROUP_SIZE}={text}': group total count should be greater "
            "than zero"
        )
        yield rejection(path, f'Invalid value: "{text}": {why}', help, name="unpaired-pod-group")


def check_pod_update(old: Json, new: Json) -> Problems:
    """Yield what the webhook rejects of a change of a Pod's group."""
    yield from check_managed(new)
    yield from check_group(new)
    path, name = group_of(new)
    _, old_name = group_of(old)
    if old_name and name != old_name:
        why = f'Invalid value: "{name}": field is immutable'
        yield refusal(path, why, f'write "{old_name}", or delete the Pod first')
    if name and _is_unretriable(old) and not _is_unretriable(new):
        why = "Forbidden: unretriable pod group can't be converted to retriable"
        path = ("metadata", "annotations", _RETRIABLE)
        yield refusal(path, why, "keep false")


def _is_unretriable(pod: Json) -> bool:
    return annotations_of(pod).get(_RETRIABLE) == "false"
