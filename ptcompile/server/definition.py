"""Go to definition: which values name an object or a file, and where that stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Final, NamedTuple

from lsprotocol.types import Location, Position, Range

from ptcompile._internal.paths import get
from ptcompile.diagnostics import Path, Span
from ptcompile.kubernetes.unstructured import as_mappings, nested_map
from ptcompile.registry.queue_systems import NAMES
from ptcompile.server.document import Object, OpenDocument
from ptcompile.source import documents as source

RUNTIMES: Final = ("ClusterTrainingRuntime", "TrainingRuntime")
QUEUES: Final = ("LocalQueue", "Queue")

_BY_TWO: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("configMapKeyRef", "name"): ("ConfigMap",),
    ("configMapRef", "name"): ("ConfigMap",),
    ("configMap", "name"): ("ConfigMap",),
    ("secretKeyRef", "name"): ("Secret",),
    ("secretRef", "name"): ("Secret",),
    ("secret", "name"): ("Secret",),
    ("secret", "secretName"): ("Secret",),
    ("imagePullSecrets", "name"): ("Secret",),
    ("persistentVolumeClaim", "claimName"): ("PersistentVolumeClaim",),
    ("runtimeRef", "name"): RUNTIMES,
    ("spec", "queue"): QUEUES,
    ("spec", "clusterQueue"): ("ClusterQueue",),
    **{place: (kind,) for place, kind in NAMES.items()},
    ("metadata", "namespace"): ("Namespace",),
}
"""By the last two keys of the path, list indexes aside."""

_BY_ONE: Final[dict[str, tuple[str, ...]]] = {
    "serviceAccountName": ("ServiceAccount",),
    "priorityClassName": ("PriorityClass",),
}


class Volume(NamedTuple):
    """A volume that a mount names, and where it is in the document."""

    name: str
    path: Path


def kinds_named(path: Path) -> tuple[str, ...]:
    """The kinds of objects of which the value at a path is a name; none where it is not a name."""
    keys = [part for part in path if isinstance(part, str)]
    if not keys:
        return ()
    by_two = _BY_TWO.get((keys[-2], keys[-1])) if len(keys) > 1 else None
    return by_two if by_two is not None else _BY_ONE.get(keys[-1], ())


def is_mount(path: Path) -> bool:
    """Whether the value at a path is the name of a volume that a container mounts."""
    return len(path) > 2 and path[-1] == "name" and path[-3] in ("volumeMounts", "volumeDevices")


def volumes_for(path: Path, data: Mapping[str, Any]) -> list[Volume]:
    """The volumes that a mount at a path may name: those of the nearest mapping above it that has some.

    In a spec of ours a role mounts the job's volumes too.
    """
    found: list[Volume] = []
    for end in range(len(path) - 3, -1, -1):
        above = get(data, path[:end])
        here = as_mappings(above.get("volumes")) if isinstance(above, Mapping) else []
        listed = (*path[:end], "volumes")
        found += [Volume(str(one["name"]), (*listed, i)) for i, one in enumerate(here) if "name" in one]
        if here and str(data.get("kind")) != "TrainingJob":
            break
    claims = as_mappings(nested_map(data, "spec").get("volumeClaimTemplates"))
    named = [(i, nested_map(one, "metadata").get("name")) for i, one in enumerate(claims)]
    return found + [Volume(str(name), ("spec", "volumeClaimTemplates", i)) for i, name in named if name]


_IN_PROFILE: Final[dict[Path, tuple[str, ...]]] = {
    ("spec", "accelerator"): ("accelerators",),
    ("spec", "fabric"): ("fabrics",),
    ("spec", "queue"): ("defaults", "queue"),
    ("spec", "topology", "required"): ("topology", "levels"),
    ("spec", "topology", "preferred"): ("topology", "levels"),
    ("spec", "priority"): ("priorities",),
}


def in_profile(path: Path) -> tuple[str, ...]:
    """The table of the profile in which the name at a path of a spec is looked up; empty where it is in none."""
    return _IN_PROFILE.get(path, ())


def definition(opened: OpenDocument, position: Position) -> list[Location]:
    """Where what is named at a position is defined; nothing if it is not a name or not in the workspace."""
    offset = opened.lines.offset(position)
    one = opened.object_at(offset)
    found = one.document.path_at(offset) if one is not None else None
    if one is None or found is None:
        return []
    path = found[0][len(one.under) :]
    value = get(one.data, path)
    if not isinstance(value, str):
        return []
    return list(_found(opened, one, path, value))


def _found(opened: OpenDocument, one: Object, path: Path, value: str) -> Iterator[Location]:
    if is_mount(path):
        for volume in volumes_for(path, one.data):
            span = one.document.span((*one.under, *volume.path)) if volume.name == value else None
            if span is not None:
                yield Location(opened.uri, opened.lines.of_span(span))
        return
    for other in opened.defined(kinds_named(path), value):
        if other.span is not None and other.path == opened.path:
            yield Location(opened.uri, opened.lines.of_span(other.span))
        elif other.span is not None:
            yield Location(_uri(other.path), _range(other.span))
    if one.is_spec:
        yield from _in_profile(opened, in_profile(path), value)


def _in_profile(opened: OpenDocument, table: tuple[str, ...], value: str) -> Iterator[Location]:
    """The line of the profile that has a name."""
    settings = opened.settings
    if not table or settings.profile_path is None:
        return
    place: Path = ("spec", *table) if table[-1] == "queue" else ("spec", *table, value)
    for document in source.read(settings.profile_text, settings.profile_path).documents:
        there = get(document.data, place)
        span = document.span(place, on_key=True) if there is not None else None
        if span is not None and (table[-1] != "queue" or there == value):
            yield Location(_uri(settings.profile_path), _range(span))


def _uri(path: str) -> str:
    return FilePath(path).absolute().as_uri()


def _range(span: Span) -> Range:
    """A span of another file, of ASCII as far as names go."""
    return Range(Position(span.line - 1, span.column - 1), Position(span.end_line - 1, span.end_column - 1))
