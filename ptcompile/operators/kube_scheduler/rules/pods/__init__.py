"""Rules for pods that name a group of kube-scheduler."""

from __future__ import annotations

RULES: dict[str, str] = {
    "missing_pod_group": "schedulingGroup/workloadRef",
    "two_gang_schedulers": "schedulingGroup/workloadRef",
    "gang_in_order": "JobSet schedulingGroup startupPolicyOrder/dependsOn",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
