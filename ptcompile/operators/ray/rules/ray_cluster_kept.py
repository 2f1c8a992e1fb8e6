"""A RayJob keeps its GPUs after it ends.

PTC153 ray-cluster-kept: note at run (wastes), by kuberay.
Needs: RayJob gpu

What: the cluster of a RayJob has GPUs, and shutdownAfterJobFinishes is not true, without a
deletionStrategy.

Why: the default is false, so that logs can be read in the dashboard. The cluster stays until
someone deletes the RayJob.

Example:

      apiVersion: ray.io/v1
      kind: RayJob
      metadata: {name: tune}
      spec:
        entrypoint: python train.py
    -   shutdownAfterJobFinishes: false  # <--
    +   shutdownAfterJobFinishes: true
        rayClusterSpec:
          headGroupSpec:
            rayStartParams: {}
            template:
              spec:
                containers:
                  - name: head
                    image: rayproject/ray:2.46.0-gpu
                    resources: {limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}

Fix: set shutdownAfterJobFinishes to true, with ttlSecondsAfterFinished for the time that you need
the dashboard.

Source: KubeRay 1.7, RayJob.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.ray.pods import has_autoscaler
from ptcompile.operators.ray.rules.reading import ray_groups


def check(subject: Subject) -> Findings:
    spec = subject.spec
    shuts_down = (
        spec.get("shutdownAfterJobFinishes") is True or spec.get("deletionStrategy") is not None
    )
    if subject.kind.name != "RayJob" or shuts_down:
        return

    is_fixed = not has_autoscaler(subject.manifest)
    gpus = sum(
        group.started_pods * group.devices
        for group in ray_groups(subject)
        if is_fixed or group.is_head
    )
    if gpus:
        path = (
            ("spec", "shutdownAfterJobFinishes")
            if "shutdownAfterJobFinishes" in spec
            else ("spec",)
        )
        yield found_at(
            path,
            f"after the job has ended, its cluster keeps {gpus} GPUs",
            "set shutdownAfterJobFinishes to true",
            on_key=True,
        )
