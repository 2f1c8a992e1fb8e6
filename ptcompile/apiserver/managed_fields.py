"""Owners of the fields of a live object, and what a server-side apply makes of it.

`metadata.managedFields` lists the fields of each manager as a tree (FieldsV1): `f:NAME` is a field,
`k:{...}` the item of a list with these keys, `v:VALUE` the item of a set, and `.` the field or item
itself. A field without parts is atomic.
Source: kubernetes-sigs/structured-merge-diff v6, merge and fieldpath.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.apiserver.defaulting.built_in import move_string_data
from ptcompile.diagnostics import Path, Problems, problem_at
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_list,
    as_mapping,
    kind_of,
    nested_map,
    nested_maps,
    nested_string,
    without_nulls,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Fields = Json
    """A tree of fields; None in place of one means that no manager has the field."""

APPLIER = "kubectl"
"""The manager of `kubectl apply --server-side`."""
_CLIENT_SIDE_APPLIER = "kubectl-client-side-apply"
"""The manager of `kubectl apply`; a server-side apply takes its fields over."""
_NO_FIELDS: Fields = {}


class Manager(NamedTuple):
    """One entry of `managedFields` for the object itself, not its status."""

    name: str
    version: str
    fields: Fields
    is_own: bool
    """Whether the entry is kubectl's."""


def managers(live: Json) -> tuple[Manager, ...]:
    """Return the managers of a live object; none if its managed fields are not known."""
    found: list[Manager] = []
    for entry in nested_maps(live, "metadata", "managedFields"):
        if entry.get("subresource"):
            continue

        name = nested_string(entry, "manager")
        applies = name == APPLIER and entry.get("operation") == "Apply"
        is_own = applies or name == _CLIENT_SIDE_APPLIER
        fields = nested_map(entry, "fieldsV1")
        found.append(Manager(name, nested_string(entry, "apiVersion"), fields, is_own))

    return tuple(found)


def merge(live: Json, file: Json) -> JsonDict:
    """Return the object that a server-side apply of `file` over `live` stores."""
    entries = managers(live)
    own = united([entry.fields for entry in entries if entry.is_own])
    others = united([entry.fields for entry in entries if not entry.is_own])
    applied = as_stored(file)
    kept = without_removed(live, own, others, applied)
    return with_server_fields(
        live, overlay(kept, applied, united([own, others]) or keyed_fields(live))
    )


def as_stored(file: Json) -> JsonDict:
    """Return a file without nulls, and a Secret's stringData as data: the server does not keep
    either.
    """
    stored: JsonDict = {**without_nulls(file)}
    if kind_of(stored) == ("v1", "Secret"):
        move_string_data(stored)
    return stored


