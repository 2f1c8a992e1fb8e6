"""Rules for what Kueue reads of an object, whatever its kind."""

from __future__ import annotations

from ptcompile.rules.kueue import (
    kueue_annotation_as_label,
    kueue_label_as_annotation,
    multikueue_without_queue,
    queue_label_in_template,
    queue_without_requests,
    refused_queue_label,
    refused_topology_request,
    topology_on_object,
    unpaired_pod_group,
    unsupported_by_kueue,
    unsuspended_in_queue,
)
from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    kueue_label_as_annotation.RULE,
    kueue_annotation_as_label.RULE,
    queue_label_in_template.RULE,
    topology_on_object.RULE,
    refused_topology_request.RULE,
    unsupported_by_kueue.RULE,
    unpaired_pod_group.RULE,
    queue_without_requests.RULE,
    multikueue_without_queue.RULE,
    refused_queue_label.RULE,
    unsuspended_in_queue.RULE,
)
