"""A pod mounts a Cloud Storage bucket but does not request the sidecar that mounts it.

PTC319 missing-sidecar-annotation: warning at run (waits), by kubelet.
Needs: gcsfuse/@PersistentVolumeClaim

What: a volume uses the CSI driver gcsfuse.csi.storage.gke.io, directly or through a claim of the
same stream, and the pod template does not have the annotation gke-gcsfuse/volumes: "true".

Why: GKE's webhook gives the sidecar of Cloud Storage FUSE only to pods with the annotation. Without
the sidecar the mount fails ("failed to find the sidecar container in Pod spec"), and the pod stays
in ContainerCreating.

Example: pod.yaml with

      metadata:
        name: train
    +   annotations: {gke-gcsfuse/volumes: "true"}
      spec:
        volumes:
          - name: data
            csi:
              driver: gcsfuse.csi.storage.gke.io  # <--
              volumeAttributes: {bucketName: imagenet}
        containers:
          - name: pytorch
            volumeMounts: [{name: data, mountPath: /data}]

Fix: add the annotation to the pod template; on the Job or JobSet it has no effect.

Source: GoogleCloudPlatform/gcs-fuse-csi-driver, 2026, pkg/webhook/mutatingwebhook.go: Handle, and
pkg/csi_driver/node.go: NodePublishVolume.
"""

from __future__ import annotations

from ptcompile.hardware.csi_drivers import SIDECAR_ANNOTATIONS
from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.claims import driver_of_volume
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_DRIVER_PATH = ("csi", "driver")
_CLAIM_PATH = ("persistentVolumeClaim", "claimName")


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        # pods may bring the sidecar themselves, as the driver's guide allows
        names = [container.name for container in template.containers]
        for volume_path, volume in template.volumes.values():
            driver = driver_of_volume(subject, volume)
            annotation = SIDECAR_ANNOTATIONS.get(driver)
            if annotation is None or "gke-gcsfuse-sidecar" in names:
                continue
            written = nested_string(template.data, "metadata", "annotations", annotation)
            if written.lower() == "true":
                continue

            yield found_at(
                (*volume_path, *(_DRIVER_PATH if nested_map(volume, "csi") else _CLAIM_PATH)),
                f"{driver} mounts through a sidecar, which pods get only with the annotation "
                f'{annotation}: "true"',
                f'add the annotation {annotation}: "true" to the pod template',
                fix_setting(
                    f"add the annotation {annotation}",
                    (*template.path, "metadata", "annotations", annotation),
                    "true",
                    safe=True,
                ),
            )
