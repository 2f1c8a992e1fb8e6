"""Server-side apply of a custom resource: merges the file's fields by the schema of the CRD.

A null is a value here. In a mapping, or a list with keys, it removes what the file no longer has;
elsewhere it stays, and the CRD rejects it. A list with keys that loses its last item is removed,
and so is each mapping around it that has nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.defaulting.schemas import resolve_node
from ptcompile.kubernetes.unstructured import as_list, as_mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.kinds import Schema
    from ptcompile.kubernetes.unstructured import FieldPath, Json


REMOVED = object()
"""The result for a value that an apply removes."""


def merge_by_schema(
    schema: Schema, document: str, old: Any, new: Any, path: FieldPath, nulls: list[FieldPath]
) -> Any:
    """Return `new` as it is stored, or `REMOVED`, and append the paths of the remaining nulls to
    `nulls`.
    """
    if schema.get("x-decoded"):
        return new

    default = "default" in schema
    nullable = schema.get("nullable")
    schema, document = resolve_node(schema, document)
    if isinstance(new, Mapping):
        return _merge_mapping(schema, document, old, new, path, nulls)
    if isinstance(new, list):
        has_keys = schema.get("x-kubernetes-list-type") == "map"
        if has_keys and not new and old:
            return REMOVED

        before = {_item_key(schema, item): item for item in as_list(old)} if has_keys else {}
        items = schema.get("items", {})
        return [
            merge_by_schema(
                items, document, before.get(_item_key(schema, item)), item, (*path, index), nulls
            )
            for index, item in enumerate(new)
        ]
    if new is not None or default or nullable:
        return new
    if isinstance(old, Mapping) and old:
        return {}

    if not (isinstance(old, list) and schema.get("x-kubernetes-list-type") == "map"):
        nulls.append(path)
    return None


def _merge_mapping(
    schema: Schema,
    document: str,
    old: Any,
    new: Json,
    path: FieldPath,
    nulls: list[FieldPath],
) -> Any:
    properties = schema.get("properties", {})
    additional = schema.get("additionalProperties")
    before = as_mapping(old)
    merged = {}
    for key, value in new.items():
        child = properties.get(key, additional if isinstance(additional, dict) else None)
        if child is None:
            merged[key] = value
            continue
        inner = merge_by_schema(child, document, before.get(key), value, (*path, key), nulls)
        if inner is not REMOVED:
            merged[key] = inner

    return merged if merged or not new else REMOVED


def _item_key(schema: Schema, item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    properties = schema.get("items", {}).get("properties", {})
    defaults = {
        key: properties.get(key, {}).get("default")
        for key in schema.get("x-kubernetes-list-map-keys", ())
    }
    return repr([item.get(key, default) for key, default in defaults.items()])
