"""Volumes and mounts that rules read."""

from __future__ import annotations

from posixpath import normpath

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import at, text
from ptcompile.linting.subject import Container, Template
from ptcompile.memo import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

_normal = kept(64)(normpath)


def place(mount: Json) -> str:
    """A mount's path as the kernel takes it: `/data` for `/data/`."""
    path = text(mount.get("mountPath"))
    return _normal(path) if path else ""


def mounted_at(container: Container, path: str) -> tuple[Path, Json] | None:
    """The mount at this very path, with its own path in the object."""
    return next(((where, mount) for where, mount in container.mounts if place(mount) == path), None)


def volume_of(template: Template, mount: Json) -> tuple[Path, Json] | None:
    """The volume that a mount is of."""
    return template.volumes.get(text(mount.get("name")))


def in_memory(volume: Json) -> bool:
    """Whether a volume is an emptyDir that lies in memory."""
    return at(volume, "emptyDir").get("medium") == "Memory"


def covering(container: Container, path: str) -> tuple[Path, Json] | None:
    """The mount that a file at this path lies in: the deepest one above it."""
    best = None
    for where, mount in container.mounts:
        folder = place(mount)
        inside = path == folder or path.startswith(folder.rstrip("/") + "/")
        if folder and inside and (best is None or len(folder) > len(place(best[1]))):
            best = where, mount
    return best
