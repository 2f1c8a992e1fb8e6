"""Rules for Volcano Jobs."""

from __future__ import annotations

from ptcompile.linter.needs import VENDORS

RULES: dict[str, str] = {
    "pytorch_plugin_without_master": "pytorch",
    "dropped_plugin_argument": "plugins",
    "task_without_rank": "pytorch",
    "idle_wait_master": "pytorch wait",
    "shared_hostname": "hostname",
    "unserved_subdomain": "subdomain",
    "unready_hosts": "readinessProbe",
    "too_long_hosts": "svc",
    "blocked_scraping": "scrape",
    "partial_gang": "minAvailable",
    "idle_task_minimum": "minAvailable",
    "task_without_replicas": "",
    "min_available_zero": "minAvailable",
    "dependency_deadlock": "dependsOn",
    "foreign_scheduler": "schedulerName",
    "gang_on_default_scheduler": "schedulerName",
    "misplaced_queue": "queue",
    "gang_exceeds_queue": "@Queue",
    "missing_hosts_file": "etc",
    "mpirun_without_ssh": "mpirun/mpiexec/horovodrun",
    "unknown_iteration": "iteration",
    "two_disruption_budgets": "jdb",
    "soft_topology_limit": "soft",
    "gpu_missing_in_min_resources": VENDORS,
    "claim_mounted_twice": "volumeClaimName",
    "task_never_completes": "",
    "min_success_above_pods": "minSuccess",
    "failed_pod_stays": "",
    "dead_pod_failed_policy": "policies",
    "dead_task_failed_policy": "TaskFailed",
    "pending_policy_without_timeout": "PodPending",
    "max_retry_zero": "maxRetry",
    "restart_partition_without_partitions": "RestartPartition",
    "completed_by_worker": "TaskCompleted",
    "exit_code_without_action": "exitCode",
    "idle_max_retry": "maxRetry",
    "aborted_job_kept": "AbortJob",
    "overwritten_volcano_label": "labels/annotations",
    "idle_running_estimate": "runningEstimate",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
