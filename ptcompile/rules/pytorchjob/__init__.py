"""Rules for PyTorchJobs: what training-operator takes and does otherwise than it reads."""

from __future__ import annotations

from ptcompile.rules.pytorchjob import (
    elastic_range_reversed,
    elastic_replicas_out_of_range,
    elastic_with_master,
    endless_restart_policy,
    etcd_on_a_worker,
    hpa_without_range,
    hpa_without_requests,
    ignored_restart_policy,
    ignored_scheduling_policy,
    min_available_above_replicas,
    min_available_below_replicas,
    past_deadline,
    restarts_for_ever,
    roles_with_different_images,
    uncounted_restarts,
    unknown_clean_pod_policy,
    workers_without_rank,
    workers_without_rendezvous,
    world_size_counts_processes,
)
from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    workers_without_rendezvous.RULE,
    workers_without_rank.RULE,
    world_size_counts_processes.RULE,
    elastic_with_master.RULE,
    elastic_range_reversed.RULE,
    elastic_replicas_out_of_range.RULE,
    etcd_on_a_worker.RULE,
    hpa_without_requests.RULE,
    hpa_without_range.RULE,
    min_available_above_replicas.RULE,
    min_available_below_replicas.RULE,
    endless_restart_policy.RULE,
    restarts_for_ever.RULE,
    uncounted_restarts.RULE,
    ignored_restart_policy.RULE,
    past_deadline.RULE,
    unknown_clean_pod_policy.RULE,
    ignored_scheduling_policy.RULE,
    roles_with_different_images.RULE,
)
