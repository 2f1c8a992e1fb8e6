"""Files that a container reads from the ConfigMaps of the stream."""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import as_mappings, as_string, namespace_of, nested_map, object_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.simulator.pod import Pod

_CONFIG_MAP: Final = ("v1", "ConfigMap")


def mounted_text(pod: Pod, path: str) -> str | None:
    """Return the text of a file in the main container, or None unless a ConfigMap of the stream contains it."""
    mounts = as_mappings(pod.main.spec.get("volumeMounts")) if pod.main is not None else []
    covering = [mount for mount in mounts if _is_below(path, as_string(mount.get("mountPath")))]
    if not covering:
        return None
    mount = max(covering, key=lambda mount: len(as_string(mount.get("mountPath"))))
    rest = path[len(as_string(mount.get("mountPath")).rstrip("/")) :].lstrip("/")
    name = "/".join(part for part in (as_string(mount.get("subPath")), rest) if part)
    volumes = as_mappings(pod.view.spec.get("volumes"))
    volume = next((volume for volume in volumes if volume.get("name") == mount.get("name")), {})
    source = nested_map(volume, "configMap")
    items = {as_string(item.get("path")): as_string(item.get("key")) for item in as_mappings(source.get("items"))}
    key = items.get(name, "") if items else name
    return _text_of(pod, as_string(source.get("name")), key) if key else None


def _is_below(path: str, folder: str) -> bool:
    folder = folder.rstrip("/")
    return bool(folder) and (path == folder or path.startswith(folder + "/"))


def _text_of(pod: Pod, name: str, key: str) -> str | None:
    """Return the text of a key of a ConfigMap in the pod's namespace, or None."""
    maps: list[Json] = [
        manifest
        for manifest in pod.job.stream.of_kind(_CONFIG_MAP)
        if object_name(manifest) == name and namespace_of(manifest) == pod.view.namespace
    ]
    text = nested_map(maps[0], "data").get(key) if maps else None
    return text if isinstance(text, str) else None
