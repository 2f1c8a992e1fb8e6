"""A structural mistake: its path, its words, and the field that was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import closest
from ptcompile.diagnostics import Edit, Fix, Path, Problem, field_path
from ptcompile.diagnostics.fixes import Cure, fix_key, fix_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.diagnostics.terms import Stage

    Schema = Mapping[str, Any]
    FieldsOf = Callable[[Schema], Mapping[str, Any]]
    """The fields of a schema node: through references, list items and map values."""


class SchemaViolation:
    """One structural mistake. `path` is reversed: each container appends its key on the way to the root."""

    __slots__ = ("cure", "help", "home", "moved", "name", "on_key", "path", "stage", "suggestion", "text")

    def __init__(self, name: str, text: str, help: str | None = None, *, stage: Stage = "apply") -> None:
        self.name = name
        self.text = text
        self.help = help
        self.stage: Stage = stage
        self.path: list[str | int] = []
        self.on_key = False
        self.suggestion: str | None = None
        """Of an unknown field: the field of the same object that was probably meant."""
        self.home: int | None = None
        """Of an unknown field: how many steps up stands an object that knows it."""
        self.cure: Cure | None = None
        self.moved: str | int | None = None
        """Of an unknown field with a home that has not got it: its value, where that is one word."""


Violations = list[SchemaViolation] | None
"""What a check returns: nothing wrong is `None`, so that accepting costs no allocation."""

ValueCheck = Callable[["Any"], Violations]
"""Looks at one value that is not null."""

_TYPES: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}

_QUOTE = {"boolean", "integer", "number"}


def type_name(value: Any) -> str:
    """The JSON name of a value's type."""
    if value is None:
        return "null"
    for kind, name in _TYPES.items():
        if isinstance(value, kind):
            return name
    return "object"


def format_value(value: Any) -> str:
    """A value in a message: JSON, cut when it is long."""
    import json

    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def type_mismatch(expected: str, value: Any) -> SchemaViolation:
    """A value of another type than the field has."""
    got = type_name(value)
    detail = f" ({format_value(value)})" if got in _QUOTE or got == "string" else ""
    fault = SchemaViolation(
        "wrong-type", f"must be of type {expected}, not {got}{detail}", _type_help(expected, got, value)
    )
    fault.cure = fix_type(expected, value)
    return fault


def _type_help(expected: str, got: str, value: Any) -> str:
    if got == "null":
        return "remove the empty item"
    if expected == "string" and got in _QUOTE:
        return f'quote the value: "{format_value(value)}"'
    if expected in {"integer", "int32", "int64", "boolean"} and got == "string":
        return "remove the quotes" if _is_bare(expected, value) else f"write a plain {expected}"
    if expected == "array":
        return "write a list, one item a line, each after a dash"
    return f"write a value of type {expected}"


def _is_bare(expected: str, value: str) -> bool:
    if expected == "boolean":
        return value in {"true", "false"}
    return value.lstrip("-").isdecimal()


def to_problem(fault: SchemaViolation) -> Problem:
    """The fault as a `Problem`, when its path is complete."""
    path: Path = tuple(reversed(fault.path))
    help_text = fault.help
    fix = fault.cure.at(path) if fault.cure else None
    if fault.home is not None:
        home = (*path[: len(path) - fault.home], fault.path[0])
        help_text = f"move it to {field_path(home)}"
        if fault.moved is not None:
            edits = (Edit("set", home, fault.moved), Edit("remove", path))
            fix = Fix(f"move it to {field_path(home)}", edits, safe=False)
    where = field_path(path)
    message = f"{where}: {fault.text}" if where else fault.text
    return Problem(fault.name, path, message, help_text, stage=fault.stage, on_key=fault.on_key, fix=fix)


_NO_HINT: Final = "remove it, or check where it belongs"


class KnownFields(NamedTuple):
    """The fields of a schema node that a hint may name."""

    properties: Mapping[str, Any]
    homes: Mapping[str, str]
    """The child, as `containers[]`, that has a field of this name; the first one if several do."""


def known_fields(properties: Mapping[str, Any], fields: FieldsOf) -> KnownFields:
    """Return what hints need of a node. It takes long, so callers keep it: an object may have many unknown fields."""
    homes: dict[str, str] = {}
    for child, schema in properties.items():
        if child != "status":
            shown = f"{child}[]" if "items" in schema else child
            for name in fields(schema):
                homes.setdefault(name, shown)
    return KnownFields(properties, homes)


def bare_unknown_field(key: object) -> SchemaViolation:
    """Return the fault for an unknown key, without a hint."""
    fault = SchemaViolation("unknown-field", "unknown field")
    fault.path.append(str(key))
    fault.on_key = True
    fault.help = _NO_HINT
    return fault


def unknown_field(key: object, known: KnownFields, there: Mapping[str, Any]) -> SchemaViolation:
    """Return the fault for an unknown key, with the best hint that this object and its children give.

    `there` is the object with the key.
    """
    name, properties = str(key), known.properties
    fault = bare_unknown_field(key)
    same = _same_letters(name, properties)
    if same:
        fault.suggestion = same
        fault.help = f'did you mean "{same}"?'
        fault.cure = fix_key(name, same, there)
        return fault
    if name in known.homes:
        fault.help = f"move it into {known.homes[name]}"
        return fault
    close = closest(name, properties)
    fault.suggestion = close
    fault.cure = fix_key(name, close, there)
    fault.help = f'did you mean "{close}"?' if close else _NO_HINT
    return fault


def find_home(faults: Iterable[SchemaViolation], properties: Mapping[str, Any], there: Mapping[str, Any]) -> None:
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


def wrong_version(key: str, since: str | None, until: str | None, version: str, *, in_crd: bool) -> SchemaViolation:
    """The fault for a field that another Kubernetes version knows."""
    whose = f"the schema of this kind, made with Kubernetes {version}" if in_crd else f"Kubernetes {version}"
    when = f"it came with {since}" if since else f"it went after {until}"
    fault = SchemaViolation("version-unknown-field", f"unknown field to {whose}: {when}")
    fault.help = "remove it" if in_crd or not since else f"remove it, or use Kubernetes {since} or newer"
    fault.path.append(key)
    fault.on_key = True
    return fault


def _same_letters(name: str, properties: Iterable[str]) -> str | None:
    letters = _letters(name)
    return next((known for known in properties if _letters(known) == letters), None)


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
