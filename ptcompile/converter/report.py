"""The table of a conversion of several files: what moved, what stayed and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic
from ptcompile.kinds.model import Kind
from ptcompile.kubernetes.unstructured import Json, kind_of, object_name
from ptcompile.operators.table import kinds_with

_MAX_REASON = 200
"""Number of characters after which a reason is cut."""
_JOBS = kinds_with(Kind.read)


class ConvertedFile(NamedTuple):
    """One file and its conversion."""

    name: str
    objects: Sequence[Json]
    """The objects of the file before the conversion."""
    manifests: Sequence[Json]
    """Those after it; empty if an error remains."""
    diagnostics: Sequence[Diagnostic]


class _Row(NamedTuple):
    file: str
    object: str
    outcome: str
    reasons: Sequence[str] = ()


def to_markdown(files: Sequence[ConvertedFile], target: str) -> str:
    """Return the report as Markdown: a summary and a row for each object."""
    rows = [row for file in files for row in _rows(file)]
    jobs = [row for row in rows if row.outcome in {"moved", "stayed"}]
    moved = sum(row.outcome == "moved" for row in jobs)
    lines = [
        f"# Conversion to {target}",
        "",
        f"{moved} of {len(jobs)} jobs moved",
        "",
        "| File | Object | Result | Why |",
        "|---|---|---|---|",
        *(
            f"| {_cell(row.file)} | {_cell(row.object)} | {row.outcome} | {'<br>'.join(map(_cell, row.reasons))} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


def _rows(file: ConvertedFile) -> Iterator[_Row]:
    errors = [item for item in file.diagnostics if item.severity == "error"]
    warnings = [item for item in file.diagnostics if item.severity == "warning"]
    if not file.objects:
        yield _Row(file.name, "", "unread", _reasons(errors, None))
    for data in file.objects:
        title = f"{data.get('kind')}/{object_name(data)}"
        if kind_of(data) in _JOBS:
            failed = _reasons(errors, title) or ([] if file.manifests else _reasons(errors, None))
            yield _Row(file.name, title, "stayed" if failed else "moved", failed or _reasons(warnings, title))
        elif not file.manifests:
            yield _Row(file.name, title, "stayed" if errors else "unchanged", _reasons(errors, title))
        else:
            yield _Row(file.name, title, _outcome(data, file.manifests))


def _outcome(data: Json, manifests: Sequence[Json]) -> str:
    """Return what happened to an object that is not a job."""
    same = [item for item in manifests if (kind_of(item), object_name(item)) == (kind_of(data), object_name(data))]
    if not same:
        return "left out"
    return "unchanged" if data in same else "changed"


def _reasons(diagnostics: Sequence[Diagnostic], title: str | None) -> list[str]:
    """Return the messages about an object, or all of them, without the words that all have."""
    messages = [item.message for item in diagnostics if title is None or item.resource == title]
    return [_shorten(text) for text in dict.fromkeys(messages)]


def _shorten(text: str) -> str:
    for prefix in ("spec: ", "in the spec that it imports to: "):
        text = text.removeprefix(prefix)
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON].rpartition(' ')[0]} ..."


def _cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
