"""The server's view beyond one text: the configuration and the other workspace files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ptcompile.api.options import LintOptions
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.kubernetes.index import DECIDING
from ptcompile.kubernetes.unstructured import Json, nested_value
from ptcompile.source.documents import Source
from ptcompile.source.streams import objects_in

NAMED = DECIDING | {
    "ConfigMap",
    "Secret",
    "PersistentVolumeClaim",
    "ServiceAccount",
    "TrainingRuntime",
    "ClusterTrainingRuntime",
    "Queue",
    "WorkloadPriorityClass",
}
"""Kinds that other manifests refer to by name; go to definition looks for them."""


class FileSettings(NamedTuple):
    """The settings for one file."""

    options: LintOptions = LintOptions()
    profile_path: str | None = None
    profile_text: bytes = b""
    excluded: bool = False
    """Whether the configuration excludes the file."""
    in_folder: bool = False
    """Whether the file is in a folder of the workspace, so that the objects of other files are
    known.
    """
    without_known: Callable[[Sequence[Diagnostic]], Sequence[Diagnostic]] = lambda diagnostics: (
        diagnostics
    )
    """Return the findings that the configured baseline does not cover."""
    error: str = ""
    """Why the configuration or its profile is unusable and the defaults apply instead, or ""."""


class WorkspaceFile(NamedTuple):
    """A workspace file, as saved or as edited."""

    path: str
    content: str | bytes


class Surroundings(Protocol):
    """Interface to the configuration and the files on disk."""

    def settings(self, path: str) -> FileSettings:
        """Return the settings for a file."""

    def files(self) -> Sequence[WorkspaceFile]:
        """Return the workspace files that contain an object of a `NAMED` kind."""

    def earlier_files(self, path: str) -> Sequence[WorkspaceFile]:
        """Return the files that `lint` reads before a file of the same folder."""

    def changed(self) -> None:
        """Reload after a change on disk."""


class NamedObject(NamedTuple):
    """An object of some file, and the span of its name."""

    kind: str
    name: str
    path: str
    span: Span | None
    data: Json


def named_objects(parsed: Source, filename: str) -> tuple[NamedObject, ...]:
    """Return the objects of `NAMED` kinds in a file that has been read."""
    objects: list[NamedObject] = []
    for document in parsed.documents:
        for path, manifest in objects_in(document.data):
            name = nested_value(manifest, "metadata", "name")
            if str(manifest.get("kind")) in NAMED and isinstance(name, str):
                name_path = (*path, "metadata", "name")
                objects.append(
                    NamedObject(
                        str(manifest["kind"]), name, filename, document.span(name_path), manifest
                    )
                )

    return tuple(objects)
