"""Rules for Jobs of batch/v1."""

from __future__ import annotations

from ptcompile.rules.jobs import (
    endpoint_is_every_pod,
    idle_parallelism,
    index_without_indexed_job,
    job_restarts_alone,
    job_without_pods,
    subdomain_differs,
    too_little_parallelism,
    ttl_zero,
)
from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    subdomain_differs.RULE,
    endpoint_is_every_pod.RULE,
    too_little_parallelism.RULE,
    index_without_indexed_job.RULE,
    job_restarts_alone.RULE,
    ttl_zero.RULE,
    idle_parallelism.RULE,
    job_without_pods.RULE,
)
