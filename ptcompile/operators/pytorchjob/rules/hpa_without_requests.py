"""The autoscaler has no request to compare usage with.

PTC133 hpa-without-requests: warning at run (differs), by training-operator.
Needs: elasticPolicy metrics

What: elasticPolicy.metrics asks for a utilization of cpu or memory, and a container of the Workers
requests none of it.

Why: utilization is a share of the request. Without one the HorizontalPodAutoscaler reports
FailedGetResourceMetric and never scales.

Example: elastic_pytorchjob.yaml with

      elasticPolicy:
        metrics:
          - type: Resource  # <--
            resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}
      pytorchReplicaSpecs:
        Worker:
          template:
            spec:
              containers:
                - name: pytorch
    -             resources: {limits: {memory: 64Gi, nvidia.com/gpu: 1}}
    +             resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: request the resource in every container of the Workers.

Source: Kubernetes 1.36, HorizontalPodAutoscaler, resource metrics; training-operator 1.9, which
copies the metrics.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at

_METRICS = ("spec", "elasticPolicy", "metrics")


def check(subject: Subject) -> Findings:
    workers = [template for template in subject.templates if template.role == "Worker"]
    containers = [container for template in workers for container in template.running_containers]
    for i, metric in enumerate(nested_maps(subject.spec, "elasticPolicy", "metrics")):
        name = nested_string(metric, "resource", "name")
        is_resource = metric.get("type") == "Resource" and name
        is_share = nested_value(metric, "resource", "target", "type") == "Utilization"
        if not is_resource or not is_share:
            continue

        without_request = [
            item.name
            for item in containers
            if name not in item.requests and name not in item.limits
        ]
        if without_request:
            yield found_at(
                (*_METRICS, i),
                f"the container {without_request[0]} requests no {name}, so its utilization cannot "
                "be computed",
                f"request {name} in every container of the Workers",
            )
