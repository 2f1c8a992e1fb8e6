"""Comments of a manifest, carried over to the fields of the spec that express what they are
about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.compiler.frontend.parts import POD_FIELDS
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.source.documents import Document, Source

_MAX_COMMENTS = 200
"""Maximum number of comments that are carried over from one document."""
_OWN_COMMENT = "ptcompile:"
"""Start of a comment about findings in the manifest, which the spec does not have."""
_TABLE = load_table("importer/fields.json")
_SPEC_FIELDS = {
    row.field: row.spec_field for row in POD_FIELDS if row.holder != "metadata"
} | _TABLE["renamed"]
"""Spec fields by the manifest's fields that they express under the same or another name."""


class Remarks(NamedTuple):
    """A manifest's comments: those of fields, by their spec path, and those that belong to none."""

    by_path: Mapping[Path, str]
    others: tuple[str, ...]


def carry_remarks(source: Source, document: Document, path: Path, spec: Json) -> Remarks:
    """Return the comments of the object at `path` of a document, for the spec that it was imported
    as.

    A comment about something that is no field of the spec goes to the nearest field around it, or
    else above the spec.
    """
    places = _places_by_name(spec)
    by_path: dict[Path, str] = {}
    others: list[str] = []
    for about, text in _comments(source, document):
        if about[: len(path)] != path:
            continue
        place = _place(document.data, about, places)
        if place is None:
            others.append(text)
        else:
            by_path[place] = f"{by_path[place]}\n{text}" if place in by_path else text

    return Remarks(by_path, tuple(others))


def _comments(source: Source, document: Document) -> Iterator[tuple[Path, str]]:
    """Yield each comment of a document with the path of its line, or of the next line if it has
    a line of its own.
    """
    # the lines before the first --- belong to the first document
    offset = document.start() if document.index else 0
    has_comments = "#" in source.text[offset : document.end()] and not source.is_json
    if not has_comments or document.positions() is None:
        return

    waiting: list[str] = []
    remaining = _MAX_COMMENTS
    for line in source.text[offset : document.end()].split("\n"):
        hash_sign = _comment_start(document, line, offset)
        text = line[hash_sign + 1 :].strip() if hash_sign >= 0 else ""
        content = line[:hash_sign] if hash_sign >= 0 else line
        code = content.lstrip(" -")
        if text and not text.startswith(_OWN_COMMENT):
            waiting.append(text)
            remaining -= 1
        if code.strip() and waiting:
            where = document.path_at(offset + len(content) - len(code))
            yield from ((where[0] if where else (), remark) for remark in waiting)
            waiting = []
        if remaining <= 0:
            break

        offset += len(line) + 1

    yield from (((), remark) for remark in waiting)


def _comment_start(document: Document, line: str, offset: int) -> int:
    """Return the index at which a comment begins on a line at this offset, or -1."""
    start = line.find("#")
    while start >= 0 and (
        (start and not line[start - 1].isspace())
        or document.scalar_start(offset + start) is not None
    ):
        start = line.find("#", start + 1)
    return start


def _places_by_name(spec: Json) -> dict[str, Path]:
    """Return the path of the first field of each name, in the spec's order."""
    places: dict[str, Path] = {}

    def visit(block: Json, path: Path) -> None:
        for name, value in block.items():
            places.setdefault(str(name), (*path, name))
            if isinstance(value, Mapping):
                visit(value, (*path, name))

    visit(spec.get("metadata", {}), ("metadata",))
    visit(spec.get("spec", {}), ("spec",))

    return places


def _place(data: Any, about: Path, places: Mapping[str, Path]) -> Path | None:
    """Return the spec path for a comment about a path of the manifest, or None."""
    while about:
        for name in _names(data, about):
            if name in places:
                return places[name]
        about = about[:-1]
    return None


def _names(data: Any, about: Path) -> Iterator[str]:
    """Yield the names under which the spec may have what is at a path: a variable's, a field's."""
    last = about[-1]
    if isinstance(last, int):
        value = data
        for part in about:
            value = value[part]
        if about[-2:-1] == ("env",) and isinstance(value, Mapping):
            yield str(value.get("name"))
    elif last in _TABLE["start"]:
        yield from _TABLE["start"]
    elif last not in _TABLE["generic"] or about[-2:] == ("metadata", "name"):
        yield _SPEC_FIELDS.get(last, last)
