"""A claim and the volume that is meant for it can never be bound.

PTC330 unbound-claim: error at run (waits), by ptcompile.
Needs: PersistentVolumeClaim @PersistentVolume

What: a claim names a volume of the stream, or the volume names the claim, and they differ in what
the controller compares: the volume is smaller, of another storage class, of another volumeMode,
without an access mode of the claim, or it belongs to another claim. If each names the other,
nothing is compared, and nothing is reported.

Why: the claim stays Pending ("VolumeMismatch"), and so do all pods that mount it. A claim without
storageClassName gets the cluster's default class, so it does not match a volume without one.

Example:

      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: imagenet}
      spec:
        capacity: {storage: 1Ti}
        accessModes: [ReadWriteMany]
        storageClassName: ""
        nfs: {server: 10.0.0.5, path: /imagenet}
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: imagenet}
      spec:
        volumeName: imagenet
        storageClassName: ""
        accessModes: [ReadWriteMany]
    -   resources: {requests: {storage: 2Ti}}  # <--
    +   resources: {requests: {storage: 1Ti}}

Fix: write in the claim what the volume has, or name the claim in the volume's claimRef too.

Source: Kubernetes 1.36, pkg/controller/volume/persistentvolume/pv_controller.go: syncUnboundClaim,
checkVolumeSatisfyClaim.
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_string,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.linter.claims import belongs_to, class_name, volumes_of_claim
from ptcompile.linter.rule import Findings, Subject, found_at

_SIZE = ("spec", "resources", "requests", "storage")


def check(subject: Subject) -> Findings:
    claim = subject.manifest
    if subject.kind != ("v1", "PersistentVolumeClaim"):
        return

    for volume in volumes_of_claim(subject.stream, claim):
        owner = nested_string(volume, "spec", "claimRef", "name")
        is_named = subject.spec.get("volumeName") == object_name(volume)
        if is_named and belongs_to(volume, claim):
            continue
        if is_named and owner:
            text = f"never bound: the volume {object_name(volume)} belongs to the claim {owner}"
            yield found_at(
                ("spec", "volumeName"), text, "name a volume that is free, or change its claimRef"
            )
            continue

        yield from _differences(claim, volume)
        if is_named:
            yield from _class_difference(claim, volume)


def _differences(claim: Json, volume: Json) -> Findings:
    """Yield a finding for each setting that keeps a claim and its volume apart, whichever of the
    two names the other.
    """
    name = object_name(volume)
    requested = quantity.parse(nested_value(claim, *_SIZE[:-1], "storage"))
    capacity = nested_value(volume, "spec", "capacity", "storage")
    size = quantity.parse(capacity)
    if requested is not None and size is not None and requested.nano > size.nano:
        yield found_at(
            _SIZE, f"never bound: the volume {name} has {capacity}", f"request {capacity} or less"
        )

    mode = nested_string(claim, "spec", "volumeMode") or "Filesystem"
    volume_mode = nested_string(volume, "spec", "volumeMode") or "Filesystem"
    if mode != volume_mode:
        text = f"never bound: the volume {name} has volumeMode {volume_mode}, the claim {mode}"
        yield found_at(("spec", "volumeMode"), text, f"write volumeMode: {volume_mode}")

    modes = nested_strings(volume, "spec", "accessModes")
    missing = [item for item in nested_strings(claim, "spec", "accessModes") if item not in modes]
    if missing and modes:
        text = f"never bound: the volume {name} has {', '.join(modes)}, not {', '.join(missing)}"
        yield found_at(("spec", "accessModes"), text, f"write {', '.join(modes)}")


def _class_difference(claim: Json, volume: Json) -> Findings:
    """Yield the difference in storage class, which is compared if only the claim names the
    volume.
    """
    claim_class = class_name(claim)
    volume_class = class_name(volume) or ""
    if claim_class == volume_class:
        return

    name = object_name(volume)
    if "storageClassName" in nested_map(claim, "spec"):
        path = ("spec", "storageClassName")
    else:
        path = ("spec", "volumeName")

    of_volume = f"storageClassName {volume_class!r}"
    if claim_class is None:
        text = f"the claim gets the default storage class, but the volume {name} has {of_volume}"
        yield found_at(path, text, f"write storageClassName: {volume_class!r}", severity="warning")
    else:
        text = f"never bound: the volume {name} has {of_volume}, the claim {claim_class!r}"
        yield found_at(path, text, f"write storageClassName: {volume_class!r}")
