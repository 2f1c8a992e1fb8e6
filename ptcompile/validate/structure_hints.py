"""What was probably meant by a field that the schema does not know. Runs only when something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ptcompile.findings.value_fixes import named
from ptcompile.typed import NamedTuple
from ptcompile.validate.structure_fault import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Schema = Mapping[str, Any]

    Fields = Callable[[Schema], Mapping[str, Any]]
    """The fields of a schema node: through references, list items and map values."""


_NO_HINT: Final = "remove it, or check where it belongs"


class Known(NamedTuple):
    """The fields of a schema node that a hint may name."""

    properties: Mapping[str, Any]
    homes: Mapping[str, str]
    """The child, as `containers[]`, that has a field of this name; the first one if several do."""


def known_fields(properties: Mapping[str, Any], fields: Fields) -> Known:
    """Return what hints need of a node. It takes long, so callers keep it: an object may have many unknown fields."""
    homes: dict[str, str] = {}
    for child, schema in properties.items():
        if child != "status":
            shown = f"{child}[]" if "items" in schema else child
            for name in fields(schema):
                homes.setdefault(name, shown)
    return Known(properties, homes)


def bare_unknown_field(key: object) -> Fault:
    """Return the fault for an unknown key, without a hint."""
    fault = Fault("unknown-field", "unknown field")
    fault.path.append(str(key))
    fault.on_key = True
    fault.help = _NO_HINT
    return fault


def unknown_field(key: object, known: Known, there: Mapping[str, Any]) -> Fault:
    """Return the fault for an unknown key, with the best hint that this object and its children give.

    `there` is the object with the key.
    """
    name, properties = str(key), known.properties
    fault = bare_unknown_field(key)
    same = _same_letters(name, properties)
    if same:
        fault.suggestion = same
        fault.help = f'did you mean "{same}"?'
        fault.cure = named(name, same, there)
        return fault
    if name in known.homes:
        fault.help = f"move it into {known.homes[name]}"
        return fault
    close = _close(name, properties)
    fault.suggestion = close
    fault.cure = named(name, close, there)
    fault.help = f'did you mean "{close}"?' if close else _NO_HINT
    return fault


def find_home(faults: Iterable[Fault], properties: Mapping[str, Any], there: Mapping[str, Any]) -> None:
    """Tell the unknown fields among a child's faults that this object knows them: the nearest such object wins.

    `there` is this object.
    """
    for fault in faults:
        if fault.name != "unknown-field" or fault.home is not None or fault.suggestion is not None:
            continue
        key = fault.path[0]
        if key in properties and key != "name":
            fault.home = len(fault.path)
            if key not in there:
                fault.moved = _word_at(there, fault.path)


def _word_at(value: Any, path: list[str | int]) -> str | int | None:
    """The value at a reversed path, if it is a string, a number or a truth value."""
    for part in reversed(path):
        value = value[part]
    return value if isinstance(value, str | int) else None


def wrong_version(key: str, since: str | None, until: str | None, version: str, *, in_crd: bool) -> Fault:
    """The fault for a field that another Kubernetes version knows."""
    whose = f"the schema of this kind, made with Kubernetes {version}" if in_crd else f"Kubernetes {version}"
    when = f"it came with {since}" if since else f"it went after {until}"
    fault = Fault("version-unknown-field", f"unknown field to {whose}: {when}")
    fault.help = "remove it" if in_crd or not since else f"remove it, or use Kubernetes {since} or newer"
    fault.path.append(key)
    fault.on_key = True
    return fault


def _same_letters(name: str, properties: Iterable[str]) -> str | None:
    letters = _letters(name)
    return next((known for known in properties if _letters(known) == letters), None)


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _close(name: str, properties: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # slow to import, and only failures need it

    found = get_close_matches(name, list(properties), n=1, cutoff=0.7)
    return found[0] if found else None
