"""What server-side apply makes of a custom resource: the file's fields, merged by the schema of the CRD.

A null is a value to it: of a mapping, or of a list with keys, it takes away what the file no longer has; anywhere else
it stays, and the CRD refuses it. A list with keys that loses its last item goes.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = Mapping[str, Any]

NullPaths = list[tuple[str | int, ...]]


def merge_by_schema(
    schema: Schema, document: str, old: Any, new: Any, path: tuple[str | int, ...], nulls: NullPaths
) -> Any:
    """`new` as it is stored; the paths of nulls that stay are added to `nulls`."""
    if schema.get("x-decoded"):
        return new
    default, nullable = "default" in schema, schema.get("nullable")
    while "$ref" in schema:
        document, name = resolve(document, schema["$ref"])
        schema = load(document)["$defs"][name]
    if isinstance(new, Mapping):
        return _mapping(schema, document, old, new, path, nulls)
    if isinstance(new, list):
        keyed = schema.get("x-kubernetes-list-type") == "map"
        if keyed and not new and old:
            return None
        before = {_key(schema, one): one for one in old} if keyed and isinstance(old, list) else {}
        items = schema.get("items", {})
        return [
            merge_by_schema(items, document, before.get(_key(schema, one)), one, (*path, index), nulls)
            for index, one in enumerate(new)
        ]
    if new is not None or default or nullable:
        return new
    if isinstance(old, Mapping) and old is not None:
        return {}
    if not (isinstance(old, list) and schema.get("x-kubernetes-list-type") == "map"):
        nulls.append(path)
    return None


def _mapping(
    schema: Schema, document: str, old: Any, new: Mapping[str, Any], path: tuple[str | int, ...], nulls: NullPaths
) -> dict[str, Any]:
    properties, other = schema.get("properties", {}), schema.get("additionalProperties")
    before = old if isinstance(old, Mapping) else {}
    out = {}
    for key, value in new.items():
        child = properties.get(key, other if isinstance(other, dict) else None)
        if child is None:
            out[key] = value
            continue
        out[key] = merge_by_schema(child, document, before.get(key), value, (*path, key), nulls)
    return out


def _key(schema: Schema, item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    return repr([item.get(key) for key in schema.get("x-kubernetes-list-map-keys", ())])
