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
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import as_mappings, as_string, namespace_of, nested_map, object_name
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.templates import ManifestContainer, ManifestTemplate
from ptcompile.linter.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json

_VOLUMES: Final = {
    "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"),
    "configMap": ("ConfigMap", "name"),
    "secret": ("Secret", "secretName"),
}
_ENV: Final = {
    "configMapKeyRef": "ConfigMap",
    "secretKeyRef": "Secret",
    "configMapRef": "ConfigMap",
    "secretRef": "Secret",
}


_MOST: Final = 256
"""Names that one that is missing is compared with: of more, many are alike anyway."""


def _names(stream: Stream) -> dict[tuple[str, str], frozenset[str]]:
    """The names of the stream's objects that pods refer to, by namespace and kind."""
    found: dict[tuple[str, str], set[str]] = {}
    for kind in ("PersistentVolumeClaim", "ConfigMap", "Secret"):
        for one in stream.objects.of(("v1", kind)):
            found.setdefault((namespace_of(one), kind), set()).add(object_name(one))
    return {key: frozenset(names) for key, names in found.items()}


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        references = [*_volumes(template), *(one for container in template.containers for one in _env(container))]
        for path, kind, name in references:
            known = subject.stream.once(_names).get((namespace_of(subject.manifest), kind), frozenset())
            near = nearest(name, known) if 0 < len(known) <= _MOST and name not in known else None
            if near is not None and _digits(near) == _digits(name):
                yield found_at(
                    path,
                    f"the stream has no {kind} {name}, but it has {near}",
                    f"write {near}, if that is intended",
                    Fix(f"write {near}", (Edit("set", path, near),), safe=False),
                )


def _volumes(template: ManifestTemplate) -> Iterator[tuple[Path, str, str]]:
    for where, volume in template.volumes.values():
        for key, (kind, field) in _VOLUMES.items():
            source = nested_map(volume, key)
            if source.get("optional") is not True and as_string(source.get(field)):
                yield (*where, key, field), kind, as_string(source.get(field))


def _env(container: ManifestContainer) -> Iterator[tuple[Path, str, str]]:
    sources: list[tuple[Path, Json]] = [((*entry.path, "valueFrom"), entry.source) for entry in container.env]
    sources += [
        ((*container.path, "envFrom", i), one) for i, one in enumerate(as_mappings(container.spec.get("envFrom")))
    ]
    for where, source in sources:
        for key, kind in _ENV.items():
            named = nested_map(source, key)
            if named.get("optional") is not True and as_string(named.get("name")):
                yield (*where, key, "name"), kind, as_string(named.get("name"))


def _digits(name: str) -> list[str]:
    """A name that differs in a number is another one, and no slip."""
    return [letter for letter in name if letter.isdigit()]


RULE = Rule("misspelt-reference", _check, severity="warning", stage="run", authority="kubelet")
