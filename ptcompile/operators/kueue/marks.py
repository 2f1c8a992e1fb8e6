"""Kueue's labels and annotations, and where they belong (Kueue 0.19)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import string_map
from ptcompile.operators.common.queue_marks import KUEUE_QUEUE, KUEUE_SLICE, KUEUE_SLICE_SIZE, KUEUE_TOPOLOGY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.untyped import Json

PREFIX: Final = "kueue.x-k8s.io/"
QUEUE: Final = KUEUE_QUEUE

LABELS: Final = tuple(
    PREFIX + name for name in ("queue-name", "priority-class", "max-exec-time-seconds", "pod-group-name")
)
"""Labels of the object that is queued."""

REQUESTS: Final = tuple(KUEUE_TOPOLOGY.values())
"""Annotations of a pod template: one of them is its topology request."""

TOPOLOGY: Final = (*REQUESTS, KUEUE_SLICE, KUEUE_SLICE_SIZE)
"""All annotations of a pod template that say where its pods are placed."""

ANNOTATIONS: Final = (
    *TOPOLOGY,
    *(PREFIX + name for name in ("podset-group-name", "pod-group-total-count", "pod-group-fast-admission")),
    *(PREFIX + name for name in ("retriable-in-group", "job-min-parallelism", "elastic-job")),
)
"""Annotations, of the object or of its pod template."""


def queue(metadata: Json) -> str:
    """The queue that an object names, or an empty string."""
    return string_map(metadata.get("labels")).get(QUEUE, "")
