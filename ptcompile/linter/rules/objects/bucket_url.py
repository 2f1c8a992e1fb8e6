"""A Cloud Storage volume names its bucket by a URL.

PTC861 bucket-url: error at run (waits), by kubelet.
Needs: gcsfuse

What: a volume of the CSI driver gcsfuse.csi.storage.gke.io has a bucketName, or a PersistentVolume
of it a volumeHandle, that begins with a scheme such as gs:// or contains a slash.

Why: the driver looks up a bucket of exactly this name and finds none ("failed to get GCS bucket").
The pod stays in ContainerCreating.

Example: pod.yaml with

      metadata:
        name: train
        annotations: {gke-gcsfuse/volumes: "true"}
      spec:
        volumes:
          - name: data
            csi:
              driver: gcsfuse.csi.storage.gke.io
    -         volumeAttributes: {bucketName: "gs://imagenet"}  # <--
    +         volumeAttributes: {bucketName: imagenet}
        containers:
          - name: pytorch
            volumeMounts: [{name: data, mountPath: /data}]

Fix: write only the bucket's name; the mount option only-dir mounts a folder of it.

Source: GoogleCloudPlatform/gcs-fuse-csi-driver, 2026, pkg/csi_driver/node.go: NodePublishVolume.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_DRIVER = "gcsfuse.csi.storage.gke.io"


def check(subject: Subject) -> Findings:
    for path, name in _bucket_names(subject):
        bucket, _, folder = (
            name.partition("://")[2].partition("/") if "://" in name else name.partition("/")
        )
        if bucket == name:
            continue

        help = f"write {bucket}" if bucket else "write the bucket's name"
        if folder:
            help += f", and mount its folder with the mount option only-dir={folder.rstrip('/')}"
        is_lossless = bucket and not folder
        fix = fix_setting(f"write {bucket}", path, bucket, safe=True) if is_lossless else None
        kind = "a URL" if "://" in name else "a path"
        yield found_at(
            path,
            f"{name!r} is {kind}, but the driver looks up a bucket of exactly this name",
            help,
            fix,
        )


def _bucket_names(subject: Subject) -> Iterator[tuple[Path, str]]:
    """Yield the buckets that an object's volumes name, with their paths. A handle may end in `:`
    and a suffix.
    """
    for template in subject.templates:
        for path, volume in template.volumes.values():
            source = nested_map(volume, "csi")
            if source.get("driver") == _DRIVER:
                name = nested_string(source, "volumeAttributes", "bucketName")
                yield (*path, "csi", "volumeAttributes", "bucketName"), name
    source = nested_map(subject.spec, "csi")
    if subject.kind == ("v1", "PersistentVolume") and source.get("driver") == _DRIVER:
        yield ("spec", "csi", "volumeHandle"), nested_string(source, "volumeHandle")
