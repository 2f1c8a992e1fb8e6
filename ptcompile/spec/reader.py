"""A document read by its JSON Schema: its value, or its faults.

The pydantic models are what Python callers construct, what the schemas in `schemas/` are generated from, and the
reference for this reader: `tests/spec/test_reader.py` holds that both give equal values or equal faults.
Reading does not need them, since importing pydantic is two thirds of a cold compile. What a schema cannot say is a
function that the models run as a validator, and that the schema names as `x-check` (`checks.py`).

What has a fault is left out: an optional field keeps its default, an entry of a mapping is dropped, and a list, or a
block without a required field, is a fault of what holds it. So the rest of a document can be looked at nevertheless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple, cast
from ptcompile._internal.schema_files import load
from ptcompile.diagnostics import Path
from ptcompile.spec.checks import CHECKS, as_text
from ptcompile.spec.objects import CLASSES, Plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile._internal.schema_files import Schema
    from ptcompile.spec.cluster_profile import Accelerator, ClusterProfile, Fabric, TopologyLevel
    from ptcompile.spec.training_job import Spec

    Parent = tuple[Any, Any]
    """Where a value is: the place of what holds it, and its key or index there; empty for the document itself. It
    becomes a path only for a fault."""
    Reader = Callable[[Any, Parent | tuple[()], "list[SpecViolation]"], Any]
    """Take decoded data, its place, and the list that gets its faults. Return the value, or `MISSING`."""


SPEC_FILE: Final = "spec.schema.json"
CLUSTER_FILE: Final = "cluster.schema.json"


class Block(NamedTuple):
    """A mapping with fields of its own: a definition of a schema, or the document itself for an empty name."""

    file: str
    name: str = ""

    @property
    def schema(self) -> Schema:
        """The definition."""
        whole = load(self.file)
        found: Schema = whole["$defs"][self.name] if self.name else whole
        return found

    @property
    def fields(self) -> Mapping[str, Schema]:
        """The schemas of the fields by their YAML names, in the order of the model."""
        found: Mapping[str, Schema] = self.schema["properties"]
        return found

    def inside(self, field: str, *, into_values: bool = False) -> Block | None:
        """The block that a field holds, through `| None` and lists and, if asked, the values of a mapping."""
        name = _named(self.fields[field], into_values=into_values)
        return Block(self.file, name) if name is not None else None


SPEC: Final = Block(SPEC_FILE)
CLUSTER: Final = Block(CLUSTER_FILE)


def _named(schema: Any, *, into_values: bool) -> str | None:
    """The first definition with fields that a schema refers to."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix("#/$defs/")
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        return _named(values, into_values=into_values) if into_values else None
    parts = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    return next((name for part in parts if (name := _named(part, into_values=into_values)) is not None), None)


MISSING: Final = object()
"""What a reader returns instead of a value that has a fault."""


class SpecViolation(NamedTuple):
    """One fault of a document, in the terms of pydantic's error details."""

    kind: str
    """pydantic's `type`, such as `missing`, `extra_forbidden` or `int_type`."""
    path: Path
    value: Any
    """What is there; for a missing field, the block that lacks it."""
    message: str = ""
    """Of bounds and patterns."""
    expected: tuple[str, ...] = ()
    """The words that a `literal_error` allows."""
    error: ValueError | None = None
    """What an `x-check` raised, with the reason in plain words."""


def read(document: Block, data: Any) -> tuple[Any, list[SpecViolation]]:
    """Read a decoded document. Return the object that it describes, and its faults in the order of the models.

    With faults, the object lacks what they are about; it is None if a required field does.
    """
    faults: list[SpecViolation] = []
    value = _reader(document.file, document.name)(data, (), faults)
    return (None if value is MISSING else value), faults


def spec(data: Any) -> Spec | None:
    """Return a decoded TrainingJob document as an object, or None if it has a fault."""
    value, faults = read(SPEC, data)
    return None if faults else cast("Spec", value)


def cluster(data: Any) -> ClusterProfile | None:
    """Return a decoded ClusterProfile document as an object, or None if it has a fault."""
    value, faults = read(CLUSTER, data)
    return None if faults else cast("ClusterProfile", value)


