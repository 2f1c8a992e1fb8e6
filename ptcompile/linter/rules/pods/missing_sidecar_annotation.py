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

from ptcompile.diagnostics import Fix
from ptcompile.hardware.csi_drivers import SIDECAR_ANNOTATIONS
from ptcompile.kubernetes.unstructured import nested_map, nested_maps, nested_string
from ptcompile.linter.claims import driver_of_volume
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.world.templates import ManifestTemplate

_DRIVER_PATH = ("csi", "driver")
_CLAIM_PATH = ("persistentVolumeClaim", "claimName")


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for volume_path, volume in template.volumes.values():
            driver = driver_of_volume(subject, volume)
            annotation = SIDECAR_ANNOTATIONS.get(driver)
            if annotation is None or _has_sidecar(template):
                continue
            written = nested_string(template.data, "metadata", "annotations", annotation)
            if written.lower() == "true":
                continue

            yield found_at(
                (*volume_path, *(_DRIVER_PATH if nested_map(volume, "csi") else _CLAIM_PATH)),
                f"{driver} mounts through a sidecar, which pods get only with the annotation "
                f'{annotation}: "true"',
                f'add the annotation {annotation}: "true" to the pod template',
                _add_annotation(template, annotation),
            )


def _has_sidecar(template: ManifestTemplate) -> bool:
    """Return whether the pod brings the sidecar itself, as the driver's guide allows."""
    containers = (
        *nested_maps(template.spec, "containers"),
        *nested_maps(template.spec, "initContainers"),
    )
    return any(
        nested_string(container, "name") == "gke-gcsfuse-sidecar" for container in containers
    )


def _add_annotation(template: ManifestTemplate, annotation: str) -> Fix:
    path = (*template.path, "metadata", "annotations", annotation)
    return fix_setting(f"add the annotation {annotation}", path, "true", safe=True)
