"""Rules for training runtimes."""

from __future__ import annotations

RULES: dict[str, str] = {
    "rank_zero_not_node": "",
    "runtime_subdomain": "subdomain",
    "missing_trainer_step": "",
    "runtime_reserved_env": "PET",
    "gang_without_scheduler": "podGroupPolicy",
    "gang_counts_initializers": "podGroupPolicy dependsOn",
    "runtime_queue_misplaced": "podGroupPolicy queue",
    "runtime_ttl": "ttlSecondsAfterFinished",
    "runtime_zero_nodes": "numNodes",
    "runtime_parallelism": "parallelism/completions",
    "idle_suspend": "suspend",
    "missing_framework_label": "",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
