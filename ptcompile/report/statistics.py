"""Numbers of findings: by rule, by folder and by a label of the objects, as text, JSON
or Markdown.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal.about import page_address
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.secret_formats import mask_formats
from ptcompile.diagnostics import Diagnostic
from ptcompile.report.ci import html_code, rule_link, table
from ptcompile.report.layout import format_json, safe_text

LABEL = "label:"
"""Beginning of a grouping by a label: `label:acme.dev/team`."""
GROUPINGS = ("rule", "folder", f"{LABEL}KEY")


class Row(NamedTuple):
    """The findings of one group."""

    group: tuple[str, ...]
    """A value for each grouping: `PTC801 latest-image`, a folder, or the value of a label."""
    errors: int
    warnings: int
    notes: int
    fixable: bool
    """Whether an automatic fix exists for some of the findings."""

    @property
    def total(self) -> int:
        """The number of findings."""
        return self.errors + self.warnings + self.notes


def statistics(diagnostics: Sequence[Diagnostic], groupings: Sequence[str]) -> list[Row]:
    """Return a row for each group of findings, the largest first."""
    counts: dict[tuple[str, ...], Counter[str]] = {}
    fixable: set[tuple[str, ...]] = set()
    for diagnostic in diagnostics:
        group = tuple(_value(diagnostic, grouping) for grouping in groupings)
        counts.setdefault(group, Counter())[diagnostic.severity] += 1
        if diagnostic.fix is not None:
            fixable.add(group)

    rows = [
        Row(group, n["error"], n["warning"], n["note"], group in fixable)
        for group, n in counts.items()
    ]

    return sorted(rows, key=lambda row: (-row.total, row.group))


def _value(diagnostic: Diagnostic, grouping: str) -> str:
    """Return the value of a finding by which it is grouped."""
    if grouping == "rule":
        return f"{diagnostic.code} {diagnostic.name}"
    if grouping == "folder":
        place = diagnostic.template or diagnostic.filename or "<input>"
        return posixpath.dirname(place.replace("\\", "/").removeprefix("./")) or "."
    return dict(diagnostic.labels).get(grouping.removeprefix(LABEL), "")


def as_text(rows: Sequence[Row], _groupings: Sequence[str]) -> str:
    """Return a line for each row."""
    width = len(str(max((row.total for row in rows), default=0)))
    groups = [[*map(_shown_value, row.group)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*groups, strict=True)]
    return "".join(
        f"{row.total:>{width}}  {_align_cells(group, widths)}{' [fixable]' if row.fixable else ''}\n"
        for row, group in zip(rows, groups, strict=True)
    )


def _align_cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    *first, last = cells
    return "  ".join(
        [*(f"{cell:<{width}}" for cell, width in zip(first, widths, strict=False)), last]
    )


def _shown_value(value: str) -> str:
    return safe_text(value) or "(none)"


def as_json(rows: Sequence[Row], groupings: Sequence[str]) -> str:
    """Return a list with an object for each row: its groups, and its findings by severity."""
    return format_json(
        [
            {
                **{
                    name: mask_formats(value)
                    for name, value in zip(groupings, row.group, strict=True)
                },
                "findings": row.total,
                "errors": row.errors,
                "warnings": row.warnings,
                "notes": row.notes,
                "fixable": row.fixable,
            }
            for row in rows
        ]
    )


def as_markdown(rows: Sequence[Row], groupings: Sequence[str]) -> str:
    """Return a table, or nothing without findings."""
    if not rows:
        return ""

    heads = [
        html_code(grouping.removeprefix(LABEL))
        if grouping.startswith(LABEL)
        else grouping.capitalize()
        for grouping in groupings
    ]

    return table(
        [*heads, "Errors", "Warnings", "Notes"],
        (
            [
                *(_cell(*pair) for pair in zip(groupings, row.group, strict=True)),
                str(row.errors),
                str(row.warnings),
                str(row.notes),
            ]
            for row in rows
        ),
    )


def _cell(grouping: str, value: str) -> str:
    if grouping != "rule":
        return html_code(value or "(none)")

    code, _, name = value.partition(" ")
    return rule_link(code, name, page_address(code) if code.startswith("PTC") else None)


FORMS: Mapping[str, Callable[[Sequence[Row], Sequence[str]], str]] = {
    "full": as_text,
    "concise": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
"""The form of the statistics in each format that has one."""
