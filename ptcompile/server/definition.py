"""Go to definition: which values name an object or a file, and where that is defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

from lsprotocol.types import Location, Position, Range

from ptcompile._internal.schema_files import load_table
from ptcompile.api.inputs import Item
from ptcompile.diagnostics import Path, Span
from ptcompile.kubernetes.unstructured import Json, get, nested_maps, nested_value
from ptcompile.operators.queues.queue_systems import QUEUE_OBJECT_KINDS
from ptcompile.server.document import OpenDocument
from ptcompile.source import documents as source

_TABLE = load_table("server/references.json")
_KINDS: Mapping[str, Sequence[str]] = {
    **_TABLE["kinds"],
    **{".".join(keys): (kind,) for keys, kind in QUEUE_OBJECT_KINDS.items()},
}
"""Referenced kinds, by the last one or two keys of the path (list indexes ignored)."""


class Volume(NamedTuple):
    """A volume that a mount may name, with its path in the document."""

    name: str
    path: Path


def referenced_kinds(path: Path) -> tuple[str, ...]:
    """Return the kinds that the value at a path may refer to, or () if the value is not an
    object's name.
    """
    keys = [part for part in path if isinstance(part, str)]
    if not keys:
        return ()
    return tuple(_KINDS.get(".".join(keys[-2:])) or _KINDS.get(keys[-1], ()))


def is_mount(path: Path) -> bool:
    """Return whether the value at a path names a volume that a container mounts."""
    return len(path) > 2 and path[-1] == "name" and path[-3] in ("volumeMounts", "volumeDevices")


def volumes_for(path: Path, data: Json) -> list[Volume]:
    """Return the volumes that a mount may name: those of the nearest mapping above it that defines
    volumes.

    In a TrainingJob, a role also mounts the job's volumes.
    """
    volumes: list[Volume] = []
    for end in range(len(path) - 3, -1, -1):
        entries = nested_maps(get(data, path[:end]), "volumes")
        list_path = (*path[:end], "volumes")
        volumes += [
            Volume(str(entry["name"]), (*list_path, i))
            for i, entry in enumerate(entries)
            if "name" in entry
        ]
        if entries and str(data.get("kind")) != "TrainingJob":
            break

    claims = nested_maps(data, "spec", "volumeClaimTemplates")
    named = [(i, nested_value(entry, "metadata", "name")) for i, entry in enumerate(claims)]

    return volumes + [
        Volume(str(name), ("spec", "volumeClaimTemplates", i)) for i, name in named if name
    ]


def profile_table(path: Path) -> tuple[str, ...]:
    """Return the keys of the profile's table that defines the name at a spec path, or () if no
    table does.
    """
    return tuple(_TABLE["profile_tables"].get(".".join(map(str, path)), ()))


def definition(opened: OpenDocument, position: Position) -> list[Location]:
    """Return the locations that define the name at a position, or [] if there are none in the
    workspace.
    """
    offset = opened.lines.offset(position)
    obj = opened.object_at(offset)
    location = obj.document.path_at(offset) if obj is not None else None
    if obj is None or location is None:
        return []

    whole_path, _ = location
    path = whole_path[len(obj.path) :]
    value = get(obj.manifest, path)
    if not isinstance(value, str):
        return []

    return list(_locations(opened, obj, path, value))


def _locations(opened: OpenDocument, obj: Item, path: Path, value: str) -> Iterator[Location]:
    """Yield where the name at a path is defined: a volume, an object or a name of the profile."""
    if is_mount(path):
        for volume in volumes_for(path, obj.manifest):
            span = obj.document.span((*obj.path, *volume.path)) if volume.name == value else None
            if span is not None:
                yield Location(opened.uri, opened.lines.of_span(span))
        return

    for definition_object in opened.objects_named(referenced_kinds(path), value):
        if definition_object.span is not None and definition_object.path == opened.path:
            yield Location(opened.uri, opened.lines.of_span(definition_object.span))
        elif definition_object.span is not None:
            yield Location(_uri(definition_object.path), _range(definition_object.span))

    if obj.is_spec:
        yield from _profile_locations(opened, profile_table(path), value)


def _profile_locations(
    opened: OpenDocument, table: tuple[str, ...], value: str
) -> Iterator[Location]:
    """Yield the profile's line that defines a name."""
    settings = opened.settings
    if not table or settings.profile_path is None:
        return
    path = ("spec", *table) if table[-1] == "queue" else ("spec", *table, value)
    for document in source.read(settings.profile_text, settings.profile_path).documents:
        value_there = get(document.data, path)
        span = document.span(path, on_key=True) if value_there is not None else None
        if span is not None and (table[-1] != "queue" or value_there == value):
            yield Location(_uri(settings.profile_path), _range(span))


def _uri(path: str) -> str:
    return FilePath(path).absolute().as_uri()


def _range(span: Span) -> Range:
    """Return the range of a span in another file, assuming that its lines are ASCII."""
    return Range(
        Position(span.line - 1, span.column - 1), Position(span.end_line - 1, span.end_column - 1)
    )
