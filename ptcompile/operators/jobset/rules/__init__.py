"""Rules for JobSets."""

from __future__ import annotations

RULES: dict[str, str] = {
    "serial_ranks": "completions/parallelism",
    "rank_waits_for_complete": "dependsOn",
    "shared_jobset_service": "subdomain",
    "jobset_unready_hosts": "publishNotReadyAddresses readinessProbe",
    "lone_pod_restart": "",
    "restarts_without_max": "failurePolicy",
    "endless_jobset_restarts": "RestartJobSetAndIgnoreMaxRestarts",
    "shadowed_failure_rule": "failurePolicy",
    "dead_failure_rule": "onJobFailureReasons",
    "done_before_start": "successPolicy dependsOn",
    "success_of_any_job": "successPolicy Any",
    "idle_subdomain": "subdomain",
    "deprecated_startup_order": "InOrder",
    "overwritten_jobset_label": "sigs",
    "unusable_exclusive_topology": "sigs",
    "unread_exclusive_topology": "annotations",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
