"""Rules for JobSets."""

from __future__ import annotations

from ptcompile.rules.jobset import (
    dead_failure_rule,
    deprecated_startup_order,
    done_before_start,
    endless_jobset_restarts,
    idle_subdomain,
    jobset_unready_hosts,
    lone_pod_restart,
    overwritten_jobset_label,
    rank_waits_for_complete,
    restarts_without_max,
    serial_ranks,
    shadowed_failure_rule,
    shared_jobset_service,
    success_of_any_job,
)
from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    serial_ranks.RULE,
    rank_waits_for_complete.RULE,
    shared_jobset_service.RULE,
    jobset_unready_hosts.RULE,
    lone_pod_restart.RULE,
    restarts_without_max.RULE,
    endless_jobset_restarts.RULE,
    shadowed_failure_rule.RULE,
    dead_failure_rule.RULE,
    done_before_start.RULE,
    success_of_any_job.RULE,
    idle_subdomain.RULE,
    deprecated_startup_order.RULE,
    overwritten_jobset_label.RULE,
)
