"""The autoscaler has no range to scale in.

PTC134 hpa-without-range: warning at run (differs), by training-operator.
Needs: elasticPolicy metrics

What: elasticPolicy.metrics is set, but minReplicas equals maxReplicas.

Why: the operator creates a HorizontalPodAutoscaler that can only choose the current number.

Example: elastic_pytorchjob.yaml with

      elasticPolicy:
    -   minReplicas: 4
    +   minReplicas: 2
        maxReplicas: 4
        metrics:  # <--
          - type: Resource
            resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}
      pytorchReplicaSpecs:
        Worker:
          replicas: 4

Fix: give a range by minReplicas and maxReplicas, or remove the metrics.

Source: training-operator 1.9, ReconcileHPA and the defaults of elasticPolicy: one bound is copied
to the other.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.kubernetes.unstructured import nested_int, nested_map
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.pytorchjob.pods import elastic_range

_METRICS = ("spec", "elasticPolicy", "metrics")


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "elasticPolicy")
    workers = nested_int(subject.spec, "pytorchReplicaSpecs", "Worker", "replicas", default=1)
    bounds = (policy.get("minReplicas"), policy.get("maxReplicas"))
    if any(bound is not None and not isinstance(bound, int) for bound in bounds):
        return  # rejected, or a placeholder

    min_replicas, max_replicas = elastic_range(policy, workers)
    if policy.get("metrics") and min_replicas == max_replicas:
        yield found_at(
            _METRICS,
            f"the job has {pluralize(min_replicas, 'replica')} at least and at most, so there is "
            "nothing to scale",
            "give a range by minReplicas and maxReplicas, or remove the metrics",
            fix_removing("remove metrics", _METRICS),
            on_key=True,
        )