def as_patched(value: Any) -> Any:
    """Return a file without nulls, those in lists too: what a patch of `kubectl apply` leaves of
    it.
    """
    if isinstance(value, Mapping):
        return {key: as_patched(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [as_patched(item) for item in value if item is not None]
    return value


def fields_of(value: Any, fields: Fields) -> JsonDict:
    """Return the tree of the fields that a file has; `fields` tell which lists are merged, and
    by which keys.
    """
    if isinstance(value, Mapping):
        parts = {
            f"f:{key}": fields_of(inner, nested_map(fields, f"f:{key}"))
            for key, inner in value.items()
        }
        return {".": {}, **parts}
    if isinstance(value, list) and _has_items(fields):
        return {
            key: fields_of(item, nested_map(fields, key))
            for item in value
            for key in [_item_key(item, fields)]
        }
    return {}


def null_fields(value: Any) -> JsonDict:
    """Return the tree of the fields that a file sets to null."""
    if not isinstance(value, Mapping):
        return {}
    parts = {f"f:{key}": (inner is None, null_fields(inner)) for key, inner in value.items()}
    return {key: inner for key, (is_null, inner) in parts.items() if is_null or inner}


def keyed_fields(value: Any, field: str = "") -> JsonDict:
    """Return the tree of a live object of a built-in kind, with the items of its lists by the keys
    that kubectl merges them by.
    """
    if isinstance(value, Mapping):
        return {".": {}, **{f"f:{key}": keyed_fields(inner, key) for key, inner in value.items()}}

    key = MERGE_KEYS.get(field)
    if (
        isinstance(value, list)
        and key is not None
        and all(isinstance(item, Mapping) and key in item for item in value)
    ):
        return {".": {}, **{_key_of("k", {key: item[key]}): keyed_fields(item) for item in value}}

    return {}


def _has_items(fields: Fields) -> bool:
    return any(key.startswith(("k:", "v:")) for key in fields)


def with_server_fields(live: Json, merged: Json) -> JsonDict:
    """Return the merged object with the metadata that only the server writes."""
    names = (
        "creationTimestamp",
        "generation",
        "managedFields",
        "namespace",
        "resourceVersion",
        "uid",
    )
    metadata = nested_map(live, "metadata")
    written = {name: metadata[name] for name in names if name in metadata}

    return {**merged, "metadata": {**nested_map(merged, "metadata"), **written}}


def united(trees: Sequence[Fields]) -> Fields:
    """Return the fields of several trees as one."""
    result: JsonDict = {}
    for tree in trees:
        for key, inner in tree.items():
            result[key] = united([result.get(key, _NO_FIELDS), as_mapping(inner)])
    return result


def without_removed(value: Any, own: Fields, others: Fields, file: Any) -> Any:
    """Return a live value without the fields and items that were `own` and are not in the file,
    unless `others` have them too.
    """
    if isinstance(value, Mapping):
        in_file = {f"f:{key}": inner for key, inner in as_mapping(file).items()}
        parts = [(f"f:{key}", key, inner) for key, inner in value.items()]
        return dict(_kept_parts(parts, own, others, in_file))
    if isinstance(value, list) and _has_items(own):
        in_file = {_item_key(item, own): item for item in as_list(file)}
        parts = [(_item_key(item, own), None, item) for item in value]
        return [item for _, item in _kept_parts(parts, own, others, in_file)]
    return value


def _kept_parts(
    parts: Sequence[tuple[str, Any, Any]], own: Fields, others: Fields, in_file: Json
) -> Iterator[tuple[Any, Any]]:
    """Yield the name and the value of each part that stays. `parts` have their key in the trees,
    a name and a value.
    """
    for part, name, inner in parts:
        if part in in_file or not _is_member(own, part) or _is_member(others, part):
            own_inner = nested_map(own, part)
            others_inner = nested_map(others, part)
            yield name, without_removed(inner, own_inner, others_inner, in_file.get(part))


def _is_member(fields: Fields, part: str) -> bool:
    """Return whether a field is in a tree, or an item itself and not only parts of it."""
    return part in fields and (part.startswith("f:") or not fields[part] or "." in fields[part])


def overlay(live: Any, file: Any, fields: Fields | None) -> Any:
    """Return a live value with the file's laid over it. Mappings are merged unless `fields` say
    that they are atomic, and lists only if `fields` name their items.
    """
    if isinstance(live, Mapping) and isinstance(file, Mapping):
        if fields is not None and not fields and live and file:
            return file
        inner_fields = fields or _NO_FIELDS
        merged = {
            key: overlay(live.get(key), value, inner_fields.get(f"f:{key}"))
            for key, value in file.items()
        }
        return {**live, **merged}
    if isinstance(live, list) and isinstance(file, list) and fields and _has_items(fields):
        in_file = {_item_key(item, fields): item for item in file}
        merged_items = [
            overlay(item, in_file.pop(key), fields.get(key)) if key in in_file else item
            for item in live
            for key in [_item_key(item, fields)]
        ]
        return [*merged_items, *in_file.values()]
    return file


_KEY_DEFAULTS = {"protocol": "TCP"}
"""Values of keys that the server fills in."""


def _item_key(item: Any, fields: Fields) -> str:
    """Return the key of a list's item among fields: by the names of keys that the fields use, or
    by its value.
    """
    if not isinstance(item, Mapping):
        return _key_of("v", item)
    names: JsonDict = next((json.loads(key[2:]) for key in fields if key.startswith("k:")), {})
    return _key_of("k", {name: item.get(name, _KEY_DEFAULTS.get(name)) for name in sorted(names)})


def _key_of(prefix: str, value: Any) -> str:
    """Return a part of a tree as the server writes it: `k:{"name":"c"}`."""
    return f"{prefix}:{json.dumps(value, separators=(',', ':'))}"


def conflicts(live: Json, file: Json) -> Problems:
    """Yield the fields that the file changes and that another manager owns: without
    --force-conflicts, the server rejects the apply.
    """
    for manager in managers(live):
        if not manager.is_own:
            for path in _changed_paths(live, file, manager.fields, ()):
                message = f'conflict with "{manager.name}" using {manager.version}'
                help = (
                    "apply with --force-conflicts to take it over, or leave it to "
                    f"{manager.name}: remove it here"
                )
                yield problem_at("field-conflict", path, message, help)


def _changed_paths(live: Any, file: Any, fields: Fields, path: Path) -> Iterator[Path]:
    """Yield the paths of the fields that have another value in the file."""
    if isinstance(live, Mapping) and isinstance(file, Mapping):
        if not fields and live != file and file:
            yield path
        for key, value in file.items():
            inner = fields.get(f"f:{key}")
            if inner is not None and key in live:
                yield from _changed_paths(live[key], value, as_mapping(inner), (*path, key))
    elif isinstance(live, list) and isinstance(file, list) and fields:
        by_key = {_item_key(item, fields): item for item in live}
        for index, item in enumerate(file):
            key = _item_key(item, fields)
            if key in fields and key in by_key:
                yield from _changed_paths(
                    by_key[key], item, as_mapping(fields[key]), (*path, index)
                )
    elif live != file:
        yield path
