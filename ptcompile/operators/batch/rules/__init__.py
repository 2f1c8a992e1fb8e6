"""Rules for Jobs of batch/v1."""

from __future__ import annotations

RULES: dict[str, str] = {
    "subdomain_differs": "@Service Indexed",
    "endpoint_is_every_pod": "@Service",
    "too_little_parallelism": "completions",
    "index_without_indexed_job": "completion index",
    "job_restarts_alone": "completions",
    "ttl_zero": "ttlSecondsAfterFinished",
    "idle_parallelism": "completions parallelism",
    "job_without_pods": "completions/parallelism",
}
"""Rule modules in evaluation order, each with its trigger words (see `words`)."""
