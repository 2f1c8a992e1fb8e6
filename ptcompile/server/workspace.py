"""What the server is told of the world around a text: the configuration, and other files of the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ptcompile.diagnostics import Path, Span
from ptcompile.source.streams import objects_in

if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile

DECIDING: Final = frozenset(
    {"Namespace", "LimitRange", "ResourceQuota", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "Service"}
)
"""Kinds that decide what happens to the objects of other files."""

NAMED: Final = DECIDING | {
    "ConfigMap",
    "Secret",
    "PersistentVolumeClaim",
    "ServiceAccount",
    "TrainingRuntime",
    "ClusterTrainingRuntime",
    "Queue",
    "PriorityClass",
    "WorkloadPriorityClass",
}
"""Kinds that manifests of other files name: where a definition is looked for."""


class FileSettings(NamedTuple):
    """How one file is looked at."""

    profile: ClusterProfile | None = None
    profile_path: str | None = None
    profile_text: bytes = b""
    kubernetes: str | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    excluded: bool = False
    """Whether the configuration leaves the file out."""
    wrong: str = ""
    """Why the configuration, or the profile that it names, cannot be used; nothing is asked of the file then."""


class WorkspaceFile(NamedTuple):
    """A file of the workspace as it is on the disk, or as it is in the editor."""

    path: str
    content: str | bytes


class Surroundings(Protocol):
    """Who knows the disk."""

    def settings(self, path: str) -> FileSettings:
        """How a file is looked at."""

    def files(self) -> Sequence[WorkspaceFile]:
        """The files of the workspace in which an object of a `NAMED` kind is."""

    def changed(self) -> None:
        """Something on the disk is not as it was."""


class Defined(NamedTuple):
    """An object of some file, and where its name stands."""

    kind: str
    name: str
    path: str
    span: Span | None
    data: Mapping[str, Any]


def defined(file: WorkspaceFile) -> tuple[Defined, ...]:
    """The objects of `NAMED` kinds in a file."""
    from ptcompile.source import documents as source

    found: list[Defined] = []
    for document in source.read(file.content, file.path).documents:
        for at, one in objects_in(document.data):
            name = _name(one)
            if str(one.get("kind")) in NAMED and name is not None:
                place: Path = (*at, "metadata", "name")
                found.append(Defined(str(one["kind"]), name, file.path, document.span(place), one))
    return tuple(found)


def _name(one: Mapping[str, Any]) -> str | None:
    metadata = one.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else None
