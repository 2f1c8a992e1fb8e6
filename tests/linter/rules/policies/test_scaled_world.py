"""Autoscalers, queues and claims against the nodes and processes that a launcher takes."""

from __future__ import annotations

import pytest

import ptcompile

SCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: train}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: train}
  minReplicas: %s
  maxReplicas: %s
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  selector: {matchLabels: {app: t}}
  replicas: 2
  template:
    metadata: {labels: {app: t}}
    spec: {containers: [{name: t, image: "a:1", command: [torchrun, --nnodes=%s, --rdzv-endpoint=e.com, t.py]}]}
"""
GROUP = """\
apiVersion: v1
kind: Pod
metadata:
  name: %s
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}
  annotations: {kueue.x-k8s.io/pod-group-total-count: "%s"}
spec: {restartPolicy: Never, containers: [{name: t, image: "a:1", resources: {requests: {cpu: 1}}}]}
---
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: four}
spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: %s, count: 4}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  resourceClaims: [{name: g, resourceClaimTemplateName: four}]
  containers:
    - {name: t, image: "a:1", command: [torchrun, --nproc-per-node=%s, t.py], resources: {claims: [{name: g}]}}
"""


def names(text: str) -> set[str]:
    return {diagnostic.name for diagnostic in ptcompile.lint(text).diagnostics}


@pytest.mark.parametrize(
    ("values", "is_reported"),
    [((2, 8, 2), True), ((1, 2, 2), True), ((2, 2, 2), False), ((2, 8, "2:8"), False)],
)
def test_scaled_worlds_are_reported(values: tuple[object, ...], is_reported: bool) -> None:
    assert ("scaled-world" in names(SCALER % values)) == is_reported


@pytest.mark.parametrize(("total", "is_reported"), [(3, True), (2, False), (1, True)])
def test_incomplete_pod_groups_are_reported(total: int, is_reported: bool) -> None:
    assert (
        "incomplete-pod-group" in names(GROUP % ("a", total) + GROUP % ("b", total))
    ) == is_reported
    assert "incomplete-pod-group" not in names(GROUP % ("a", 3))  # the others may be in other files


@pytest.mark.parametrize(
    ("device_class", "processes", "name"),
    [
        ("gpu.nvidia.com", 8, "more-processes-than-gpus"),
        ("gpu.nvidia.com", 4, ""),
        ("mig.nvidia.com", 8, ""),
    ],
)
def test_claims_are_compared_with_processes(device_class: str, processes: int, name: str) -> None:
    assert names(CLAIM % (device_class, processes)) & {"more-processes-than-gpus"} == (
        {name} if name else set()
    )
