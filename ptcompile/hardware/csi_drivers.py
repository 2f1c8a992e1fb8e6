"""CSI drivers that act only on pods with an annotation, and CSI drivers that ignore fsGroup.

Cloud Storage FUSE mounts a bucket by a sidecar, which its webhook adds to pods with the annotation.
Without it the kubelet fails to mount the volume: "failed to find the sidecar container in Pod spec"
(GoogleCloudPlatform/ gcs-fuse-csi-driver pkg/webhook/mutatingwebhook.go: Handle,
pkg/csi_driver/node.go: NodePublishVolume, 2026, and
https://docs.cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-sidecar).
Managed Lustre, Filestore, Mountpoint for S3, Azure Blob and FSx mount without a sidecar of the pod.
"""

from __future__ import annotations

from collections.abc import Mapping

SIDECAR_ANNOTATIONS: Mapping[str, str] = {"gcsfuse.csi.storage.gke.io": "gke-gcsfuse/volumes"}
"""The annotation whose value "true" asks a driver's webhook for its sidecar, keyed by driver."""

WITHOUT_GROUP: frozenset[str] = frozenset(
    {
        "efs.csi.aws.com",
        "fsx.csi.aws.com",
        "filestore.csi.storage.gke.io",
        "lustre.csi.storage.gke.io",
        "gcsfuse.csi.storage.gke.io",
    }
)
"""Drivers whose volumes keep their owners whatever fsGroup says: their fsGroupPolicy is None, or
the default, which acts on ReadWriteOnce alone (the CSIDriver objects of each, 2026-08).
"""
