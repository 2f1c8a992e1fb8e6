"""Files that a container sees from ConfigMaps and Secrets: what is mounted over a path, with which
keys and modes.

Source: Kubernetes 1.36, ConfigMap, Secret and projected volumes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from posixpath import normpath

from ptcompile._internal.lazy import MAX_CACHED_LENGTH, bounded_cache
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.unstructured import (
    Json,
    as_int,
    as_mapping,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    FindObject = Callable[[str, str], Json | None]
    """Returns the ConfigMap or Secret with a kind and a name in the pod's namespace."""

_NAMES = {"configMap": ("ConfigMap", "name"), "secret": ("Secret", "secretName")}
"""Kind, and field of the name, of the objects of a volume; a part of a projected volume always
has `name`.
"""
_DATA_FIELDS = ("data", "stringData", "binaryData")
_DEFAULT_MODE = 0o644

_normalize = bounded_cache(64)(normpath)


class MountedFile(NamedTuple):
    """A file that a ConfigMap or a Secret gives to a container."""

    source: Json
    """The object."""
    key: str

    @property
    def text(self) -> str | None:
        """The file's text, or None for binary data and for a Secret."""
        text = nested_value(self.source, "data", self.key)
        if isinstance(text, str) and self.source.get("kind") != "Secret":
            return text
        return None

    @property
    def known_text(self) -> str | None:
        """The file's text with secrets masked, or None."""
        text = self.text
        if text is None:
            return None

        mask = _mask if len(text) <= MAX_CACHED_LENGTH else _mask.__wrapped__
        return mask(self.key, text)


class MountedPath(NamedTuple):
    """A path of a container in a volume of ConfigMaps or Secrets."""

    folder: str
    """Where the volume is mounted."""
    inside: str
    """The path in the volume; empty for the folder itself."""
    volume: Json
    field: str
    """The volume's source: `configMap`, `secret` or `projected`."""

    @property
    def mode(self) -> int:
        """The mode of the file: that of its item, else the volume's default."""
        items = [item for _, _, part in self._parts() for item in nested_maps(part, "items")]
        for item in items:
            if item.get("path") == self.inside and item.get("mode"):
                return as_int(item["mode"])
        return nested_int(self.volume, self.field, "defaultMode", default=_DEFAULT_MODE)

    def files(self, find: FindObject) -> dict[str, MountedFile] | None:
        """Return the files of the volume by their paths in it, or None if an object is not in
        the stream.
        """
        files: dict[str, MountedFile] = {}
        for kind, name, part in self._parts():
            source = find(kind, name)
            if source is None:
                return None
            items = nested_maps(part, "items")
            chosen = {nested_string(item, "path"): nested_string(item, "key") for item in items}
            keys = chosen if items else {key: key for key in data_keys(source)}
            files |= {path: MountedFile(source, key) for path, key in keys.items()}

        return files

    def file(self, find: FindObject) -> MountedFile | None:
        """Return the file at the path, or None if the volume has none, or has objects that are
        not in the stream.
        """
        return (self.files(find) or {}).get(self.inside)

    def _parts(self) -> Iterator[tuple[str, str, Json]]:
        """Yield kind, name and definition of each object of the volume; other parts have an
        empty kind.
        """
        source = nested_map(self.volume, self.field)
        if self.field != "projected":
            kind, name_field = _NAMES[self.field]
            yield kind, nested_string(source, name_field), source
        for part in nested_maps(source, "sources"):
            for field, definition in part.items():
                projected = as_mapping(definition)
                yield _NAMES.get(field, ("", ""))[0], nested_string(projected, "name"), projected


def mounted_path(spec: Json, container: Json, path: str) -> MountedPath | None:
    """Return what a path of a container is in a volume of ConfigMaps or Secrets, or None if it
    is in none.
    """
    mount = mount_over(nested_maps(container, "volumeMounts"), path)
    if mount is None:
        return None

    volume = next(
        (item for item in nested_maps(spec, "volumes") if item.get("name") == mount.get("name")),
        {},
    )
    field = next((field for field in (*_NAMES, "projected") if nested_map(volume, field)), None)
    if field is None:
        return None

    folder = mount_path(mount)
    rest = _normalize(path).removeprefix(folder).strip("/")
    inside = "/".join(part for part in (nested_string(mount, "subPath"), rest) if part)

    return MountedPath(folder, inside, volume, field)


def mount_over(mounts: Iterable[Json], path: str) -> Json | None:
    """Return the mount that has a file at this path, the deepest one, or None."""
    covering = [
        mount
        for mount in mounts
        if (folder := mount_path(mount)) and f"{path}/".startswith(f"{folder.rstrip('/')}/")
    ]
    return max(covering, key=lambda mount: len(mount_path(mount)), default=None)


def mount_path(mount: Json) -> str:
    """Return a mount's path as the kernel reads it: `/data` for `/data/`."""
    path = nested_string(mount, "mountPath")
    return _normalize(path) if path else ""


def data_keys(source: Json, fields: Sequence[str] = _DATA_FIELDS) -> list[str]:
    """Return the keys of a ConfigMap or a Secret."""
    return [str(key) for field in fields for key in nested_map(source, field)]


# many pods may read one key
@lru_cache(maxsize=4096)
def _mask(key: str, text: str) -> str:
    from ptcompile.source.secrets.scanner import without_secrets

    masked: str = without_secrets({"kind": "ConfigMap", "data": {key: text}})["data"][key]
    return masked
