"""The objects that pods need to start: Secrets, ConfigMaps, claims and accounts, by name."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json

_ENV_SOURCES: Final = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}
_ENV_FROM_SOURCES: Final = {"secretRef": "Secret", "configMapRef": "ConfigMap"}
_VOLUME_SOURCES: Final = (
    ("persistentVolumeClaim", "PersistentVolumeClaim", "claimName"),
    ("secret", "Secret", "secretName"),
    ("configMap", "ConfigMap", "name"),
)
_DIRECT_FIELDS: Final = (
    "serviceAccountName",
    "imagePullSecrets",
    "initContainers",
    "containers",
    "env",
    "envFrom",
    "volumes",
)


def references(value: Any) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each object that a pod, a template or a manifest refers to, except optional ones."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
        return
    if not (mapping := as_mapping(value)):
        return
    yield from _direct_references(mapping)
    for key, inner in mapping.items():
        if key not in _DIRECT_FIELDS:
            yield from references(inner)


def _direct_references(mapping: Json) -> Iterator[tuple[str, str]]:
    """Yield the references of a pod spec, a container or any mapping with their fields."""
    if account := as_string(mapping.get("serviceAccountName")):
        yield "ServiceAccount", account
    yield from (("Secret", str(secret.get("name"))) for secret in as_mappings(mapping.get("imagePullSecrets")))
    for word in ("initContainers", "containers"):
        for container in as_mappings(mapping.get(word)):
            yield from references(container)
    for entry in as_mappings(mapping.get("env")):
        yield from _named_objects(nested_map(entry, "valueFrom"), _ENV_SOURCES)
    for entry in as_mappings(mapping.get("envFrom")):
        yield from _named_objects(entry, _ENV_FROM_SOURCES)
    for volume in as_mappings(mapping.get("volumes")):
        for key, kind, word in _VOLUME_SOURCES:
            ref = nested_map(volume, key)
            if word in ref and not ref.get("optional"):
                yield kind, str(ref[word])


def _named_objects(source: Json, kinds: dict[str, str]) -> Iterator[tuple[str, str]]:
    for key, kind in kinds.items():
        ref = nested_map(source, key)
        if "name" in ref and not ref.get("optional"):
            yield kind, str(ref["name"])
