"""The form of an object after Go has decoded and encoded it, as a mutating webhook does.

A field that Go always writes appears with its zero value: a container without a name gets `name:
""`, which satisfies a schema that only requires the field. A null list item becomes an empty object
or string. Only fields that affect a schema check are listed: those that are required and always
written (Kubernetes 1.36 core/v1 types in go_shapes.json, JobSet 0.12, Volcano 1.16, Trainer 2.3).
Unknown fields and values of a wrong type are left unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.unstructured import JsonDict, without_nulls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    FieldShapes = JsonDict
    """Shape of each field: a dict of fields, a list of one shape, `STRINGS`, or under `ZERO` the
    fields always written.
    """


ZERO = ""
"""Key of a shape's zero values that Go always writes. No field has an empty name."""

STRINGS = "strings"
"""Shape of a list of strings."""


def as_go_reads(spec: Any, shape: FieldShapes, loose: FieldShapes, *, complete: bool) -> Any:
    """Return a spec as a webhook decodes it: without nulls, and with the values that Go adds.

    With `complete`, only `loose` is applied: the part of `shape` that neither the schema nor
    `structure.is_complete` requires. If the result is complete by that function, the rest of
    `shape` would have changed nothing.
    """
    if complete and as_go_writes(spec, loose) is spec:
        return spec
    return as_go_writes(without_nulls(spec), shape)


def as_go_writes(value: Any, shape: Any) -> Any:
    """Return the value with the null items and missing fields that Go fills in, or the same object
    if nothing changes.
    """
    if isinstance(shape, list):
        return _items_as_go_writes(value, shape[0])
    if shape == STRINGS:
        if isinstance(value, list) and None in value:
            return [v if v is not None else "" for v in value]
        return value
    if not isinstance(value, dict):
        return value

    # only keys of both matter, so the shorter mapping is walked
    changed: JsonDict | None = None
    for key in value if len(value) < len(shape) else shape:
        old = value.get(key)
        inner = shape.get(key)
        if type(old) is str or old is None or not inner or key == ZERO:
            continue
        new = as_go_writes(old, inner)
        if new is not old:
            changed = changed or {**value}
            changed[key] = new

    for key, zero in shape.get(ZERO, {}).items():
        if value.get(key) is None:
            changed = changed or {**value}
            changed[key] = (
                as_go_writes(zero, shape[key]) if isinstance(zero, dict) and key in shape else zero
            )

    return changed or value


def _items_as_go_writes(value: Any, shape: Any) -> Any:
    if not isinstance(value, list):
        return value
    changed: list[Any] | None = None
    for index, item in enumerate(value):
        new = as_go_writes({} if item is None else item, shape)
        if new is not item:
            changed = changed or [*value]
            changed[index] = new
    return changed or value


def _resolve_names(shape: Any, known: Mapping[str, FieldShapes]) -> Any:
    """Return a shape with the named ones in it, such as `<container>`, in place of their names."""
    if isinstance(shape, dict):
        return {
            key: inner if key == ZERO else _resolve_names(inner, known)
            for key, inner in shape.items()
        }
    if isinstance(shape, list):
        return [_resolve_names(inner, known) for inner in shape]
    return known.get(shape, shape)


def read_shapes(name: str, known: Mapping[str, FieldShapes]) -> dict[str, FieldShapes]:
    """Return the shapes of a table by their names in angle brackets; each may name earlier ones,
    and the known ones.
    """
    shapes = {**known}
    for key, written in load_table(name)["shapes"].items():
        shapes[f"<{key}>"] = _resolve_names(written, shapes)
    return shapes


SHAPES = read_shapes("apiserver/go_shapes.json", {})
POD_SPEC = SHAPES["<podSpec>"]
POD_TEMPLATE = SHAPES["<podTemplate>"]
