"""The objects that pods need to start: Secrets, ConfigMaps, claims and accounts, by name."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map, nested_string

_ENV_SOURCES = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}
_ENV_FROM_SOURCES = {"secretRef": "Secret", "configMapRef": "ConfigMap"}
_VOLUME_SOURCES = (
    ("persistentVolumeClaim", "PersistentVolumeClaim", "claimName"),
    ("secret", "Secret", "secretName"),
    ("configMap", "ConfigMap", "name"),
)
_PROJECTED_SOURCES = (("secret", "Secret", "name"), ("configMap", "ConfigMap", "name"))
_DIRECT_FIELDS = (
    "serviceAccountName",
    "imagePullSecrets",
    "initContainers",
    "containers",
    "env",
    "envFrom",
    "volumes",
)


class PodReference(NamedTuple):
    """A pod's reference to an object of its namespace, by name."""

    path: Path
    """The path of the name."""
    kind: str
    name: str
    is_optional: bool
    """Whether the pod starts without the object."""
    keys: tuple[tuple[Path, str], ...] = ()
    """Keys that the object must have, each with its path."""


def needed_objects(value: Any) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each object that a pod, a template or a manifest refers to, except
    optional ones.
    """
    return ((item.kind, item.name) for item in references(value, ()) if not item.is_optional)


def references(value: Any, path: Path) -> Iterator[PodReference]:
    """Yield the references of a pod, a template or a manifest at a path, in the order of their
    fields.
    """
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from references(item, (*path, i))
        return
    if not (mapping := as_mapping(value)):
        return

    yield from _direct_references(mapping, path)
    for key, inner in mapping.items():
        if key not in _DIRECT_FIELDS and isinstance(inner, (dict, list)):
            yield from references(inner, (*path, key))


def _direct_references(mapping: Json, path: Path) -> Iterator[PodReference]:
    """Yield the references of a pod spec, a container or any mapping with their fields."""
    if account := nested_string(mapping, "serviceAccountName"):
        yield PodReference(
            (*path, "serviceAccountName"), "ServiceAccount", account, is_optional=False
        )

    for item_path, secret in _items(mapping, "imagePullSecrets", path):
        yield PodReference(
            (*item_path, "name"), "Secret", str(secret.get("name")), is_optional=False
        )

    for field in ("initContainers", "containers"):
        for item_path, container in _items(mapping, field, path):
            yield from references(container, item_path)
    for item_path, entry in _items(mapping, "env", path):
        yield from _env_references(
            nested_map(entry, "valueFrom"), (*item_path, "valueFrom"), _ENV_SOURCES
        )

    for item_path, entry in _items(mapping, "envFrom", path):
        yield from _env_references(entry, item_path, _ENV_FROM_SOURCES)
    for item_path, volume in _items(mapping, "volumes", path):
        yield from _volume_references(volume, item_path, _VOLUME_SOURCES)
        projected_path = (*item_path, "projected")
        for source_path, source in _items(
            nested_map(volume, "projected"), "sources", projected_path
        ):
            yield from _volume_references(source, source_path, _PROJECTED_SOURCES)


def _env_references(source: Json, path: Path, kinds: dict[str, str]) -> Iterator[PodReference]:
    for field, kind in kinds.items():
        reference = nested_map(source, field)
        reference_path = (*path, field)
        if "name" not in reference:
            continue

        key = ((*reference_path, "key"), nested_string(reference, "key"))
        yield PodReference(
            (*reference_path, "name"),
            kind,
            name=str(reference["name"]),
            is_optional=reference.get("optional") is True,
            keys=(key,) if "key" in reference else (),
        )


def _volume_references(
    volume: Json, path: Path, sources: tuple[tuple[str, str, str], ...]
) -> Iterator[PodReference]:
    for field, kind, name in sources:
        reference = nested_map(volume, field)
        reference_path = (*path, field)
        if name not in reference:
            continue

        items = _items(reference, "items", reference_path)
        yield PodReference(
            (*reference_path, name),
            kind,
            name=str(reference[name]),
            is_optional=reference.get("optional") is True,
            keys=tuple(
                ((*item_path, "key"), nested_string(item, "key")) for item_path, item in items
            ),
        )


def _items(mapping: Json, field: str, path: Path) -> Iterator[tuple[Path, Json]]:
    """Yield the mappings of a list field with their paths."""
    for i, item in indexed_mappings(mapping.get(field)):
        if item:
            yield (*path, field, i), item
