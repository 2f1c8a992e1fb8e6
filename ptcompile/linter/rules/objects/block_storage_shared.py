"""A claim asks a block storage class for ReadWriteMany.

PTC383 block-storage-shared: error at run (waits), by ptcompile.
Needs: ReadWriteMany

What: the accessModes have ReadWriteMany, volumeMode is Filesystem, and the storage class is of
single-attach disks: EBS, Persistent Disk, Azure Disk, RBD and the like. An error if the stream has
the class, else a warning by its name.

Why: the provisioner rejects the claim ("Volume capabilities MULTI_NODE_MULTI_WRITER not
supported"). The claim and all pods that mount it stay Pending.

Example:

      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: checkpoints}
      spec:
        storageClassName: shared
    -   accessModes: [ReadWriteMany]  # <--
    +   accessModes: [ReadWriteMany]
        resources: {requests: {storage: 1Ti}}
      ---
      apiVersion: storage.k8s.io/v1
      kind: StorageClass
      metadata: {name: shared}
    - provisioner: ebs.csi.aws.com
    + provisioner: efs.csi.aws.com

Fix: use a file system class (EFS, FSx for Lustre, Filestore, Azure Files, CephFS), or ReadWriteOnce
for a single pod.

Source: Kubernetes 1.36, access modes of persistent volumes; the README of each CSI driver
(2026-08).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_string,
    nested_strings,
)
from ptcompile.linter.rule import Findings, Subject, found_at

_is_block_provisioner = Pattern(
    r"ebs\.csi\.(?:eks\.amazonaws|aws)\.com|kubernetes\.io/(?:aws-ebs|gce-pd|azure-disk|vsphere-volume)"
    r"|pd\.csi\.storage\.gke\.io|disk\.csi\.azure\.com|blockvolume\.csi\.oraclecloud\.com"
    r"|vpc\.block\.csi\.ibm\.io|dobs\.csi\.digitalocean\.com|linodebs\.csi\.linode\.com|csi\.hetzner\.cloud"
    r"|block\.csi\.vultr\.com|diskplugin\.csi\.alibabacloud\.com|(?:[\w-]{1,63}\.)?rbd\.csi\.ceph\.com"
).fullmatch
_is_block_class = Pattern(
    r"gp2|gp3|io[12]|st1|sc1|(?:aws-)?ebs-\w{1,40}|(?:standard|premium)-rwo|managed-csi(?:-premium)?"
    r"|managed(?:-premium)?|oci-bv|do-block-storage|hcloud-volumes|linode-block-storage(?:-retain)?"
).fullmatch
_STORAGE_CLASS = ("storage.k8s.io/v1", "StorageClass")


def check(subject: Subject) -> Findings:
    for path, claim in _claims(subject):
        name = nested_string(claim, "storageClassName")
        if (
            "ReadWriteMany" not in nested_strings(claim, "accessModes")
            or claim.get("volumeMode") == "Block"
        ):
            continue

        classes = subject.objects.by_name(_STORAGE_CLASS, name) if name else ()
        provisioner = nested_string(classes[-1], "provisioner") if classes else ""
        if _is_block_provisioner(provisioner) or (not classes and _is_block_class(name)):
            if classes:
                about = f"{provisioner} provisions disks"
            else:
                about = f"{name} is usually a class of disks"

            yield found_at(
                (*path, "accessModes"),
                f"{about} that only one node can attach, so the claim stays Pending",
                "use a file system class, or ReadWriteOnce for a single pod",
                severity=None if classes else "warning",
            )


def _claims(subject: Subject) -> Iterator[tuple[Path, Json]]:
    """Yield the specs of the claims that an object is or contains, with their paths."""
    if subject.kind == ("v1", "PersistentVolumeClaim"):
        yield ("spec",), subject.spec
    for template in subject.templates:
        for path, volume in template.volumes.values():
            if claim := nested_map(volume, "ephemeral", "volumeClaimTemplate", "spec"):
                yield (*path, "ephemeral", "volumeClaimTemplate", "spec"), claim

    for i, volume in indexed_mappings(subject.spec.get("volumes")):
        if claim := nested_map(volume, "volumeClaim"):
            yield ("spec", "volumes", i, "volumeClaim"), claim
