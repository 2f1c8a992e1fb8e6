"""The verb `targets` as a function: what each target can express, and what each release of an operator changed."""

from __future__ import annotations

from typing import Any, NamedTuple

from ptcompile.operators.common.changes import Change, changes
from ptcompile.operators.targets import every_target
from ptcompile.prerequisites.capabilities import Row, capabilities


class Targets(NamedTuple):
    """The targets by name with their titles, what each can express, and what releases changed in what is written."""

    titles: dict[str, str]
    capabilities: tuple[Row, ...]
    changes: tuple[Change, ...]

    def text(self) -> str:
        """The targets and the table of what they can express, for people."""
        head = "".join(f"{name:<12} {title}\n" for name, title in self.titles.items())
        rows = [("", *self.titles), *((row.name, *row.cells.values()) for row in self.capabilities)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
        return head + "\n" + "".join(f"{line.rstrip()}\n" for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """The same as data: titles by target, and the table by capability."""
        return {"targets": self.titles, "capabilities": {row.name: dict(row.cells) for row in self.capabilities}}


def targets() -> Targets:
    """Every target, asked what it makes of each word of the spec in a cluster with the newest releases.

    Some 250 small specs are compiled for that, in about a second.
    """
    ordered = sorted(changes().values(), key=lambda change: (change.operator, change.since))
    return Targets({one.name: one.title for one in every_target()}, capabilities(), tuple(ordered))
