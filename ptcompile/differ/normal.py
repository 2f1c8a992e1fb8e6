"""Normal form of objects for comparison: lists of named items, quantities, masked secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.differ.model import Fact, KeyPath
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import LAST_APPLIED, Json, JsonDict, without_keys
from ptcompile.source.secrets.names import MASK
from ptcompile.source.secrets.scanner import without_secrets

hidden = without_secrets

_FIRST_MARK = 0x100000
_MARK_COUNT = 0xFFFD
_MARKED = re.compile(rf"{re.escape(MASK)}[\U00100000-\U0010FFFD]")


class Marks:
    """Masks for secrets: `***` and a character per secret, so equal secrets stay equal and
    different ones differ.

    The character is from Unicode's private use area and never shown (see `without_marks`).
    """

    def __init__(self) -> None:
        self._indexes: dict[str, int] = {}

    def __call__(self, secret: str) -> str:
        """Return the mask of a secret."""
        return MASK + chr(
            _FIRST_MARK + self._indexes.setdefault(secret, len(self._indexes)) % _MARK_COUNT
        )


def without_marks(fact: Fact) -> Fact:
    """Return a fact with plain `***` in place of the marks that tell masked values apart."""
    before, after = (side and _MARKED.sub(MASK, side) for side in (fact.before, fact.after))
    return fact._replace(
        before=before, after=after, masked=(before, after) != (fact.before, fact.after)
    )


def strip_marks(text: str) -> str:
    """Return a text about masked sides for display, with plain `***`."""
    return _MARKED.sub(MASK, text)


_TABLE = load_table("differ/normal.json")
_QUANTITY_MAPPINGS = frozenset(_TABLE["quantityMaps"])


class Keyed(dict[str, "Any"]):
    """A list of named items as a mapping from name to item, in the list's order."""


def _key_by(*fields: str) -> Callable[[Json], str | None]:
    """Return a function that names an item by the first of these fields it has."""

    def key(item: Json) -> str | None:
        for field in fields:
            if item.get(field) not in (None, ""):
                value = unfold(item[field], ())
                is_name = isinstance(value, str | int) and not isinstance(value, bool)
                return str(value) if is_name else None
        return None

    return key


def _taint_name(item: Json) -> str:
    """Name a toleration after the taint it tolerates."""
    key, effect = (unfold(item.get(field), ()) for field in ("key", "effect"))
    return f"{key or '*'}:{effect or '*'}"


_ITEM_NAMES = {
    **{field: _key_by(key) for field, key in MERGE_KEYS.items()},
    **{field: _key_by(*keys) for field, keys in _TABLE["items"].items()},
    "tolerations": _taint_name,
}


def normalize(manifest: Json) -> JsonDict:
    """Return an object in normal form, without nulls and without what the server writes (status,
    uid and the like).
    """
    out: JsonDict = normalize_value(without_server_fields(manifest), ())
    return out


def without_server_fields(manifest: Json) -> JsonDict:
    """Return an object without what the server writes; the fields that stay are not in normal
    form.
    """
    out = without_keys(manifest, "status")
    metadata = out.get("metadata")
    if isinstance(metadata, Mapping):
        out["metadata"] = kept = without_keys(metadata, *_TABLE["server"])
        if isinstance(annotations := metadata.get("annotations"), Mapping):
            kept["annotations"] = without_keys(annotations, LAST_APPLIED)
    return out


def normalize_value(value: Any, path: KeyPath) -> Any:
    """Return the value at a path of an object in normal form."""
    value = unfold(value, path)
    if isinstance(value, Keyed):
        return Keyed({name: normalize_value(item, (*path, "[]")) for name, item in value.items()})
    if isinstance(value, dict):
        return {key: normalize_value(inner, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [normalize_value(item, (*path, "[]")) for item in value]
    return value


def unfold(value: Any, path: KeyPath) -> Any:
    """Return the value at a path of an object in normal form, with the values inside it
    unchanged.
    """
    # most values are strings, and stay
    if not isinstance(value, str):
        if isinstance(value, list | tuple):
            return _unfold_list(value, path[-1] if path else "")
        if isinstance(value, Mapping):
            return {str(key): inner for key, inner in value.items() if inner is not None}
    if isinstance(value, float) and value.is_integer():
        # kubectl sends 4.0 as 4
        value = int(value)
    if path[-1:] and (
        path[-1] in _TABLE["quantities"] or (path[-2:-1] and path[-2] in _QUANTITY_MAPPINGS)
    ):
        return _normalize_quantity(value)
    return value


class NormalFields(Mapping[str, "Any"]):
    """The fields of an object in normal form, each computed when it is first read."""

    def __init__(self, value: Json, path: KeyPath = ()) -> None:
        self._fields: JsonDict = unfold(value, path)
        self._path = path
        self._read: JsonDict = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._read:
            path = (*self._path, "[]" if isinstance(self._fields, Keyed) else key)
            value = self._fields[key]
            is_nested = isinstance(unfold(value, path), dict)
            self._read[key] = (
                NormalFields(value, path) if is_nested else normalize_value(value, path)
            )
        return self._read[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def _unfold_list(items: Sequence[Any], field: str) -> Any:
    if field == "values" and all(isinstance(item, str) for item in items):
        # a label requirement's values are a set
        return sorted(items)

    name = _ITEM_NAMES.get(field)
    if name is None:
        return list(items)

    out = Keyed()
    counts = dict[str, int]()
    for item in items:
        label = name(item) if isinstance(item, Mapping) else None
        if label is None:
            return list(items)
        counts[label] = counts.get(label, 0) + 1
        out[label if counts[label] == 1 else f"{label}#{counts[label]}"] = item

    return out


def _normalize_quantity(value: Any) -> Any:
    """Return a quantity in its shorter canonical form: `1Gi` for 1024Mi, `64G` for 64000M."""
    parsed = quantity.parse(value)
    if parsed is None:
        return value
    spellings = [quantity.to_string(Quantity(parsed.nano, form)) for form in ("decimal", "binary")]
    return min(spellings, key=len)


def to_plain_data(value: Any) -> Any:
    """Return plain data for display, with named items as lists again."""
    if isinstance(value, Keyed):
        return [to_plain_data(item) for item in value.values()]
    if isinstance(value, dict):
        return {key: to_plain_data(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [to_plain_data(item) for item in value]
    return value
