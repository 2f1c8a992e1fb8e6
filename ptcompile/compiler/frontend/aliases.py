"""Names that other tools use for spec fields.

`aliases.json` has them by subject; they come from the tools in its `sources`. A note says how to
write the value, with %s for the name. Names are compared without `_`, `-` and letter case, and only
for unknown fields.
"""

from __future__ import annotations

from functools import cache
from itertools import chain

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Alias(NamedTuple):
    """The spec field for another tool's name."""

    field: tuple[str, ...]
    """Path below `spec`; below `podTemplate` it continues in Kubernetes' own fields."""
    note: str = ""
    """How to write the value, if the field takes another form."""

    @property
    def keeps_value(self) -> bool:
        """Whether the value can be moved unchanged."""
        return not self.note


_TABLE = load_table("compiler/frontend/aliases.json")

DOCUMENT: Mapping[str, str] = _TABLE["document"]
"""Names that belong to the document or the cluster rather than to the spec."""


@cache
def _table() -> Mapping[str, Alias]:
    """Return the aliases, keyed by normalized name."""
    aliases: dict[str, Alias] = {}
    for row in chain.from_iterable(_TABLE["spec"].values()):
        field = tuple(row["field"].split("."))

        for name in row["names"]:
            aliases[normalize(name)] = Alias(field, note=row["note"].replace("%s", name))

    return aliases


def find_value(field: str, value: object) -> str | None:
    """Return the value of a field, such as a target, for another tool's name of it, or None."""
    names = _TABLE["values"].get(field, {}) if isinstance(value, str) else {}
    return next(
        (own for own, others in names.items() if normalize(str(value)) in map(normalize, others)),
        None,
    )


def find_alias(name: str) -> Alias | None:
    """Return the spec field for another tool's name, or None."""
    return _table().get(normalize(name))
