"""The table of a conversion of several files: what moved, what stayed and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic
from ptcompile.kinds.model import Kind
from ptcompile.kubernetes.selectors import ALL, Chosen
from ptcompile.kubernetes.unstructured import Json, kind_of, object_name
from ptcompile.linter.unrendered import placeholders_of
from ptcompile.operators.table import JOB_KINDS, kinds_with

_MAX_REASON = 200
"""Number of characters after which a reason is cut."""
_JOBS = kinds_with(Kind.read)
_UNRENDERED = "not rendered yet: "
_of_spec = re.compile(
    r"^(?:in the spec that it imports to|a spec cannot express it): (?:spec\.(?:[\w.\[\]-]*\.)?)?"
    r"|^spec\.(?=gangScheduler:)"
)
"""The path in a spec, which the user of a manifest has never seen, up to its last key."""


class ConvertedFile(NamedTuple):
    """One file and its conversion."""

    name: str
    objects: Sequence[Json]
    """The objects of the file before the conversion."""
    manifests: Sequence[Json]
    """Those after it; empty if an error remains."""
    diagnostics: Sequence[Diagnostic]
    chosen: Chosen = ALL
    """Which jobs were to be converted."""


class _Row(NamedTuple):
    file: str
    object: str
    outcome: str
    reasons: Sequence[str] = ()
    is_job: bool = False


def to_markdown(files: Sequence[ConvertedFile], target: str) -> str:
    """Return the report as Markdown: a summary and a row for each object."""
    rows = [row for file in files for row in _rows(file)]
    jobs = [row for row in rows if row.is_job]
    moved = sum(row.outcome == "moved" for row in jobs)
    causes: dict[str, list[str]] = {}
    for row in jobs:
        if row.outcome != "stayed":
            continue

        for reason in row.reasons:
            causes.setdefault(reason.partition(_UNRENDERED)[1] or reason, []).append(
                f"{row.object} in {row.file}"
            )

    lines = [
        f"# Conversion to {target}",
        "",
        f"{moved} of {len(jobs)} jobs moved",
        "",
        *(
            f"- {_cell(cause.rstrip(': '))}: {_cell(', '.join(objects))}"
            for cause, objects in sorted(causes.items(), key=lambda item: -len(item[1]))
        ),
        *([""] if causes else []),
        "| File | Object | Result | Why |",
        "|---|---|---|---|",
        *(
            f"| {_cell(row.file)} | {_cell(row.object)} | {row.outcome} | "
            f"{'<br>'.join(map(_cell, row.reasons))} |"
            for row in rows
        ),
    ]

    return "\n".join(lines) + "\n"


def _rows(file: ConvertedFile) -> Iterator[_Row]:
    """Yield a row for each object of a file: moved, stayed, unchanged or unread."""
    errors = [item for item in file.diagnostics if item.severity == "error"]
    warnings = [item for item in file.diagnostics if item.severity == "warning"]
    if not file.objects:
        yield _Row(file.name, "", "unread", _reasons(errors, None))
    for data in file.objects:
        title = f"{data.get('kind')}/{object_name(data)}"
        if not file.chosen.includes(data) and kind_of(data) in JOB_KINDS:
            yield _Row(file.name, title, "unchanged")
        elif kind_of(data) in _JOBS:
            failed = _reasons(errors, title) or ([] if file.manifests else _reasons(errors, None))
            placeholders = placeholders_of(data) if failed else []
            if placeholders:
                failed = [_UNRENDERED + ", ".join(placeholders)]
            outcome = "stayed" if failed else "moved"
            yield _Row(file.name, title, outcome, failed or _reasons(warnings, title), is_job=True)
        elif not file.manifests:
            reasons = _reasons(errors, title)
            is_job = kind_of(data) in JOB_KINDS or bool(
                reasons and kind_of(data).name.endswith("Job")
            )
            yield _Row(file.name, title, "stayed" if errors else "unchanged", reasons, is_job)
        else:
            yield _Row(file.name, title, _outcome(data, file.manifests))


def _outcome(data: Json, manifests: Sequence[Json]) -> str:
    """Return what happened to an object that is not a job."""
    same = [
        item
        for item in manifests
        if (kind_of(item), object_name(item)) == (kind_of(data), object_name(data))
    ]
    if not same:
        return "left out"
    return "unchanged" if data in same else "changed"


def _reasons(diagnostics: Sequence[Diagnostic], title: str | None) -> list[str]:
    """Return the messages about an object, or all of them, without the words that all have."""
    messages = [item.message for item in diagnostics if title is None or item.resource == title]
    return [_shorten(text) for text in dict.fromkeys(messages)]


def _shorten(text: str) -> str:
    text = _of_spec.sub("", text.removeprefix("spec: "))
    if len(text) <= _MAX_REASON:
        return text
    return f"{text[:_MAX_REASON].rpartition(' ')[0]} ..."


def _cell(text: str) -> str:
    """Return a text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
