"""Plain data of unknown shape: each function returns what Go would decode, or the zero value, and
never raises.

`get` and `has` read the value at a path, by keys of mappings and indexes of lists.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

Json = Mapping[str, Any]
"""A Kubernetes object, a spec, or a part of one, as plain data. Never changed in place."""
JsonDict = dict[str, Any]
"""The same while it is made."""
FieldPath = tuple[str | int, ...]
"""Keys and indexes that lead to a value."""

GENERATED = "abcde"
"""A placeholder for the five random characters that the API server appends to
`metadata.generateName`.
"""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps the file that it applied last."""

_NOTHING: Json = {}
_INT64 = 2**63
_ONLY_DICTS = {dict}
_ONLY_STRINGS = {str}


def as_mapping(value: Any) -> Json:
    """Return the value if it is a mapping, else an empty one."""
    # nearly always a dict, otherwise None; isinstance with an ABC takes ten times as long
    if type(value) is dict:
        return value
    if value is not None and isinstance(value, Mapping):
        return value
    return _NOTHING


def nested_map(value: Any, *keys: str) -> Json:
    """Return the mapping under these keys, or an empty one."""
    value = nested_value(value, *keys)
    return value if type(value) is dict else as_mapping(value)


def nested_value(value: Any, *keys: str) -> Any:
    """Return the value under these keys, or None."""
    for key in keys:
        value = value.get(key) if type(value) is dict else as_mapping(value).get(key)
        if value is None:
            return None
    return value


def nested_maps(value: Any, *keys: str) -> list[Json]:
    """Return the mappings of the list under these keys, see `as_mappings`."""
    return as_mappings(nested_value(value, *keys))


def as_mappings(value: Any) -> list[Json]:
    """Return the mappings of a list; a null item becomes an empty one, as in Go, and other items
    are dropped.
    """
    if type(value) is list and {*map(type, value)} == _ONLY_DICTS:  # nearly always
        return value.copy()
    if not value or not isinstance(value, list | tuple):
        return []
    return [as_mapping(item) for item in value if item is None or isinstance(item, Mapping)]


def as_list(value: Any) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_string(value: Any, default: str = "") -> str:
    """Return the value if it is a string, else the default."""
    return value if isinstance(value, str) else default


def nested_string(value: Any, *keys: str) -> str:
    """Return the string under these keys, or an empty one."""
    value = nested_value(value, *keys)
    return value if isinstance(value, str) else ""


def as_text(value: Any) -> str:
    """Return a string, or an integer as the text that was meant; empty for anything else."""
    return str(value) if type(value) is int else as_string(value)


def as_strings(value: Any) -> list[str]:
    """Return the strings of a list; null becomes an empty string, as in Go, and other items are
    dropped.
    """
    if type(value) is list and {*map(type, value)} == _ONLY_STRINGS:  # nearly always
        return value.copy()
    if not value or not isinstance(value, list | tuple):
        return []
    return [item or "" for item in value if item is None or isinstance(item, str)]


def nested_strings(value: Any, *keys: str) -> list[str]:
    """Return the strings of the list under these keys, see `as_strings`."""
    return as_strings(nested_value(value, *keys))


def as_int(value: Any, default: int = 0) -> int:
    """Return the value if it is an integer, clamped to 64 bits, else the default. Booleans do
    not count as integers.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        return default
    return max(-_INT64, min(value, _INT64 - 1))


def nested_int(value: Any, *keys: str, default: int = 0) -> int:
    """Return the integer under these keys, see `as_int`."""
    return as_int(nested_value(value, *keys), default)


def string_map(value: Any) -> dict[str, str]:
    """Return the string values of a mapping; null becomes an empty string, and other values are
    dropped.
    """
    return {
        str(k): v or "" for k, v in as_mapping(value).items() if v is None or isinstance(v, str)
    }


def nested_string_map(value: Any, *keys: str) -> dict[str, str]:
    """Return the string values of the mapping under these keys, see `string_map`."""
    return string_map(nested_value(value, *keys))


def entries_of(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the keys and values of a mapping, or the indices and items of a list; nothing of
    anything else.
    """
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(as_list(value))


