"""A difference for a terminal: each object, its world in a table, its manifest path by path."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ptcompile.differ.model import Change, Compared, Fact, KeyPath, ObjectDifference
from ptcompile.report.layout import join_printable, shorten, table, with_label
from ptcompile.source.secrets.names import MASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WIDTH = 120
"""Characters of a value that are shown; the JSON form has all."""

SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": "~"}


def text(difference: Compared) -> str:
    """Every object that differs; the others as a number at the end."""
    if not difference.differs:
        return join_printable(["no difference"])
    lines = [f"{difference.names[0]} -> {difference.names[1]}"]
    for one in difference.objects:
        if one.differs:
            lines += ["", *_object(one, difference.names)]
    same = sum(not one.differs for one in difference.objects)
    if same:
        lines += ["", f"{same} other object{'' if same == 1 else 's'} the same"]
    return join_printable(lines)


def title(one: ObjectDifference, names: tuple[str, str]) -> str:
    """`Job/train`, `Job/train -> JobSet/train`, or which side alone has it."""
    if one.before is None or one.after is None:
        return f"{one.before or one.after}: only in {names[0] if one.after is None else names[1]}"
    return one.before if one.before == one.after else f"{one.before} -> {one.after}"


def _object(one: ObjectDifference, names: tuple[str, str]) -> Iterator[str]:
    yield title(one, names)
    if one.apply:
        yield f"  apply: {one.apply}"
    yield from with_label("same", [", ".join(one.same)] if one.same else [])
    for subject in dict.fromkeys(fact.subject for fact in one.facts):
        yield f"  {subject}"
        yield from table([_row(fact) for fact in one.facts if fact.subject == subject], "    ")
    if one.changes:
        yield "  manifest"
        yield from (f"    {change_line(change)}" for change in one.changes)
    if one.note:
        yield f"  {one.note}"


def _row(fact: Fact) -> list[str]:
    before, after = (None if side is None else shorten(side, WIDTH) for side in (fact.before, fact.after))
    return [fact.what, *arrow(before, after)]


def arrow(before: str | None, after: str | None) -> list[str]:
    """Both sides as two cells: a sign, and what to say behind it."""
    if before is None:
        return ["+", after or ""]
    if after is None:
        return ["-", before]
    return ["~", f"{before or quoted_empty()} -> {after or quoted_empty()}{hidden(before, after)}"]


def quoted_empty() -> str:
    """How an empty text is shown."""
    return '""'


def hidden(before: str, after: str) -> str:
    """Why both sides of a difference look alike."""
    return "  (values hidden)" if before == after and MASK in before else ""


def change_line(change: Change) -> str:
    """`~ spec.nodes: 2 -> 4` for one place of a manifest."""
    sign, where = SIGNS[change.kind], place(change.path)
    if change.kind == "moved":
        return f"{sign} {where}: order changed: {', '.join(change.before)} -> {', '.join(change.after)}"
    before, after = value(change.before), value(change.after)
    if change.kind == "changed":
        return f"{sign} {where}: {before} -> {after}{hidden(before, after)}"
    return f"{sign} {where}: {after if change.kind == 'added' else before}"


def place(path: KeyPath) -> str:
    """`spec.containers[pytorch].env[DEBUG]`; a key that is not a plain word stands in brackets."""
    out = ""
    for part in path:
        if part.startswith("["):
            out += part
        elif part.replace("_", "").replace("-", "").isalnum():
            out += f".{part}" if out else part
        else:
            out += f"[{part}]"
    return out


def value(data: Any) -> str:
    """A value in one line, as JSON where it is not plain text."""
    if isinstance(data, str) and data and data == data.strip():
        return shorten(data, WIDTH)
    return shorten(json.dumps(data, ensure_ascii=False), WIDTH)
