"""A reference is almost the name of an object in the stream.

PTC376 misspelt-reference: warning at run (waits), by kubelet.
Needs:
@PersistentVolumeClaim/@ConfigMap/@Secret/@ServiceAccount/@PriorityClass/@RuntimeClass/@StorageClass

What: a pod or a claim refers to an object that the stream does not have, and the stream has one of
that kind whose name differs by a letter: a claim, ConfigMap, Secret, ServiceAccount, PriorityClass,
RuntimeClass or StorageClass.

Why: a pod whose claim, ConfigMap or Secret does not exist stays Pending, or in ContainerCreating.
One whose service account or class does not exist is not created.

Example: gpu_pod.yaml with

      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: imagenet}
      spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Ti}}}
      ---
      volumes:
        - name: data
          persistentVolumeClaim:
    -       claimName: imagnet  # <--
    +       claimName: imagenet
      containers:
        - name: pytorch
          resources: {limits: {cpu: 8, memory: 64Gi}}
          volumeMounts: [{name: data, mountPath: /data}]

Fix: write the name of the intended object.

Source: Kubernetes 1.36, volumes and environment from ConfigMaps and Secrets.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import nearest
from ptcompile.diagnostics import Path
from ptcompile.kinds.references import references
from ptcompile.kubernetes.unstructured import (
    namespace_of,
    nested_map,
    nested_string,
    object_name,
)
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.world.workload import Stream

_KINDS = (
    ("v1", "PersistentVolumeClaim"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
)
_CLUSTER_KINDS = (
    ("scheduling.k8s.io/v1", "PriorityClass"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("storage.k8s.io/v1", "StorageClass"),
)
_CLASS_FIELDS = {"priorityClassName": "PriorityClass", "runtimeClassName": "RuntimeClass"}
_STORAGE_CLASS = "storageClassName"
_MAX_NAMES = 256
"""Largest number of names to compare with: among more, many resemble one another anyway."""


def _names_in(stream: Stream) -> dict[tuple[str, str], frozenset[str]]:
    """Return the names of the stream's objects that pods refer to, keyed by namespace and kind."""
    names_by_kind: dict[tuple[str, str], set[str]] = {}
    for api_version, kind in (*_KINDS, *_CLUSTER_KINDS):
        for manifest in stream.objects.of_kind((api_version, kind)):
            namespace = namespace_of(manifest) if api_version == "v1" else ""
            names_by_kind.setdefault((namespace, kind), set()).add(object_name(manifest))

    return {key: frozenset(names) for key, names in names_by_kind.items()}


def check(subject: Subject) -> Findings:
    names_by_kind = subject.stream.cached(_names_in)
    for namespace, path, kind, name in _written_names(subject):
        names = names_by_kind.get((namespace, kind), frozenset())
        is_compared = 0 < len(names) <= _MAX_NAMES and name and name not in names
        suggestion = nearest(name, names) if is_compared else None
        if suggestion is not None and _digits_in(suggestion) == _digits_in(name):
            yield found_at(
                path,
                f"the stream has no {kind} {name}, but it has {suggestion}",
                f"write {suggestion}, if that is intended",
                fix_setting(f"write {suggestion}", path, suggestion),
            )


def _written_names(subject: Subject) -> Iterator[tuple[str, Path, str, str]]:
    """Yield the names that an object refers to: each with the namespace of what it names, its
    path and the kind.
    """
    for template in subject.templates:
        path = template.spec_path
        for reference in references(template.spec, path):
            if not reference.is_optional:
                yield subject.namespace, reference.path, reference.kind, reference.name
        for field, kind in _CLASS_FIELDS.items():
            yield "", (*path, field), kind, nested_string(template.spec, field)
        for volume_path, volume in template.volumes.values():
            claim = nested_map(volume, "ephemeral", "volumeClaimTemplate", "spec")
            class_path = (*volume_path, "ephemeral", "volumeClaimTemplate", "spec", _STORAGE_CLASS)
            yield "", class_path, "StorageClass", nested_string(claim, _STORAGE_CLASS)

    if subject.kind == ("v1", "PersistentVolumeClaim"):
        yield (
            "",
            ("spec", _STORAGE_CLASS),
            "StorageClass",
            nested_string(subject.spec, _STORAGE_CLASS),
        )


def _digits_in(name: str) -> list[str]:
    """Return the digits of a name. Names that differ in a number are different objects, not
    misspellings.
    """
    return [letter for letter in name if letter.isdigit()]
