"""How the workers of this Ray cluster meet is not checked.

PTC492 ray-workers-unchecked: note at run (unchecked), by ptcompile.
Needs: workerGroupSpecs gpu

What: a Ray cluster has workers with GPUs.

Why: a note, once per object: Ray connects the workers, places the processes and sets their ranks
and addresses when the entrypoint runs. Lint checks the pods, their resources and what KubeRay
rejects; it does not read the script.

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
    -     - groupName: gpu  # <--
    +     - groupName: cpu
            replicas: 2
            minReplicas: 2
            maxReplicas: 2
            rayStartParams: {}
            template:
              spec:
                containers:
                  - name: worker
                    image: rayproject/ray:2.46.0-gpu
    -               resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 4}}
    +               resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: compare the number of workers in the script with the GPUs of the groups, and ignore the note.

Source: ptcompile, its simulation; Ray 2.46, ray.train.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.ray.rules.reading import ray_groups


def check(subject: Subject) -> Findings:
    for group in ray_groups(subject):
        if not group.is_head and group.devices:
            path = (*group.path, "groupName") if group.spec.get("groupName") else group.path
            yield found_at(
                path,
                "Ray starts the processes itself: how Ray workers meet is not checked",
                "compare the number of workers in the script with the GPUs of the groups",
            )
            return
