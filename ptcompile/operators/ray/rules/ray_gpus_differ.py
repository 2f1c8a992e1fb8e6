"""Ray offers more or fewer GPUs than its container has.

PTC150 ray-gpus-differ: warning at run (waits), by kuberay.
Needs: GPUs/gpus/gpu rayStartParams/GPU

What: num-gpus in rayStartParams differs from the GPUs in the limits of the Ray container.

Why: Ray schedules by this number and does not count devices. With fewer, GPUs are idle, and tasks
that need one wait forever; with more, two tasks share a device, or a task gets one that does not
exist.

Example:

      apiVersion: ray.io/v1
      kind: RayCluster
      metadata: {name: tune}
      spec:
        headGroupSpec:
          rayStartParams: {}
          template:
            spec:
              containers: [{name: head, image: "rayproject/ray:2.46.0", resources: {limits: {cpu: 4, memory: 16Gi}}}]
        workerGroupSpecs:
          - groupName: gpu
            replicas: 2
            minReplicas: 2
            maxReplicas: 2
    -       rayStartParams: {num-gpus: "0"}  # <--
    +       rayStartParams: {}
            template:
              spec:
                containers:
                  - name: worker
                    image: rayproject/ray:2.46.0-gpu
                    resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}

Fix: remove num-gpus: KubeRay passes the number in the limits.

Source: KubeRay 1.7, ray-operator/controllers/ray/common/pod.go; Ray 2.46, ray start --num-gpus.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.ray.rules.reading import hides_devices, ray_groups


def check(subject: Subject) -> Findings:
    for group in ray_groups(subject):
        is_number = group.parameters.get("num-gpus", "").strip().isdigit()
        if not is_number or group.gpus == group.devices or hides_devices(group):
            continue

        path = (*group.path, "rayStartParams", "num-gpus")
        limits = f"the limits of its container have {group.devices or 'none'}"
        yield found_at(
            path,
            f"Ray offers {group.gpus} GPUs in each pod of {group.name}, but {limits}",
            "remove it: KubeRay passes the number in the limits"
            if group.devices
            else "request the GPUs in the limits",
            fix_removing("remove num-gpus", path) if group.devices else None,
        )
