"""KubeRay starts another number of workers than replicas says.

PTC247 ray-replicas-out-of-range: warning at run (differs), by kuberay.
Needs: replicas minReplicas/maxReplicas

What: replicas of a worker group is below minReplicas or above maxReplicas.

Why: the operator does not reject it: it starts minReplicas or maxReplicas pods instead.

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
          - groupName: cpu
    -       replicas: 4  # <--
    +       replicas: 2
            minReplicas: 1
            maxReplicas: 2
            rayStartParams: {}
            template:
              spec:
                containers: [{name: ray, image: "rayproject/ray:2.46.0", resources: {limits: {cpu: 8, memory: 64Gi}}}]

Fix: write a number between minReplicas and maxReplicas.

Source: KubeRay 1.7, ray-operator/controllers/ray/utils/util.go, GetWorkerGroupDesiredReplicas.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.ray.rules.reading import ray_groups


def check(subject: Subject) -> Findings:
    for group in ray_groups(subject):
        replicas, low, high = (
            group.spec.get(key) for key in ("replicas", "minReplicas", "maxReplicas")
        )
        if group.is_head or not isinstance(replicas, int) or replicas == group.replicas:
            continue
        if isinstance(low, int) and isinstance(high, int) and low > high:
            continue  # the controller rejects it

        path = (*group.path, "replicas")
        bound = f"minReplicas is {low}" if group.replicas > replicas else f"maxReplicas is {high}"
        yield found_at(
            path,
            f"KubeRay starts {group.replicas} instead of {replicas}, because {bound}",
            "write a number between minReplicas and maxReplicas",
            fix_setting(f"set replicas to {group.replicas}", path, group.replicas),
        )
