"""Mounts, volumes, and folders of checkpoints."""

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
    """A folder for checkpoints, and where it is written."""

    folder: str
    path: Path


def checkpoints(container: ManifestContainer) -> Iterator[Checkpoint]:
    """The absolute paths that the command line and the variables of a container name for checkpoints."""
    argv = container.argv
    for i, word in enumerate(argv):
        following = argv[i + 1] if i + 1 < len(argv) else None
        pair = following is not None and word.text.startswith("-") and following.text.startswith("/")
        match = _CHECKPOINT_OPTION.search(
            f"{word.text} {following.text}" if pair and following is not None else word.text
        )
        if match is not None:
            yield Checkpoint(match[1], (following if pair and following is not None else word).path)
    for entry in container.env:
        if entry.value and entry.value.startswith("/") and _is_checkpoint_variable(entry.name):
            yield Checkpoint(entry.value, (*entry.path, "value"))


_normalize = bounded_cache(64)(normpath)


def mount_path(mount: Json) -> str:
    """A mount's path as the kernel takes it: `/data` for `/data/`."""
    path = as_string(mount.get("mountPath"))
    return _normalize(path) if path else ""


def mount_at(container: ManifestContainer, path: str) -> tuple[Path, Json] | None:
    """The mount at this very path, with its own path in the object."""
    return next(((where, mount) for where, mount in container.mounts if mount_path(mount) == path), None)


def volume_of(template: ManifestTemplate, mount: Json) -> tuple[Path, Json] | None:
    """The volume that a mount is of."""
    return template.volumes.get(as_string(mount.get("name")))


def is_in_memory(volume: Json) -> bool:
    """Whether a volume is an emptyDir that lies in memory."""
    return nested_map(volume, "emptyDir").get("medium") == "Memory"


def mount_for(container: ManifestContainer, path: str) -> tuple[Path, Json] | None:
    """The mount that a file at this path lies in: the deepest one above it."""
    best = None
    for where, mount in container.mounts:
        folder = mount_path(mount)
        inside = path == folder or path.startswith(folder.rstrip("/") + "/")
        if folder and inside and (best is None or len(folder) > len(mount_path(best[1]))):
            best = where, mount
    return best
