"""Mounts, volumes, and checkpoint folders."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_string, nested_map
from ptcompile.linter.templates import ManifestContainer, ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


_CHECKPOINT_OPTION = Pattern(
    r"(?i)(?:^|[\s.])-{0,2}(?:[\w.-]{0,64}[._-])?(?:checkpoints?|ckpts?|snapshots?|save)"
    r"(?:[_-]?(?:dir|path|folder|directory|root|to))?(?:=|\s+)[\"']?(/[\w./-]+)"
)
_is_checkpoint_variable = Pattern(
    r"(?:\w+_)?(?:CHECKPOINTS?|CKPTS?|SNAPSHOTS?|SAVE)(?:_(?:DIR|PATH|FOLDER))?"
).fullmatch


class Checkpoint(NamedTuple):
    """A checkpoint folder and the path of the field that names it."""

    folder: str
    path: Path


def checkpoints(container: ManifestContainer) -> Iterator[Checkpoint]:
    """Yield the absolute checkpoint folders in a container's command line and variables."""
    argv = container.argv
    for i, word in enumerate(argv):
        following = argv[i + 1] if i + 1 < len(argv) else None
        is_pair = following is not None and word.text.startswith("-") and following.text.startswith("/")
        match = _CHECKPOINT_OPTION.search(
            f"{word.text} {following.text}" if is_pair and following is not None else word.text
        )
        if match is not None:
            yield Checkpoint(match[1], (following if is_pair and following is not None else word).path)
    for entry in container.env:
        if entry.value and entry.value.startswith("/") and _is_checkpoint_variable(entry.name):
            yield Checkpoint(entry.value, (*entry.path, "value"))


_normalize = bounded_cache(64)(normpath)


def mount_path(mount: Json) -> str:
    """Return a mount's path as the kernel reads it: `/data` for `/data/`."""
    path = as_string(mount.get("mountPath"))
    return _normalize(path) if path else ""


def mount_at(container: ManifestContainer, path: str) -> tuple[Path, Json] | None:
    """Return the mount at exactly this path, with its document path, or None."""
    return next(((field_path, mount) for field_path, mount in container.mounts if mount_path(mount) == path), None)


def volume_of(template: ManifestTemplate, mount: Json) -> tuple[Path, Json] | None:
    """Return the volume of a mount, with its document path, or None."""
    return template.volumes.get(as_string(mount.get("name")))


def is_in_memory(volume: Json) -> bool:
    """Return whether the volume is an emptyDir in memory."""
    return nested_map(volume, "emptyDir").get("medium") == "Memory"


def mount_for(container: ManifestContainer, path: str) -> tuple[Path, Json] | None:
    """Return the mount that contains a file at this path, the deepest one, with its document path, or None."""
    deepest = None
    for field_path, mount in container.mounts:
        folder = mount_path(mount)
        is_inside = path == folder or path.startswith(folder.rstrip("/") + "/")
        if folder and is_inside and (deepest is None or len(folder) > len(mount_path(deepest[1]))):
            deepest = field_path, mount
    return deepest
