"""Rules for PyTorchJobs: manifests that training-operator accepts but treats unexpectedly."""

from __future__ import annotations

from ptcompile.linter.needs import TORCHRUN, VENDORS

RULES: dict[str, str] = {
    "workers_without_rendezvous": TORCHRUN,
    "workers_without_rank": "",
    "world_size_counts_processes": "nprocPerNode Master",
    "elastic_with_master": "elasticPolicy Master Worker",
    "elastic_range_reversed": "elasticPolicy",
    "elastic_replicas_out_of_range": "elasticPolicy",
    "etcd_on_a_worker": "elasticPolicy etcd",
    "hpa_without_requests": "elasticPolicy metrics",
    "hpa_without_range": "elasticPolicy metrics",
    "min_available_above_replicas": "minAvailable",
    "min_available_below_replicas": "minAvailable",
    "endless_restart_policy": "Always",
    "restarts_for_ever": VENDORS,
    "uncounted_restarts": "backoffLimit ExitCode",
    "ignored_restart_policy": "restartPolicy",
    "past_deadline": "activeDeadlineSeconds",
    "unknown_clean_pod_policy": "cleanPodPolicy",
    "ignored_scheduling_policy": "schedulingPolicy",
    "roles_with_different_images": "image",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
