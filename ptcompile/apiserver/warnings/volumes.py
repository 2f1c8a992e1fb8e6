"""Warnings about volumes: removed plugins, overlapping paths, claims.

Source: Kubernetes 1.36, pkg/api/pod/warnings.go: warningsForPodSpecAndMeta,
warningsForOverlappingVirtualPaths; pkg/api/persistentvolumeclaim/util.go:
GetWarningsForPersistentVolumeClaimSpec.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.apiserver.warnings.header import deprecated, repeated, warning
from ptcompile.diagnostics import Path, Problems, field_path
from ptcompile.diagnostics.field_errors import indexed_mappings, key_path, quote_value
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    VolumePath = tuple[str, str, Path]
    """A path in a volume, the source it comes from ("" in a volume of one source), and its path
    in the manifest.
    """

REMOVED_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
"""Volume sources whose plugins Kubernetes removed, with the server's words."""


def removed_volume_warnings(source: Json, path: Path) -> Problems:
    """Yield a warning for each source whose plugin was removed, in a pod's volume or a
    PersistentVolume's spec.
    """
    for key, text in REMOVED_VOLUMES.items():
        if source.get(key) is not None:
            field = field_path((*path, "storageOS" if key == "storageos" else key))
            yield deprecated((*path, key), text, "use a CSI driver", field=field)


def volume_warnings(spec: Json, path: Path, server: ApiServer) -> Problems:
    """Yield the warnings about the volumes of a pod spec."""
    for index, volume in indexed_mappings(spec.get("volumes")):
        volume_path = (*path, "volumes", index)
        if not REMOVED_VOLUMES.keys().isdisjoint(volume):
            yield from removed_volume_warnings(volume, volume_path)
        if volume.get("gitRepo") is not None:
            text = "deprecated in v1.11" + (
                ", and disabled by default in v1.33+" if server.at_least(33) else ""
            )
            yield deprecated(
                (*volume_path, "gitRepo"), text, "clone the repository in an init container"
            )
        if "ephemeral" in volume:
            claim = nested_map(volume, "ephemeral", "volumeClaimTemplate", "spec")
            yield from claim_warnings(
                claim, (*volume_path, "ephemeral", "volumeClaimTemplate", "spec")
            )

    if server.at_least(33):
        for index, volume in indexed_mappings(spec.get("volumes")):
            if not _VOLUMES_OF_FILES.isdisjoint(volume):
                yield from _overlap_warnings(volume, (*path, "volumes", index))


_VOLUMES_OF_FILES = frozenset({"configMap", "secret", "downwardAPI", "projected"})
"""Volume sources that list the paths of their files."""


def claim_warnings(spec: Json, path: Path) -> Problems:
    """Yield a warning for each storage amount of a claim that is not a whole number of bytes."""
    for key in ("requests", "limits"):
        amounts = nested_map(spec, "resources", key)
        yield from fractional_warnings(amounts, (*path, "resources", key), ("storage",))


def fractional_warnings(amounts: Json, path: Path, resources: tuple[str, ...]) -> Problems:
    """Yield a warning for each of these resources whose amount is not a whole number of bytes."""
    for name in resources:
        amount = quantity.parse(amounts.get(name))
        if amount is not None and not amount.rounded().is_integer:
            value_path = (*path, name)
            text = f'fractional byte value "{amount.rounded()}" is invalid, must be an integer'
            help = "write a whole number of bytes, such as 512Mi"
            field = key_path(value_path)
            is_limit = path[-1] == "limits" and name != "storage"
            if is_limit:
                yield warning("fractional-bytes", value_path, text, help, stage="run", field=field)
            else:
                yield warning("discouraged-value", value_path, text, help, field=field)


