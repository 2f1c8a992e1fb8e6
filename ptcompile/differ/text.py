"""Differences as text for a terminal: for each object, a table of its pods' differences and its
manifest changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import pluralize
from ptcompile.differ.model import Change, Compared, Fact, KeyPath, ObjectDifference
from ptcompile.report.layout import join_escaped, table, with_label
from ptcompile.source.secrets.names import MASK

SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": "~"}


def render_text(difference: Compared) -> str:
    """Return the differing objects as text, with the number of equal ones at the end."""
    shown = difference.shown
    if not shown:
        return join_escaped(["no difference"])

    lines = [" -> ".join(difference.names)]
    for obj in shown:
        lines += ["", *_object_lines(obj, difference.names)]
    same = len(difference.objects) - len(shown)
    if same:
        lines += ["", f"{pluralize(same, 'other object')} the same"]

    return join_escaped(lines)


def object_title(difference: ObjectDifference, names: tuple[str, str]) -> str:
    """Return `Job/train`, `Job/train -> JobSet/train`, or the only side that has the object."""
    old_side, new_side = names
    if difference.after is None:
        return f"{difference.before}: only in {old_side}"
    if difference.before is None:
        return f"{difference.after}: only in {new_side}"
    if difference.before == difference.after:
        return difference.before
    return f"{difference.before} -> {difference.after}"


def _object_lines(difference: ObjectDifference, names: tuple[str, str]) -> Iterator[str]:
    yield object_title(difference, names)
    if difference.apply:
        yield f"  apply: {difference.apply}"
    yield from with_label("same", [", ".join(difference.same)] if difference.same else [])
    for subject in dict.fromkeys(fact.subject for fact in difference.facts):
        yield f"  {subject}"
        yield from table(
            [_fact_row(fact) for fact in difference.facts if fact.subject == subject], "    "
        )

    if difference.changes:
        yield "  manifest"
        yield from (f"    {change_line(change)}" for change in difference.changes)
    if difference.note:
        yield f"  {difference.note}"


def _fact_row(fact: Fact) -> list[str]:
    return [fact.what, *change_cells(fact.before, fact.after)]


def change_cells(before: str | None, after: str | None) -> list[str]:
    """Return a change as two table cells: its sign and its values."""
    if before is None:
        return ["+", after or ""]
    if after is None:
        return ["-", before]
    return [
        "~",
        f"{before or quoted_empty()} -> {after or quoted_empty()}{hidden_suffix(before, after)}",
    ]


def quoted_empty() -> str:
    """Return the display form of an empty string."""
    return '""'


def hidden_suffix(before: str, after: str) -> str:
    """Return a note if two different values look alike because both are masked."""
    return "  (values hidden)" if before == after and MASK in before else ""


def change_line(change: Change) -> str:
    """Return one changed path as a line, such as `~ spec.nodes: 2 -> 4`."""
    sign = SIGNS[change.kind]
    path = format_key_path(change.path)
    if change.kind == "moved":
        return (
            f"{sign} {path}: order changed: {', '.join(change.before)} -> {', '.join(change.after)}"
        )

    before = format_value(change.before)
    after = format_value(change.after)
    if change.kind == "changed":
        return f"{sign} {path}: {before} -> {after}{hidden_suffix(before, after)}"

    return f"{sign} {path}: {after if change.kind == 'added' else before}"


def format_key_path(path: KeyPath) -> str:
    """Return a path such as `spec.containers[pytorch].env[DEBUG]`; keys with special characters
    are in brackets.
    """
    out = ""
    for part in path:
        if part.startswith("["):
            out += part
        elif part.replace("_", "").replace("-", "").isalnum():
            out += f".{part}" if out else part
        else:
            out += f"[{part}]"
    return out


def format_value(data: Any) -> str:
    """Return a value on one line, as JSON unless it is plain text."""
    if isinstance(data, str) and data and data == data.strip():
        return data
    return json.dumps(data, ensure_ascii=False)