@cache
def default_cluster() -> ClusterProfile:
    """The profile that is used where none is given."""
    return cast("ClusterProfile", _ours("", {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile"}))


def accelerator(data: Mapping[str, Any]) -> Accelerator:
    """Read an entry of the built-in catalogue."""
    return cast("Accelerator", _ours("Accelerator", data))


def fabric(data: Mapping[str, Any]) -> Fabric:
    """Read a built-in fabric."""
    return cast("Fabric", _ours("Fabric", data))


@cache
def level(node_label: str) -> TopologyLevel:
    """A level of the network whose domains are the values of a label."""
    return cast("TopologyLevel", _ours("TopologyLevel", {"nodeLabel": node_label}))


@cache
def no_level() -> TopologyLevel:
    """A level of the network of which nothing is known."""
    return cast("TopologyLevel", _ours("TopologyLevel", {}))


def _ours(definition: str, data: Mapping[str, Any]) -> Any:
    """Read a part of a profile that ptcompile itself wrote."""
    value, faults = read(Block(CLUSTER_FILE, definition), data)
    assert not faults, faults  # noqa: S101 - a bug of ours
    return value


def python_name(name: str) -> str:
    """`nprocPerNode` -> `nproc_per_node`."""
    if name.islower():
        return name
    return "".join([f"_{letter.lower()}" if letter.isupper() else letter for letter in name])


@cache
def _reader(file: str, definition: str) -> Reader:
    """The reader of one of a schema's definitions; of the document itself for an empty name."""
    whole = load(file)
    schema = whole["$defs"][definition] if definition else whole
    read = _object(file, schema)
    return _checked(CHECKS[schema["x-check"]], read) if "x-check" in schema else read


def _value(file: str, schema: Schema) -> Reader:
    """The reader of a value of any schema that pydantic writes of our models."""
    if "$ref" in schema:
        return _reader(file, schema["$ref"].removeprefix("#/$defs/"))
    if "x-check" in schema:  # a scalar's says all, a mapping's comes after its shape
        check = CHECKS[schema["x-check"]]
        if schema.get("type") == "object":
            return _checked(check, _mapping(None))
        return _checked(check, _quantity if schema["x-check"] == "quantity" else _anything)
    if "anyOf" in schema:
        return _either(file, schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return _word(tuple(schema.get("enum", (schema.get("const"),))))
    return _TYPES[schema["type"]](file, schema)


class _Field(NamedTuple):
    """One field of a block."""

    name: str
    attribute: str
    order: int
    read: Reader


class _FieldReaders(dict["Any", "_Field | None"]):
    """The fields of a block by their names in YAML. A reader is made when a document first has its field."""

    def __init__(self, file: str, schema: Schema) -> None:
        super().__init__()
        self.file = file
        self.properties: Schema = schema["properties"]
        self.names = {python_name(name): name for name in self.properties}
        required = [name for name in schema.get("required", ()) if "default" not in self.properties[name]]
        self.required = {python_name(name): name for name in required}
        self.defaults = {
            attribute: None if attribute in self.required else _default(file, self.properties[name])
            for attribute, name in self.names.items()
        }
        self.copies = {name: one.copy for name, one in self.defaults.items() if isinstance(one, dict | list)}

    def __missing__(self, key: Any) -> _Field | None:
        if key not in self.properties:
            return None
        field = _Field(key, python_name(key), self.order(key), _value(self.file, self.properties[key]))
        self[key] = field
        return field

    def order(self, name: str) -> int:
        """The index of a field among those of the model."""
        return [*self.properties].index(name)

    def filled(self, given: dict[str, Any]) -> dict[str, Any]:
        """The given fields with defaults for the others, none of which two objects share."""
        values = {**self.defaults, **given}
        for attribute, copy in self.copies.items():
            if attribute not in given:
                values[attribute] = copy()
        return values


def _object(file: str, schema: Schema) -> Reader:
    """The reader of a block. What `allOf` and `if` say of it is for editors: the front end says it better."""
    fields = _FieldReaders(file, schema)
    made = CLASSES.get(schema["title"], Plain)

    def read_object(data: Any, at: Any, faults: list[SpecViolation]) -> Any:
        if not isinstance(data, dict):
            return _wrong("model_type", at, data, faults)
        given, ordered = _given(fields, data, at)
        lacking = fields.required.keys() - given.keys()
        if ordered or lacking:
            for attribute in lacking:
                name = fields.required[attribute]
                if name not in data:
                    ordered.append((fields.order(name), [SpecViolation("missing", _path((at, name)), data)]))
            for _, found in sorted(ordered, key=itemgetter(0)):
                faults.extend(found)
        return MISSING if lacking else made(fields.filled(given), {*given})

    return read_object


def _given(
    fields: _FieldReaders, data: dict[Any, Any], at: Any
) -> tuple[dict[str, Any], list[tuple[int, list[SpecViolation]]]]:
    """Read the fields that a block has: the right ones, and the faults of each other one with its order."""
    given: dict[str, Any] = {}
    ordered: list[tuple[int, list[SpecViolation]]] = []
    faults: list[SpecViolation] = []
    for key, value in data.items():
        field = fields[key]
        if field is None:
            ordered.append((len(fields.properties), [SpecViolation("extra_forbidden", _path((at, key)), value)]))
            continue
        read = field.read(value, (at, key), faults)
        if read is not MISSING:
            given[field.attribute] = read
        if faults:
            ordered.append((field.order, faults))
            faults = []
    return given, ordered


def _default(file: str, schema: Schema) -> Any:
    """What stands for a field that is not given: the schema's default, else an object with the defaults of its own."""
    default = schema.get("default", {})
    return _value(file, schema)(default, (), []) if isinstance(default, dict | list) else default


def _either(file: str, schemas: list[Schema]) -> Reader:
    """The reader of a union: what the first member takes, else the faults of all of them, but for those of null."""
    null = any(one.get("type") == "null" for one in schemas)
    readers = [_value(file, one) for one in schemas if one.get("type") != "null"]

    def read_either(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
        if value is None and null:
            return None
        against: list[SpecViolation] = []
        for read in readers:
            before = len(against)
            found = read(value, at, against)
            if len(against) == before:
                return found
        faults.extend(against)
        return MISSING

    return read_either


def _checked(check: Callable[[Any], Any], read: Reader) -> Reader:
    """The reader of what a function has the last word on, once nothing else is wrong."""

    def read_checked(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
        before = len(faults)
        found = read(value, at, faults)
        if len(faults) > before:
            return found
        try:
            return check(found)
        except ValueError as error:
            return _wrong("value_error", at, value, faults, error=error)

    return read_checked


def _list(file: str, schema: Schema) -> Reader:
    read = _value(file, schema["items"])

    def read_list(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
        if not isinstance(value, list):
            return _wrong("list_type", at, value, faults)
        before = len(faults)
        items = [read(item, (at, index), faults) for index, item in enumerate(value)]
        return items if len(faults) == before else MISSING

    return read_list


def _entries(file: str, schema: Schema) -> Reader:
    inner = schema.get("additionalProperties", True)
    return _mapping(None if inner is True else _value(file, inner))


def _mapping(read: Reader | None) -> Reader:
    """The reader of a mapping of text to what a reader takes, or to anything."""

    def read_mapping(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
        if not isinstance(value, dict):
            return _wrong("dict_type", at, value, faults)
        found: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                _wrong("string_type", (at, key), key, faults)
            elif (one := item if read is None else read(item, (at, key), faults)) is not MISSING:
                found[key] = one
        return found

    return read_mapping


def _word(words: tuple[Any, ...]) -> Reader:
    def read_word(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
        if isinstance(value, str) and value in words:
            return value
        return _wrong("literal_error", at, value, faults, expected=words)

    return read_word


_FOR_EDITORS: Final = frozenset({"^.+:0*[1-9][0-9]*$", "^\\S*$"})
"""Patterns of an endpoint and of a file or module to start."""


def _text(_file: str, schema: Schema) -> Reader:
    """The reader of text. Patterns of names and those in `_FOR_EDITORS` are for editors alone: the front end says
    better what is wrong with one.

    `$` is the end in JSON Schema and in pydantic; in Python it would also be before a line break.
    """
    pattern = schema.get("pattern")
    if "maxLength" in schema or pattern in _FOR_EDITORS:
        pattern = None
    search = Pattern(f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern).search if pattern else None

    def read_text(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
        if not isinstance(value, str):
            return _wrong("string_type", at, value, faults)
        if search is not None and search(value) is None:
            message = f"String should match pattern '{pattern}'"
            return _wrong("string_pattern_mismatch", at, value, faults, message)
        return value

    return read_text


def _integer(_file: str, schema: Schema) -> Reader:
    least, most = schema.get("minimum"), schema.get("maximum")

    def read_integer(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            return _wrong("int_type", at, value, faults)
        if least is not None and value < least:
            message = f"Input should be greater than or equal to {least}"
            return _wrong("greater_than_equal", at, value, faults, message)
        if most is not None and value > most:
            return _wrong("less_than_equal", at, value, faults, f"Input should be less than or equal to {most}")
        return value

    return read_integer


def _boolean(_file: str, _schema: Schema) -> Reader:
    def read_boolean(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
        return value if isinstance(value, bool) else _wrong("bool_type", at, value, faults)

    return read_boolean


def _quantity(value: Any, at: Any, faults: list[SpecViolation]) -> Any:
    """Text or a number, of which a check makes an amount."""
    return value if isinstance(as_text(value), str) else _wrong("string_type", at, value, faults)


def _anything(value: Any, _at: Any, _faults: list[SpecViolation]) -> Any:
    return value


_TYPES: Final[dict[str, Callable[[str, Schema], Reader]]] = {
    "object": _entries,
    "array": _list,
    "string": _text,
    "integer": _integer,
    "boolean": _boolean,
}
"""The reader of each JSON type."""


def _wrong(
    kind: str,
    at: Any,
    value: Any,
    faults: list[SpecViolation],
    message: str = "",
    *,
    expected: tuple[str, ...] = (),
    error: ValueError | None = None,
) -> Any:
    """Note a fault, and return what stands for the value."""
    faults.append(SpecViolation(kind, _path(at), value, message, expected, error))
    return MISSING


def _path(at: Any) -> Path:
    """The keys and indexes from the document down to a place."""
    path: list[str | int] = []
    while at:
        at, key = at
        path.append(key if isinstance(key, str | int) else str(key))
    return tuple(reversed(path))
