"""Rules for what Kueue reads from objects of any kind."""

from __future__ import annotations

RULES: dict[str, str] = {
    "kueue_label_as_annotation": "kueue annotations",
    "kueue_annotation_as_label": "kueue labels",
    "queue_label_in_template": "kueue labels",
    "topology_on_object": "kueue topology/slice/podset",
    "unsupported_by_kueue": "kueue volcano/elastic",
    "kueue_framework_off": "kueue labels",
    "queue_without_requests": "kueue labels",
    "never_fits_queue": "kueue labels @ClusterQueue",
    "exceeds_cohort": "kueue labels @ClusterQueue",
    "missing_queue": "kueue labels @LocalQueue/@WorkloadPriorityClass",
    "multikueue_without_queue": "kueue managedBy",
    "unsuspended_in_queue": "kueue suspend",
    "suspended_without_queue": "suspend",
    "incomplete_pod_group": "kueue count",
    "partly_admitted_world": "kueue parallelism",
    "unknown_kueue_label": "kueue labels/annotations",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
