"""Reading plain data of unknown shape: each function gives what Go decodes, or its zero value, and never raises."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Mapping[str, Any]
    """A Kubernetes object or a part of one, as plain data. Never changed in place."""


GENERATED = "abcde"
"""Stands for the five random characters that the API server puts behind `metadata.generateName`."""

_NOTHING: Json = {}
_INT64 = 2**63


def as_mapping(value: Any) -> Json:
    """The value when it is a mapping, else an empty one."""
    if type(value) is dict:  # what it nearly always is, and None else: a tenth of the time of an ABC's question
        return value
    return value if value is not None and isinstance(value, Mapping) else _NOTHING


def nested_map(value: Any, *keys: str) -> Json:
    """The mapping under these keys, or an empty one."""
    for key in keys:
        value = value.get(key) if type(value) is dict else as_mapping(value).get(key)
        if value is None:
            return _NOTHING
    return value if type(value) is dict else as_mapping(value)


def as_mappings(value: Any) -> list[Json]:
    """The mappings of a list; a null item is an empty one, as Go decodes it, and other items are left out."""
    if not value or not isinstance(value, list | tuple):
        return []
    return [
        one if type(one) is dict else as_mapping(one)
        for one in value
        if type(one) is dict or one is None or isinstance(one, Mapping)
    ]


def as_string(value: Any, default: str = "") -> str:
    """The value when it is a string, else the default."""
    return value if isinstance(value, str) else default


def as_strings(value: Any) -> list[str]:
    """The strings of a list; null is an empty string, as Go decodes it, and other items are left out."""
    if not value or not isinstance(value, list | tuple):
        return []
    return [item or "" for item in value if type(item) is str or item is None or isinstance(item, str)]


def as_int(value: Any, default: int = 0) -> int:
    """The value when it is a whole number, else the default. Booleans are no numbers, and 64 bits are the most."""
    if not isinstance(value, int) or isinstance(value, bool):
        return default
    return value if -_INT64 <= value < _INT64 else _INT64 - 1 if value > 0 else -_INT64


def string_map(value: Any) -> dict[str, str]:
    """The string values of a mapping; null is an empty string, and other values are left out."""
    return {str(k): v or "" for k, v in as_mapping(value).items() if v is None or isinstance(v, str)}


def object_name(manifest: Json) -> str:
    """`metadata.name`, or `metadata.generateName` with `GENERATED` behind it, or an empty string."""
    metadata = nested_map(manifest, "metadata")
    name = as_string(metadata.get("name"))
    prefix = as_string(metadata.get("generateName"))
    return name or (prefix and prefix + GENERATED)


def namespace_of(manifest: Json) -> str:
    """`metadata.namespace`, or `default`."""
    return as_string(nested_map(manifest, "metadata").get("namespace")) or "default"


def kind_of(manifest: Json) -> tuple[str, str]:
    """`apiVersion` and `kind`."""
    return as_string(manifest.get("apiVersion")), as_string(manifest.get("kind"))


def without_nulls(value: Any) -> Any:
    """The value without the null entries of mappings, which the server drops before a webhook looks.

    Null items of lists stay. The same object comes back where nothing changes.
    """
    return _dropped(value) if _has_null(value) else value


def _has_null(value: Any) -> bool:
    stack = [value]
    while stack:
        one = stack.pop()
        if type(one) is dict:
            for item in one.values():
                kind = type(item)
                if kind is str:
                    continue
                if item is None:
                    return True
                if kind is dict or kind is list:
                    stack.append(item)
        elif type(one) is list:
            stack += [item for item in one if type(item) is not str]
    return False


def _dropped(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _dropped(v) for k, v in value.items() if v is not None}
    return [_dropped(v) for v in value] if isinstance(value, list) else value
