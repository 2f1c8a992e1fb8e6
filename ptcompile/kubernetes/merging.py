"""A patch over plain data: how a role of a spec, a pod template and a patch of a manifest are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile.kubernetes.pod_spec import OBJECT_KEYS
from ptcompile.kubernetes.unstructured import Json, without_keys


def merge(base: Any, patch: Any, key: str | None = None) -> Any:
    """Merge a patch over a value: mappings merge, named lists merge by name, other lists and scalars are replaced.

    null removes a key, as in a JSON merge patch. `key` is the field that holds the value. Tolerations have no name: a
    patch's toleration is added unless an equal one exists.
    """
    if isinstance(patch, Mapping):
        base = base if isinstance(base, Mapping) else {}
        merged = {k: v for k, v in base.items() if patch.get(k, ...) is not None}
        for k, v in patch.items():
            if v is not None:
                merged[k] = merge(merged.get(k), v, k)
        return merged
    if isinstance(base, Sequence) and isinstance(patch, Sequence) and not isinstance(patch, str):
        if key == "tolerations":
            existing = set(map(_hashable, base))
            return [*base, *(merge(None, item) for item in patch if _hashable(item) not in existing)]
        if key in OBJECT_KEYS:
            return _merge_named(base, patch, OBJECT_KEYS[key])
    return [merge(None, item) for item in patch] if isinstance(patch, list | tuple) else patch


def _merge_named(base: Sequence[Any], patch: Sequence[Any], name: str) -> list[Any]:
    items = list(base)
    positions: dict[Any, int] = {}
    for i, old in enumerate(items):
        positions.setdefault(_item_name(old, name), i)
    for item in patch:
        key = _item_name(item, name)
        position = positions.get(key) if key is not None else None
        if position is None:
            positions.setdefault(key, len(items))
            items.append(merge(None, item))
        else:
            sourced = "valueFrom" in item or "value" in item
            items[position] = merge(_without_source(items[position]) if sourced else items[position], item)
    return items


def _item_name(item: Any, name: str) -> Any:
    return _hashable(item.get(name)) if isinstance(item, Mapping) else None


def _hashable(value: Any) -> Any:
    """Return plain data as a hashable value that is equal if the data is."""
    if isinstance(value, Mapping):
        return frozenset((key, _hashable(inner)) for key, inner in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _without_source(entry: Json) -> Json:
    """Return an env entry without value and source: it has one or the other, and the patch's replaces both."""
    return without_keys(entry, "value", "valueFrom")
