"""Rules for training runtimes."""

from __future__ import annotations

from ptcompile.rules.rule import Rule
from ptcompile.rules.runtime import (
    gang_counts_initializers,
    gang_without_scheduler,
    idle_suspend,
    missing_framework_label,
    missing_trainer_step,
    rank_zero_not_node,
    runtime_parallelism,
    runtime_queue_misplaced,
    runtime_reserved_env,
    runtime_subdomain,
    runtime_ttl,
    runtime_zero_nodes,
)

RULES: tuple[Rule, ...] = (
    rank_zero_not_node.RULE,
    runtime_subdomain.RULE,
    missing_trainer_step.RULE,
    runtime_reserved_env.RULE,
    gang_without_scheduler.RULE,
    gang_counts_initializers.RULE,
    runtime_queue_misplaced.RULE,
    runtime_ttl.RULE,
    runtime_zero_nodes.RULE,
    runtime_parallelism.RULE,
    idle_suspend.RULE,
    missing_framework_label.RULE,
)
