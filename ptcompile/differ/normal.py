"""Normal form of objects for comparison: lists of named items, quantities, masked secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ptcompile.differ.model import Fact, KeyPath
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.source.secrets.names import MASK
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


hidden = without_secrets

_FIRST_MARK: Final = 0x100000
_MARK_COUNT: Final = 0xFFFD
_MARKED: Final = re.compile(rf"{re.escape(MASK)}[\U00100000-\U0010FFFD]")


class Marks:
    """Masks for secrets: `***` and a character per secret, so equal secrets stay equal and different ones differ.

    The character is from Unicode's private use area and never shown (see `without_marks`).
    """

    def __init__(self) -> None:
        self._indexes: dict[str, int] = {}

    def __call__(self, secret: str) -> str:
        """Return the mask of a secret."""
        return MASK + chr(_FIRST_MARK + self._indexes.setdefault(secret, len(self._indexes)) % _MARK_COUNT)


def without_marks(fact: Fact) -> Fact:
    """Return a fact about masked sides for display, with plain `***`."""
    before, after = (side and _MARKED.sub(MASK, side) for side in (fact.before, fact.after))
    return fact._replace(before=before, after=after, masked=(before, after) != (fact.before, fact.after))


def strip_marks(text: str) -> str:
    """Return a text about masked sides for display, with plain `***`."""
    return _MARKED.sub(MASK, text)


SERVER_METADATA = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "ownerReferences"}
)
"""Metadata fields that the API server or a controller writes, not the user."""

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_QUANTITY_MAPPINGS = frozenset({"requests", "limits", "minResources", "capacity", "overhead", "podFixed", "hard"})
_QUANTITY_FIELDS = frozenset({"sizeLimit", "divisor"})


class Keyed(dict[str, "Any"]):
    """A list of named items as a mapping from name to item, in the list's order."""


def _key_by(*fields: str) -> Callable[[Json], str | None]:
    """Return a function that names an item by the first of these fields it has."""

    def key(item: Json) -> str | None:
        value = next((item[field] for field in fields if item.get(field) not in (None, "")), None)
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None

    return key


def _taint_name(item: Json) -> str:
    """Name a toleration after the taint it tolerates."""
    return f"{item.get('key') or '*'}:{item.get('effect') or '*'}"


_ITEM_NAMES: dict[str, Callable[[Json], str | None]] = {
    **{field: _key_by(key) for field, key in MERGE_KEYS.items()},
    "ports": _key_by("name", "containerPort", "port"),
    "volumes": _key_by("name", "mountPath"),  # a Volcano job's own volumes have a path alone
    "tolerations": _taint_name,
    "replicatedJobs": _key_by("name"),
    "tasks": _key_by("name"),
    "dependsOn": _key_by("name"),
    "runtimePatches": _key_by("manager"),
    "matchExpressions": _key_by("key"),
}


def normalize(manifest: Json) -> dict[str, Any]:
    """Return an object in normal form, without nulls and without what the server writes (status, uid and the like)."""
    out: dict[str, Any] = _normalize({key: value for key, value in manifest.items() if key != "status"}, ())
    metadata = out.get("metadata")
    if isinstance(metadata, dict):
        out["metadata"] = {key: value for key, value in metadata.items() if key not in SERVER_METADATA}
        if isinstance(annotations := metadata.get("annotations"), dict):
            annotations.pop(_LAST_APPLIED, None)
    return out


def _normalize(value: Any, path: KeyPath) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _normalize(inner, (*path, str(key))) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return _normalize_list(list(value), path)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # kubectl sends 4.0 as 4
    if path[-1:] and (path[-1] in _QUANTITY_FIELDS or (path[-2:-1] and path[-2] in _QUANTITY_MAPPINGS)):
        return _normalize_quantity(value)
    return value


def _normalize_list(items: list[Any], path: KeyPath) -> Any:
    field = path[-1] if path else ""
    inner = [_normalize(item, (*path, "[]")) for item in items]
    if field == "values" and all(isinstance(item, str) for item in inner):
        return sorted(inner)  # a label requirement's values are a set
    name = _ITEM_NAMES.get(field)
    names = [name(item) if isinstance(item, dict) else None for item in inner] if name else [None]
    if None in names:
        return inner
    out, counts = Keyed(), dict[str, int]()
    for key, item in zip(names, inner, strict=True):
        label = str(key)
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
    return [to_plain_data(item) for item in value] if isinstance(value, list) else value
