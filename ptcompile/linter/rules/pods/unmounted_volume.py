"""A volume is declared, and no container mounts it.

What: a volume of a pod whose name is in no container's volumeMounts or volumeDevices.

Why: the data or the shared memory that it was for is not where the processes look. A claim is attached, and may keep
the pod waiting, for nothing.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        volumes:
          - name: dataset  # <--
            persistentVolumeClaim: {claimName: imagenet}
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}
    +       volumeMounts: [{name: dataset, mountPath: /data}]

Fix: mount it in the container that needs it, or remove it.

Source: Kubernetes 1.36, volumes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_mappings, as_string
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject


def _check(subject: Subject) -> Iterator[Finding]:
    if subject.kind[0] == "trainer.kubeflow.org/v1alpha1":
        return  # a TrainJob may mount what its runtime declares
    for template in subject.templates:
        used = {
            as_string(mount.get("name"))
            for container in template.containers
            for key in ("volumeMounts", "volumeDevices")
            for mount in as_mappings(container.spec.get(key))
        }
        for name, (where, _) in template.volumes.items():
            if name and name not in used and template.containers:
                path = (*where, "name")
                yield found_at(
                    path,
                    f"no container mounts the volume {name}",
                    "mount it, or remove it",
                    Fix(f"remove the volume {name}", (Edit("remove", where),), safe=False),
                )


RULE = Rule("unmounted-volume", _check, severity="warning", stage="style", authority="ptcompile")
