"""A reference is almost the name of a claim, ConfigMap or Secret in the stream.

What: a pod refers to an object that the stream does not have, and the stream has one of that kind whose name differs
by a letter.

Why: a pod whose claim, ConfigMap or Secret does not exist stays Pending, or in ContainerCreating.

Example:

      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: imagenet}
      spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Ti}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        volumes:
          - name: data
            persistentVolumeClaim:
    -         claimName: imagnet  # <--
    +         claimName: imagenet
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}
            volumeMounts: [{name: data, mountPath: /data}]

Fix: write the name of the intended object.

Source: Kubernetes 1.36, volumes and environment from ConfigMaps and Secrets.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import nearest
from ptcompile.diagnostics import Edit, Fix
from ptcompile.kinds.references import references
from ptcompile.kubernetes.unstructured import namespace_of, object_name
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.world.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MAX_NAMES: Final = 256
"""Largest number of names to compare with: among more, many resemble one another anyway."""


def _names_in(stream: Stream) -> dict[tuple[str, str], frozenset[str]]:
    """Return the names of the stream's objects that pods refer to, keyed by namespace and kind."""
    names_by_kind: dict[tuple[str, str], set[str]] = {}
    for kind in ("PersistentVolumeClaim", "ConfigMap", "Secret"):
        for manifest in stream.objects.of_kind(("v1", kind)):
            names_by_kind.setdefault((namespace_of(manifest), kind), set()).add(object_name(manifest))
    return {key: frozenset(names) for key, names in names_by_kind.items()}


def _check(subject: Subject) -> Iterator[Finding]:
    namespace = subject.namespace
    for template in subject.templates:
        for reference in references(template.spec, (*template.path, "spec")):
            names = subject.stream.cached(_names_in).get((namespace, reference.kind), frozenset())
            name, is_checked = reference.name, not reference.is_optional and 0 < len(names) <= _MAX_NAMES
            suggestion = nearest(name, names) if is_checked and name and name not in names else None
            if suggestion is not None and _digits_in(suggestion) == _digits_in(name):
                yield found_at(
                    reference.path,
                    f"the stream has no {reference.kind} {name}, but it has {suggestion}",
                    f"write {suggestion}, if that is intended",
                    Fix(f"write {suggestion}", (Edit("set", reference.path, suggestion),), safe=False),
                )


def _digits_in(name: str) -> list[str]:
    """Return the digits of a name. Names that differ in a number are different objects, not misspellings."""
    return [letter for letter in name if letter.isdigit()]


RULE = Rule("misspelt-reference", _check, severity="warning", stage="run", authority="kubelet")
