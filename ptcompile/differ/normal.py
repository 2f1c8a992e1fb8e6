"""The form in which objects are compared: named lists, quantities, masked secrets."""

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

_FIRST: Final = 0x100000
_MOST: Final = 0xFFFD
_MARKED: Final = re.compile(rf"{re.escape(MASK)}[\U00100000-\U0010FFFD]")


class Marks:
    """`***` and a character of its own for each secret: the same for the same, another for another.

    The character is of Unicode's private use and never shown (`shown`).
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, secret: str) -> str:
        """What stands for a secret."""
        return MASK + chr(_FIRST + self._known.setdefault(secret, len(self._known)) % _MOST)


def shown(fact: Fact) -> Fact:
    """A fact about masked sides as people read it."""
    before, after = (side and _MARKED.sub(MASK, side) for side in (fact.before, fact.after))
    return fact._replace(before=before, after=after, masked=(before, after) != (fact.before, fact.after))


def shown_text(text: str) -> str:
    """A text about masked sides as people read it."""
    return _MARKED.sub(MASK, text)


SERVERS_OWN = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "ownerReferences"}
)
"""Fields of an object's metadata that the API server or a controller writes, not the user."""

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_AMOUNTS = frozenset({"requests", "limits", "minResources", "capacity", "overhead", "hard"})
_AMOUNT = frozenset({"sizeLimit", "divisor"})


class Keyed(dict[str, "Any"]):
    """A list whose items have names, as a mapping from name to item, in the order of the list."""


def _by(*fields: str) -> Callable[[Json], str | None]:
    """The first of these fields that an item has."""

    def key(item: Json) -> str | None:
        found = next((item[field] for field in fields if item.get(field) not in (None, "")), None)
        return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None

    return key


def _taint(item: Json) -> str:
    """A toleration is called after the taint that it means."""
    return f"{item.get('key') or '*'}:{item.get('effect') or '*'}"


_NAMES: dict[str, Callable[[Json], str | None]] = {
    **{field: _by(key) for field, key in MERGE_KEYS.items()},
    "ports": _by("name", "containerPort", "port"),
    "volumes": _by("name", "mountPath"),  # a Volcano job's own volumes have a path alone
    "tolerations": _taint,
    "replicatedJobs": _by("name"),
    "tasks": _by("name"),
    "dependsOn": _by("name"),
    "runtimePatches": _by("manager"),
    "matchExpressions": _by("key"),
}


def normal(manifest: Json) -> dict[str, Any]:
    """An object as it is compared. What the server writes (status, uid and their like) is left out; so are nulls."""
    out: dict[str, Any] = _normal({key: value for key, value in manifest.items() if key != "status"}, ())
    metadata = out.get("metadata")
    if isinstance(metadata, dict):
        out["metadata"] = {key: value for key, value in metadata.items() if key not in SERVERS_OWN}
        if isinstance(annotations := metadata.get("annotations"), dict):
            annotations.pop(_LAST_APPLIED, None)
    return out


def _normal(value: Any, path: KeyPath) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _normal(inner, (*path, str(key))) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return _list(list(value), path)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # kubectl sends 4.0 as 4
    if path[-1:] and (path[-1] in _AMOUNT or (path[-2:-1] and path[-2] in _AMOUNTS)):
        return _amount(value)
    return value


def _list(items: list[Any], path: KeyPath) -> Any:
    field = path[-1] if path else ""
    inner = [_normal(item, (*path, "[]")) for item in items]
    if field == "values" and all(isinstance(item, str) for item in inner):
        return sorted(inner)  # of a label requirement: a set
    name = _NAMES.get(field)
    names = [name(item) if isinstance(item, dict) else None for item in inner] if name else [None]
    if None in names:
        return inner
    out, seen = Keyed(), dict[str, int]()
    for key, item in zip(names, inner, strict=True):
        shown = str(key)
        seen[shown] = seen.get(shown, 0) + 1
        out[shown if seen[shown] == 1 else f"{shown}#{seen[shown]}"] = item
    return out


def _amount(value: Any) -> Any:
    """A quantity in the shorter of its two spellings, one for each value: `1Gi` for 1024Mi, `64G` for 64000M."""
    parsed = quantity.parse(value)
    if parsed is None:
        return value
    spellings = [quantity.to_string(Quantity(parsed.nano, form)) for form in ("decimal", "binary")]
    return min(spellings, key=len)


def plain(value: Any) -> Any:
    """The way back: plain data with lists again, to be shown."""
    if isinstance(value, Keyed):
        return [plain(item) for item in value.values()]
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