def _overlap_warnings(volume: Json, path: Path) -> Problems:
    """Yield a warning for each pair of paths in a volume of which one is, or contains, the
    other.
    """
    volume_name = quote_value(volume.get("name") or "")
    for key, name_field in (("configMap", "name"), ("secret", "secretName"), ("downwardAPI", "")):
        source = nested_map(volume, key)
        paths = list(_item_paths(source, (*path, key), ""))
        yield from _overlaps(
            paths, f"volume {volume_name} ({_source_name(key, source.get(name_field))})"
        )

    projected: list[VolumePath] = []
    for index, source in indexed_mappings(nested_value(volume, "projected", "sources")):
        projection = (*path, "projected", "sources", index)
        if all(source.get(key) is None for key in _PROJECTIONS):
            text = f"volume {volume_name} (Projected) has no sources provided"
            yield warning(
                "discouraged-value",
                projection,
                text,
                "name a source, or remove the entry",
                field="",
            )

        projected += _projected_paths(source, projection)

    yield from _overlaps(projected, f"volume {volume_name} (Projected)")


_PROJECTIONS = (
    "secret",
    "configMap",
    "downwardAPI",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
)
_CERTIFICATE_PATHS = (
    ("certificateChainPath", "PodCertificate chain"),
    ("keyPath", "PodCertificate key"),
    ("credentialBundlePath", "PodCertificate credential bundle"),
)


def _source_name(key: str, name: Any) -> str:
    if key == "downwardAPI":
        return "DownwardAPI"
    return f"{key[0].upper()}{key[1:]} {quote_value(name or '')}"


def _item_paths(source: Json, path: Path, label: str) -> Iterator[VolumePath]:
    for index, item in indexed_mappings(source.get("items")):
        if type(item.get("path")) is str:
            yield item["path"].rstrip("/"), label, (*path, "items", index, "path")


def _projected_paths(source: Json, path: Path) -> Iterator[VolumePath]:
    """Yield the paths that one source of a projected volume fills."""
    for key in ("configMap", "secret", "downwardAPI"):
        projection = nested_map(source, key)
        if type(projection.get("items")) is list:
            yield from _item_paths(
                projection, (*path, key), _source_name(key, projection.get("name"))
            )
            return

    token = nested_map(source, "serviceAccountToken")
    bundle = nested_map(source, "clusterTrustBundle")
    if type(token.get("path")) is str:
        yield (
            token["path"].rstrip("/"),
            "ServiceAccountToken",
            (*path, "serviceAccountToken", "path"),
        )
    elif type(bundle.get("path")) is str:
        label = (
            "ClusterTrustBundle "
            f"{quote_value(bundle.get('name') or bundle.get('signerName') or '')}"
        )
        yield bundle["path"].rstrip("/"), label, (*path, "clusterTrustBundle", "path")

    for key, label in _CERTIFICATE_PATHS:
        value = nested_value(source, "podCertificate", key)
        if type(value) is str and value:
            yield value.rstrip("/"), label, (*path, "podCertificate", key)


def _overlaps(paths: list[VolumePath], volume: str) -> Problems:
    """Yield a warning for each path that is, contains or is inside an earlier one. The server
    names every pair.
    """
    related = _earliest_relatives([file for file, _, _ in paths])
    for index, (file, label, path) in enumerate(paths):
        if related[index] < index:
            earlier, earlier_label, _ = paths[related[index]]
            pair = (
                f"{_quote_with_label(file, label)} with {_quote_with_label(earlier, earlier_label)}"
            )
            yield repeated(
                path,
                f"{volume}: overlapping paths: {pair}",
                "give each file its own path",
                field="",
            )


def _earliest_relatives(paths: list[str]) -> list[int]:
    """Return for each path the index of the first one that is equal, contains it or is inside it:
    its own if none is.

    In sorted order, what is inside a path comes right after it, so the time does not grow with the
    square.
    """
    first_inside = list(range(len(paths)))
    first_around = list(range(len(paths)))
    around: list[int] = []

    def close() -> None:
        inner = around.pop()
        if around:
            first_inside[around[-1]] = min(first_inside[around[-1]], first_inside[inner])

    for index in sorted((i for i, path in enumerate(paths) if path), key=lambda i: f"{paths[i]}/"):
        while around and not f"{paths[index]}/".startswith(f"{paths[around[-1]]}/"):
            close()
        if around:
            first_around[index] = min(around[-1], first_around[around[-1]])
        around.append(index)

    while around:
        close()
    return [min(pair) for pair in zip(first_inside, first_around, strict=True)]


def _quote_with_label(path: str, label: str) -> str:
    if label:
        return f"{quote_value(path)} ({label})"
    return quote_value(path)
