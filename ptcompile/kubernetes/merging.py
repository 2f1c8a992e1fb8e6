"""A patch over plain data: how a role of a spec, a pod template and a patch of a manifest are
merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile.kubernetes.pod_spec import OBJECT_KEYS
from ptcompile.kubernetes.unstructured import FieldPath, as_mapping, nested_value, without_keys


def merge(base: Any, patch: Any, key: str | None = None) -> Any:
    """Merge a patch over a value: mappings merge, named lists merge by name, other lists and
    scalars are replaced.

    null removes a key, as in a JSON merge patch. `key` is the field that holds the value.
    Tolerations have no name: a patch's toleration is added unless an equal one exists. A variable
    of a spec is replaced, as its entry of a list is.
    """
    if isinstance(patch, Mapping):
        merged = {k: v for k, v in as_mapping(base).items() if patch.get(k, ...) is not None}
        for k, v in patch.items():
            if v is not None:
                merged[k] = merge(None if key == "env" else merged.get(k), v, k)
        return merged

    if isinstance(base, Sequence) and isinstance(patch, Sequence) and not isinstance(patch, str):
        if key == "tolerations":
            existing = set(map(_hashable, base))
            return [
                *base,
                *(merge(None, item) for item in patch if _hashable(item) not in existing),
            ]
        if key in OBJECT_KEYS:
            return _merge_named(base, patch, OBJECT_KEYS[key])
    if isinstance(patch, list | tuple):
        return [merge(None, item) for item in patch]
    return patch


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
            written = items[position]
            if "valueFrom" in item or "value" in item:
                # an env entry has a value or a source, and the patch's replaces both
                written = without_keys(written, "value", "valueFrom")
            items[position] = merge(written, item)

    return items


def patched_places(
    patch: Any, merged: Any, key: str = ""
) -> Iterator[tuple[FieldPath, FieldPath, bool]]:
    """Yield where each value of a patch is in the merged value, where it is in the patch, and
    whether it is set as a whole: a scalar, a null, a list that replaces another.
    """
    parts: list[tuple[Any, Any]] = []
    if isinstance(patch, Mapping):
        parts = [(name, name) for name in patch]
    elif (
        isinstance(patch, list)
        and isinstance(merged, list)
        and key in {"tolerations", *OBJECT_KEYS}
    ):
        name = OBJECT_KEYS.get(key)
        identities = [_item_name(item, name) if name else _hashable(item) for item in merged]
        patched = [
            _item_name(item, name) if name else _hashable(merge(None, item)) for item in patch
        ]
        parts = [(identities.index(identity), index) for index, identity in enumerate(patched)]

    yield (), (), not parts
    for place, index in parts:
        inside = merged[place] if isinstance(merged, list) else nested_value(merged, place)
        for deeper, written, is_whole in patched_places(patch[index], inside, str(place)):
            yield (place, *deeper), (index, *written), is_whole


def _item_name(item: Any, name: str) -> Any:
    if isinstance(item, Mapping):
        return _hashable(item.get(name))
    return None


def _hashable(value: Any) -> Any:
    """Return plain data as a hashable value that is equal if the data is."""
    if isinstance(value, Mapping):
        return frozenset((key, _hashable(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return value
