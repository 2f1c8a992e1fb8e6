"""A pod mounts a Cloud Storage bucket and does not ask for the sidecar that mounts it.

What: a volume is of the CSI driver gcsfuse.csi.storage.gke.io, by itself or through a claim of the same stream, and the
pod template does not have the annotation gke-gcsfuse/volumes: "true".

Why: GKE's webhook gives the sidecar of Cloud Storage FUSE only to pods with the annotation. Without the sidecar the
mount fails ("failed to find the sidecar container in Pod spec"), and the pod stays in ContainerCreating.

Example:

      apiVersion: v1
      kind: Pod
      metadata:
        name: train
    +   annotations: {gke-gcsfuse/volumes: "true"}
      spec:
        restartPolicy: Never
        volumes:
          - name: data
            csi:
              driver: gcsfuse.csi.storage.gke.io  # <--
              volumeAttributes: {bucketName: imagenet}
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}
            volumeMounts: [{name: data, mountPath: /data}]

Fix: add the annotation to the pod template; on the Job or JobSet it has no effect.

Source: GoogleCloudPlatform/gcs-fuse-csi-driver, 2026, pkg/webhook/mutatingwebhook.go: Handle, and
pkg/csi_driver/node.go: NodePublishVolume.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.hardware.csi_drivers import SIDECAR_ANNOTATIONS
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.templates import ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

_CLAIM = ("v1", "PersistentVolumeClaim")
_VOLUME = ("v1", "PersistentVolume")
_CLASS = ("storage.k8s.io/v1", "StorageClass")


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        for where, volume in template.volumes.values():
            path, driver = _driver(subject, (*where,), volume)
            annotation = SIDECAR_ANNOTATIONS.get(driver)
            if annotation is None or _asks(template, annotation) or _has_sidecar(template):
                continue
            yield found_at(
                path,
                f'{driver} mounts by a sidecar, which pods get only with the annotation {annotation}: "true"',
                f'add the annotation {annotation}: "true" to the pod template',
                _fix(template, annotation),
            )


def _driver(subject: Subject, where: Path, volume: Json) -> tuple[Path, str]:
    """Return the CSI driver of a volume, as far as the stream says it, and the path that names it."""
    inline = as_string(nested_map(volume, "csi").get("driver"))
    if inline:
        return (*where, "csi", "driver"), inline
    name = as_string(nested_map(volume, "persistentVolumeClaim").get("claimName"))
    claims = subject.neighbours.named(_CLAIM, name)[-1:] if name else []
    drivers = [driver for claim in claims for driver in _of_claim(subject, claim)]
    return (*where, "persistentVolumeClaim", "claimName"), next(iter(drivers), "")


def _of_claim(subject: Subject, claim: Json) -> Iterator[str]:
    """Yield the driver of the volume that a claim names or that names it, and the provisioner of its class."""
    spec, name = nested_map(claim, "spec"), as_string(nested_map(claim, "metadata").get("name"))
    for one in subject.neighbours.of(_VOLUME):
        bound = as_string(nested_map(one, "spec", "claimRef").get("name")) == name
        if bound or as_string(nested_map(one, "metadata").get("name")) == as_string(spec.get("volumeName")):
            yield as_string(nested_map(one, "spec", "csi").get("driver"))
    for one in subject.neighbours.of(_CLASS):
        if as_string(nested_map(one, "metadata").get("name")) == as_string(spec.get("storageClassName")):
            yield as_string(one.get("provisioner"))


def _asks(template: ManifestTemplate, annotation: str) -> bool:
    return as_string(nested_map(template.data, "metadata", "annotations").get(annotation)).lower() == "true"


def _has_sidecar(template: ManifestTemplate) -> bool:
    """Return whether the pod brings the sidecar itself, as the driver's guide allows."""
    containers = (*as_mappings(template.spec.get("containers")), *as_mappings(template.spec.get("initContainers")))
    return any(as_string(one.get("name")) == "gke-gcsfuse-sidecar" for one in containers)


def _fix(template: ManifestTemplate, annotation: str) -> Fix:
    path = (*template.path, "metadata", "annotations", annotation)
    return Fix(f"add the annotation {annotation}", (Edit("set", path, "true"),), safe=True)


RULE = Rule("missing-sidecar-annotation", _check, severity="warning", stage="run", authority="kubelet")