def placed_values(data: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield plain data at a path and all values within it, each after its path, in their order."""
    stack = [(path, data)]
    while stack:
        path, value = stack.pop()
        yield path, value
        if not isinstance(value, str):
            entries = enumerate(value) if isinstance(value, tuple) else entries_of(value)
            stack += reversed([((*path, key), inner) for key, inner in entries])


def values_in(data: Any) -> Iterator[Any]:
    """Yield plain data and all values within it, in their order."""
    # not from placed_values: its paths would take as long again
    stack = [data]
    while stack:
        value = stack.pop()
        yield value
        if isinstance(value, Mapping):
            stack += reversed(list(value.values()))
        elif isinstance(value, list | tuple):
            stack += reversed(value)


def with_leaves(data: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of plain data with `change` applied to what is neither mapping nor list."""
    if isinstance(data, Mapping):
        return {key: with_leaves(value, change) for key, value in data.items()}
    if isinstance(data, list):
        return [with_leaves(value, change) for value in data]
    return change(data)


def without_keys(fields: Mapping[str, T], *keys: str | int) -> dict[str, T]:
    """Return the entries of a mapping that have none of these keys."""
    return {key: value for key, value in fields.items() if key not in keys}


def without_path(data: Any, path: Sequence[str | int], kept: Collection[str] = ()) -> Any:
    """Return a copy of the data without the value at `path`, or the data itself if there is no such
    value.

    Blocks that become empty are removed too, but those of a `kept` name.
    """
    if not path or not isinstance(data, Mapping):
        return data
    key, *rest = path
    if key not in data:
        return data

    inner = without_path(data[key], rest, kept)
    is_emptied = inner == {} and data[key] != {}
    if not rest or (is_emptied and key not in kept):
        return without_keys(data, key)
    return {**data, key: inner}


def without_none(fields: Mapping[Any, T | None]) -> dict[Any, T]:
    """Return the entries of a mapping that have a value."""
    return {key: value for key, value in fields.items() if value is not None}


def without_falsy(fields: Mapping[Any, T]) -> dict[Any, T]:
    """Return the entries of a mapping whose values are neither unset, empty, zero nor false."""
    return {key: value for key, value in fields.items() if value}


def object_name(manifest: Json) -> str:
    """Return `metadata.name`, or `metadata.generateName` followed by `GENERATED`, or an empty
    string.
    """
    metadata = nested_map(manifest, "metadata")
    prefix = as_string(metadata.get("generateName"))
    return as_string(metadata.get("name")) or (prefix and prefix + GENERATED)


def namespace_of(manifest: Json) -> str:
    """Return `metadata.namespace`, or `default`."""
    return nested_string(manifest, "metadata", "namespace") or "default"


class ObjectKind(NamedTuple):
    """`apiVersion` and `kind` of an object."""

    api_version: str
    name: str


def kind_of(manifest: Json) -> ObjectKind:
    """Return `apiVersion` and `kind`."""
    api_version = as_string(manifest.get("apiVersion"))
    return ObjectKind(api_version, as_string(manifest.get("kind")))


def api_group(api_version: str) -> str:
    """Return the API group of an apiVersion: `batch` of `batch/v1`, "" of `v1`."""
    return api_version.rpartition("/")[0]


def may_mention(manifest: Json, text: str) -> bool:
    """Return whether a key or a value may contain `text`, which must be ASCII. `marshal` writes
    strings unescaped, and ten times as fast as a walk finds them.
    """
    try:
        return text.encode() in marshal.dumps(dict(manifest))
    except ValueError:  # nested deeper than any reader allows, or not plain data
        return True


def without_nulls(value: Any) -> Any:
    """Return the value without null entries of mappings, which the server drops before a webhook
    sees them.

    Null items of lists stay. If nothing changes, the same object is returned.
    """
    return _drop_nulls(value) if _has_null(value) else value


def _has_null(value: Any) -> bool:
    stack = [value]
    while stack:
        node = stack.pop()
        if type(node) is dict:
            for item in node.values():
                value_type = type(item)
                if value_type is str:
                    continue
                if item is None:
                    return True
                if value_type is dict or value_type is list:
                    stack.append(item)
        elif type(node) is list:
            stack += [item for item in node if type(item) is not str]

    return False


def _drop_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _drop_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_drop_nulls(v) for v in value]
    return value


Missing = type("Missing", (), {"__slots__": (), "__repr__": lambda _self: "MISSING"})
MISSING = Missing()
"""The result for an absent value where None is a value."""


def get(data: Any, path: Iterable[str | int], default: Any = None) -> Any:
    """Return the value at a path, or the default if the path does not exist in the data."""
    for part in path:
        if isinstance(data, Mapping):
            if part not in data:
                return default
        elif (
            not isinstance(data, list | tuple)
            or not isinstance(part, int)
            or not 0 <= part < len(data)
        ):
            return default

        data = data[part]

    return data


def has(data: Any, path: Iterable[str | int]) -> bool:
    """Return whether a value exists at a path, null included."""
    return get(data, path, MISSING) is not MISSING


_COLLECTIONS = (list, tuple, Mapping)
_LEAVES = frozenset({int, bool, float, type(None)})


def texts_of(data: Any) -> frozenset[str]:
    """Return all keys and texts of plain data, each once."""
    texts: set[Any] = set()
    collections = [data]
    while collections:
        collection = collections.pop()
        if type(collection) is dict or (
            type(collection) is not list and isinstance(collection, Mapping)
        ):
            texts.update(collection)
            collection = collection.values()

        for item in collection:
            kind = type(item)
            if kind is str:
                texts.add(item)
            elif (
                kind is dict
                or kind is list
                or (kind not in _LEAVES and isinstance(item, _COLLECTIONS))
            ):
                collections.append(item)
            elif isinstance(item, str):
                texts.add(item)

    return frozenset([item for item in texts if isinstance(item, str)])
