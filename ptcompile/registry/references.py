"""The objects without which pods do not start: Secrets, ConfigMaps, claims and accounts, by name."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json

_ENV: Final = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}
_FROM: Final = {"secretRef": "Secret", "configMapRef": "ConfigMap"}
_VOLUMES: Final = (
    ("persistentVolumeClaim", "PersistentVolumeClaim", "claimName"),
    ("secret", "Secret", "secretName"),
    ("configMap", "ConfigMap", "name"),
)
_HERE: Final = ("serviceAccountName", "imagePullSecrets", "initContainers", "containers", "env", "envFrom", "volumes")


def referenced(value: Any) -> Iterator[tuple[str, str]]:
    """Kind and name of each object that a pod, a template or a whole manifest names; optional ones are left out."""
    if isinstance(value, list):
        for one in value:
            yield from referenced(one)
        return
    if not (found := as_mapping(value)):
        return
    yield from _of(found)
    for key, inner in found.items():
        if key not in _HERE:
            yield from referenced(inner)


def _of(found: Json) -> Iterator[tuple[str, str]]:
    """What a mapping says that is a pod's spec, a container, or has its words."""
    if account := as_string(found.get("serviceAccountName")):
        yield "ServiceAccount", account
    yield from (("Secret", str(one.get("name"))) for one in as_mappings(found.get("imagePullSecrets")))
    for word in ("initContainers", "containers"):
        for container in as_mappings(found.get(word)):
            yield from referenced(container)
    for entry in as_mappings(found.get("env")):
        yield from _named(nested_map(entry, "valueFrom"), _ENV)
    for entry in as_mappings(found.get("envFrom")):
        yield from _named(entry, _FROM)
    for volume in as_mappings(found.get("volumes")):
        for key, kind, word in _VOLUMES:
            ref = nested_map(volume, key)
            if word in ref and not ref.get("optional"):
                yield kind, str(ref[word])


def _named(source: Json, kinds: dict[str, str]) -> Iterator[tuple[str, str]]:
    for key, kind in kinds.items():
        ref = nested_map(source, key)
        if "name" in ref and not ref.get("optional"):
            yield kind, str(ref["name"])
