"""Rules for PodGroups and Workloads of kube-scheduler."""

from __future__ import annotations

RULES: dict[str, str] = {
    "gang_above_pods": "minCount",
    "gang_below_pods": "minCount",
    "pod_group_priority": "PodGroup",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
