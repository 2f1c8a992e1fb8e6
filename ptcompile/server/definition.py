"""Go to definition: from a mount to its volume, from a name to the object or the line of the profile that has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

from lsprotocol.types import Location, Position, Range

from ptcompile.documents import source
from ptcompile.findings.diagnostics import Path, Span
from ptcompile.frontends.lines import value_at
from ptcompile.server.document import Object, Open
from ptcompile.server.references import in_profile, is_mount, kinds_named, volumes_for


def definition(opened: Open, position: Position) -> list[Location]:
    """Where what is named at a position is defined; nothing if it is not a name or not in the workspace."""
    offset = opened.lines.offset(position)
    one = opened.object_at(offset)
    found = one.document.path_at(offset) if one is not None else None
    if one is None or found is None:
        return []
    path = found[0][len(one.under) :]
    value = value_at(path, one.data)
    if not isinstance(value, str):
        return []
    return list(_found(opened, one, path, value))


def _found(opened: Open, one: Object, path: Path, value: str) -> Iterator[Location]:
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


def _in_profile(opened: Open, table: tuple[str, ...], value: str) -> Iterator[Location]:
    """The line of the profile that has a name."""
    settings = opened.settings
    if not table or settings.profile_path is None:
        return
    place: Path = ("spec", *table) if table[-1] == "queue" else ("spec", *table, value)
    for document in source.read(settings.profile_text, settings.profile_path).documents:
        there = value_at(place, document.data)
        span = document.span(place, on_key=True) if there is not None else None
        if span is not None and (table[-1] != "queue" or there == value):
            yield Location(_uri(settings.profile_path), _range(span))


def _uri(path: str) -> str:
    return FilePath(path).absolute().as_uri()


def _range(span: Span) -> Range:
    """A span of another file, of ASCII as far as names go."""
    return Range(Position(span.line - 1, span.column - 1), Position(span.end_line - 1, span.end_column - 1))
