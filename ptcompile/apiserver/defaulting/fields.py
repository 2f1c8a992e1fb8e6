"""Access to the fields of an object that defaulting changes in place. Values of a wrong type are
left to validation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy

from ptcompile.kubernetes.unstructured import Json, JsonDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    ObjectFields = JsonDict


def child(parent: ObjectFields, key: str) -> ObjectFields:
    """Return the mapping under a key, or an empty one that belongs to no object."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def new_child(parent: ObjectFields, key: str) -> ObjectFields:
    """Return the mapping under a key, and create it if the key is absent."""
    if parent.get(key) is None:
        parent[key] = {}
    return child(parent, key)


def children(parent: ObjectFields, key: str) -> list[ObjectFields]:
    """Return the mappings of the list under a key."""
    value = parent.get(key)
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    return []


def fill_absent(fields: ObjectFields, **values: Any) -> None:
    """Set absent fields. This is Go's default of a pointer, of which an empty value is a value."""
    for key, value in values.items():
        if fields.get(key) is None:
            fields[key] = value


def fill_empty(fields: ObjectFields, **values: Any) -> None:
    """Set absent fields and empty strings. This is Go's default of a plain field."""
    for key, value in values.items():
        if fields.get(key) in (None, ""):
            fields[key] = value


def fill_places(parent: ObjectFields, rows: Iterable[Json]) -> None:
    """Set defaults as rows of a table say: at which place, and the fields that are absent or
    empty there.
    """
    for row in rows:
        for place in _places(parent, row["at"].split(".") if row["at"] else []):
            fill_absent(place, **deepcopy(row.get("absent", {})))
            fill_empty(place, **row.get("empty", {}))


def _places(parent: ObjectFields, steps: list[str]) -> Iterator[ObjectFields]:
    """Yield the objects at a place. A `!` after a key creates an absent object, a `?` passes over
    an empty one, and `[]` is each object of a list.
    """
    if not steps:
        yield parent
        return

    step, *rest = steps
    key = step.rstrip("!?[]")
    if step.endswith("[]"):
        objects = children(parent, key)
    elif step.endswith("!"):
        objects = [new_child(parent, key)]
    else:
        objects = [child(parent, key)]

    for item in objects:
        if item or not step.endswith("?"):
            yield from _places(item, rest)
