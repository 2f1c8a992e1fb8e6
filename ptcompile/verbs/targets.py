"""The verb `targets` as a function: what each target can express, and what each release of an operator changed."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.documents.schema_files import load
from ptcompile.operators.all import FEATURES
from ptcompile.operators.record import Feature
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

TABLE: Final = "targets.json"
"""What `Targets.to_dict` gave when the compiler was last changed: the answers of some 250 compilations."""


class Row(NamedTuple):
    """A capability and what each target makes of it, by name."""

    name: str
    cells: Mapping[str, str]


class Targets(NamedTuple):
    """The targets by name with their titles, what each can express, and what releases changed in what is written."""

    titles: dict[str, str]
    capabilities: tuple[Row, ...]
    changes: tuple[Feature, ...]

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
    """Every target, with what it makes of each word of the spec in a cluster with the newest releases.

    Read from a table of the package. `prerequisites.capabilities` makes it by asking the targets.
    """
    table = load(TABLE)
    rows = tuple(Row(name, cells) for name, cells in table["capabilities"].items())
    ordered = sorted(FEATURES.values(), key=lambda change: (change.operator, change.since))
    return Targets(dict(table["targets"]), rows, tuple(ordered))
