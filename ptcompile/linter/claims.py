"""The persistent volumes and storage classes of the claims that pods mount, as far as the stream
has them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import (
    Json,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.linter.rule import Subject
from ptcompile.world.templates import ManifestTemplate
from ptcompile.world.workload import Stream

_CLAIM = ("v1", "PersistentVolumeClaim")
_VOLUME = ("v1", "PersistentVolume")
_CLASS = ("storage.k8s.io/v1", "StorageClass")
_ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


class MountedClaim(NamedTuple):
    """A claim that a pod mounts."""

    path: Path
    """The path of its name in the pod's object."""
    claim: Json


def claims_of_pod(subject: Subject, template: ManifestTemplate) -> Iterator[MountedClaim]:
    """Yield the claims of the stream that a pod template mounts."""
    for volume_path, volume in template.volumes.values():
        claim = _claim_of_volume(subject, volume)
        if claim is not None:
            yield MountedClaim((*volume_path, "persistentVolumeClaim", "claimName"), claim)


def _claim_of_volume(subject: Subject, volume: Json) -> Json | None:
    """Return the claim that a pod's volume names if the stream has it."""
    name = nested_string(volume, "persistentVolumeClaim", "claimName")
    return subject.objects.find(_CLAIM, name, subject.namespace)


def volumes_of_claim(stream: Stream, claim: Json) -> Iterator[Json]:
    """Yield the volumes of the stream that a claim names, or that name it."""
    named = nested_value(claim, "spec", "volumeName")
    for volume in stream.objects.of_kind(_VOLUME):
        if object_name(volume) == named or belongs_to(volume, claim):
            yield volume


def belongs_to(volume: Json, claim: Json) -> bool:
    """Return whether a volume names the claim."""
    reference = nested_map(volume, "spec", "claimRef")
    namespace = reference.get("namespace", namespace_of(claim))
    return bool(reference.get("name") == object_name(claim) and namespace == namespace_of(claim))


def class_name(manifest: Json) -> str | None:
    """Return the storage class of a claim or a volume; None if it is unset, which for a claim is
    the default class.
    """
    beta = nested_value(manifest, "metadata", "annotations", _BETA_CLASS)
    written = nested_value(manifest, "spec", "storageClassName") if beta is None else beta
    return written if isinstance(written, str) else None


def class_of_claim(stream: Stream, claim: Json) -> Json | None:
    """Return the storage class of a claim if the stream has it."""
    name = class_name(claim)
    return stream.objects.find(_CLASS, name, "") if name else None


def driver_of_volume(subject: Subject, volume: Json) -> str:
    """Return the CSI driver of a pod's volume, inline or by its claim; empty if the stream does
    not say.
    """
    inline = nested_string(volume, "csi", "driver")
    claim = None if inline else _claim_of_volume(subject, volume)
    if claim is None:
        return inline
    return driver_of_claim(subject.stream, claim)


def driver_of_claim(stream: Stream, claim: Json) -> str:
    """Return the CSI driver of a claim, or an empty string if the stream does not say."""
    for volume in volumes_of_claim(stream, claim):
        return nested_string(volume, "spec", "csi", "driver")
    storage_class = class_of_claim(stream, claim)
    if storage_class is not None:
        return nested_string(storage_class, "provisioner")
    return ""


def places_of_claim(stream: Stream, claim: Json) -> Iterator[tuple[str, frozenset[str], str]]:
    """Yield the labels of the nodes that can mount a claim: each with its values and who says
    so.
    """
    volumes = [*volumes_of_claim(stream, claim)]
    for volume in volumes:
        owner = f"the volume {object_name(volume)} is in"
        labels = nested_string_map(volume, "metadata", "labels")
        for label in _ZONE_LABELS:
            if label in labels:
                yield label, frozenset(labels[label].split("__")), owner
        terms = nested_maps(volume, "spec", "nodeAffinity", "required", "nodeSelectorTerms")
        if len(terms) != 1:
            continue

        for expression in nested_maps(terms[0], "matchExpressions"):
            if expression.get("operator") == "In":
                values = frozenset(nested_strings(expression, "values"))
                yield nested_string(expression, "key"), values, owner

    storage_class = class_of_claim(stream, claim)
    terms = nested_maps(storage_class, "allowedTopologies") if storage_class is not None else []
    if volumes or len(terms) != 1:
        return

    for expression in nested_maps(terms[0], "matchLabelExpressions"):
        values = frozenset(nested_strings(expression, "values"))
        yield (
            nested_string(expression, "key"),
            values,
            f"the storage class {object_name(storage_class or {})} is for",
        )
