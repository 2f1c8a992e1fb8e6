"""A volume is declared, but no container mounts it.

PTC304 unmounted-volume: warning at style, by ptcompile.
Needs: volumes

What: no container of the pod names the volume in volumeMounts or volumeDevices.

Why: the processes do not see the data or the shared memory that it was meant to provide. A claim is
attached for nothing, and may keep the pod waiting.

Example: pod.yaml with

      spec:
        volumes:
          - name: dataset  # <--
            persistentVolumeClaim: {claimName: imagenet}
        containers:
          - name: pytorch
    +       volumeMounts: [{name: dataset, mountPath: /data}]

Fix: mount it in the container that needs it, or remove it.

Source: Kubernetes 1.36, volumes.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at


def check(subject: Subject) -> Findings:
    if subject.kind.api_version == "trainer.kubeflow.org/v1alpha1":
        return  # a TrainJob may mount what its runtime declares

    for template in subject.templates:
        mounted = {
            nested_string(mount, "name")
            for container in template.containers
            for key in ("volumeMounts", "volumeDevices")
            for mount in nested_maps(container.spec, key)
        }
        for name, (volume_path, _) in template.volumes.items():
            if name and name not in mounted and template.containers:
                yield found_at(
                    (*volume_path, "name"),
                    f"no container mounts the volume {name}",
                    "mount it, or remove it",
                    fix_removing(f"remove the volume {name}", volume_path),
                )
