"""Reader of specs and profiles by their JSON Schema: returns the object and its violations.

The pydantic models are what Python callers construct, what the schemas in `schemas/` are generated
from, and the reference for this reader: `tests/spec/test_reader.py` checks that both return equal
values or equal violations. The reader does without them because a cold compile that reads by the
models takes 2.9 times the instructions (945 M instead of 324 M), most of them for importing
pydantic and building the models. Checks that a schema cannot express are functions that the models
run as validators and that the schema names as `x-check` (`checks.py`).

Nothing is returned of an invalid document but its violations. `compiler/reader.py` takes the
invalid parts out of it and reads the rest again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any, NamedTuple, cast
from ptcompile._internal.schema_files import load
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.spec.checks import CHECKS, as_text
from ptcompile.spec.objects import CLASSES, PlainObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.schema_files import Schema
    from ptcompile.spec.cluster_profile import Accelerator, ClusterProfile, Fabric, TopologyLevel
    from ptcompile.spec.training_job import Spec

    Parent = tuple[Any, Any]
    """Where a value is: the place of what holds it, and its key or index there; empty for the
    document itself. It becomes a path only for a fault.
    """
    Reader = Callable[[Any, Parent | tuple[()], "list[SpecViolation]"], Any]
    """Take decoded data, its place, and the list that gets its faults. Return the value; None for a
    block with faults, and anything for another value with faults.
    """


SPEC_FILE = "spec.schema.json"
CLUSTER_FILE = "cluster.schema.json"


class Block(NamedTuple):
    """A mapping with known fields: a definition of a schema, or the document itself if `name` is
    empty.
    """

    file: str
    name: str = ""

    @property
    def schema(self) -> Schema:
        """Schema of the block."""
        schema = load(self.file)
        definition: Schema = schema["$defs"][self.name] if self.name else schema
        return definition

    @property
    def fields(self) -> Mapping[str, Schema]:
        """Schemas of the fields by YAML name, in the order of the model."""
        fields: Mapping[str, Schema] = self.schema["properties"]
        return fields

    def inside(self, field: str, *, into_values: bool = False) -> Block | None:
        """Return the block that a field holds, through `| None` and lists and, with `into_values`,
        the values of a mapping.
        """
        name = _referenced_definition(self.fields[field], into_values=into_values)
        return Block(self.file, name) if name is not None else None


SPEC = Block(SPEC_FILE)
CLUSTER = Block(CLUSTER_FILE)


def _referenced_definition(schema: Any, *, into_values: bool) -> str | None:
    """Return the first definition with fields that a schema refers to, or None."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix("#/$defs/")

    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        if into_values:
            return _referenced_definition(values, into_values=into_values)
        return None

    parts = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    return next(
        (
            name
            for part in parts
            if (name := _referenced_definition(part, into_values=into_values)) is not None
        ),
        None,
    )


class SpecViolation(NamedTuple):
    """One violation of the schema, in the terms of pydantic's error details."""

    kind: str
    """pydantic's `type`, such as `missing`, `extra_forbidden` or `int_type`."""
    path: Path
    value: Any
    """The value; for a missing field, the block that lacks it."""
    message: str = ""
    """A sentence about a bound, or the pattern that a text does not match."""
    expected: tuple[str, ...] = ()
    """Allowed values of a `literal_error`."""
    error: ValueError | None = None
    """Error of an `x-check`, with a human-readable reason."""


def read(document: Block, data: Any) -> tuple[Any, list[SpecViolation]]:
    """Read a decoded document. Return the object, or None and the violations in the order of the
    models.
    """
    violations: list[SpecViolation] = []
    return _definition_reader(document.file, document.name)(data, (), violations), violations


def read_spec(data: Any) -> Spec | None:
    """Return a decoded TrainingJob document as an object, or None if it is invalid."""
    spec, _ = read(SPEC, data)
    return cast("Spec | None", spec)


def accepts_null(path: Path) -> bool:
    """Return whether a null at a path of a TrainingJob is a value of its field, such as no
    queue.
    """
    fields: Any = None
    for part in reversed(path):
        fields = {part: fields}
    _, violations = read(SPEC, {"metadata": {"name": "x"}, **fields})
    return not violations


def read_cluster(data: Any) -> ClusterProfile | None:
    """Return a decoded ClusterProfile document as an object, or None if it is invalid."""
    profile, _ = read(CLUSTER, data)
    return cast("ClusterProfile | None", profile)


@cache
def default_cluster() -> ClusterProfile:
    """Return the profile that is used by default."""
    return cast(
        "ClusterProfile",
        _read_built_in("", {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile"}),
    )


def read_accelerator(data: Json) -> Accelerator:
    """Read an entry of the built-in catalog."""
    return cast("Accelerator", _read_built_in("Accelerator", data))


def read_fabric(data: Json) -> Fabric:
    """Read a built-in fabric."""
    return cast("Fabric", _read_built_in("Fabric", data))


@cache
def label_level(node_label: str) -> TopologyLevel:
    """Return a topology level whose domains are the values of a node label."""
    return cast("TopologyLevel", _read_built_in("TopologyLevel", {"nodeLabel": node_label}))


@cache
def unknown_level() -> TopologyLevel:
    """Return a topology level without a label or tier."""
    return cast("TopologyLevel", _read_built_in("TopologyLevel", {}))


def _read_built_in(definition: str, data: Json) -> Any:
    """Read a part of a profile that ptcompile itself wrote."""
    value, violations = read(Block(CLUSTER_FILE, definition), data)
    assert not violations, violations  # noqa: S101 - a bug of ptcompile
    return value


def python_name(name: str) -> str:
    """Return the attribute name of a field: `nproc_per_node` for `nprocPerNode`."""
    if name.islower():
        return name
    return "".join([f"_{letter.lower()}" if letter.isupper() else letter for letter in name])


@cache
def _definition_reader(file: str, definition: str) -> Reader:
    """Return the reader of a schema's definition, or of the document if `definition` is empty."""
    whole = load(file)
    schema = whole["$defs"][definition] if definition else whole
    read = _block_reader(file, schema)
    if "x-check" in schema:
        return _checked_reader(CHECKS[schema["x-check"]], read)
    return read


def _value_reader(file: str, schema: Schema) -> Reader:
    """Return the reader of a value, for any schema that pydantic generates from the models."""
    if "$ref" in schema:
        return _definition_reader(file, schema["$ref"].removeprefix("#/$defs/"))
    # the check of a scalar is complete, that of a mapping follows the check of its shape
    if "x-check" in schema:
        check = CHECKS[schema["x-check"]]
        if schema.get("type") == "object":
            return _checked_reader(check, _mapping_reader(None))
        return _checked_reader(
            check, _read_quantity if schema["x-check"] == "quantity" else _read_anything
        )
    if "anyOf" in schema:
        return _union_reader(file, schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return _literal_reader(tuple(schema.get("enum", (schema.get("const"),))))
    return _READERS[schema["type"]](file, schema)


class _Field(NamedTuple):
    """One field of a block."""

    name: str
    attribute: str
    order: int
    read: Reader


class _FieldReaders(dict["Any", "_Field | None"]):
    """The fields of a block by YAML name. A reader is built when a document first sets its
    field.
    """

    def __init__(self, file: str, schema: Schema) -> None:
        super().__init__()
        self.file = file
        self.properties: Schema = schema["properties"]
        self.names = {python_name(name): name for name in self.properties}
        required = [
            name for name in schema.get("required", ()) if "default" not in self.properties[name]
        ]
        self.required = {python_name(name): name for name in required}

        self.defaults: JsonDict = dict.fromkeys(self.names)
        for attribute, name in self.names.items():
            if attribute not in self.required:
                self.defaults[attribute] = _default_of(file, self.properties[name])
        self.copies = {
            name: default.copy
            for name, default in self.defaults.items()
            if isinstance(default, dict | list)
        }

    def __missing__(self, key: Any) -> _Field | None:
        if key not in self.properties:
            return None
        field = _Field(
            key, python_name(key), self.order(key), _value_reader(self.file, self.properties[key])
        )
        self[key] = field
        return field

    def order(self, name: str) -> int:
        """Return the index of a field in the model."""
        return [*self.properties].index(name)

    def filled(self, fields: JsonDict) -> JsonDict:
        """Return the fields with defaults added. No two objects share a mutable default."""
        values = {**self.defaults, **fields}
        for attribute, copy in self.copies.items():
            if attribute not in fields:
                values[attribute] = copy()
        return values


def _block_reader(file: str, schema: Schema) -> Reader:
    """Return the reader of a block. `allOf` and `if` are only for editors: the frontend has
    better messages.
    """
    fields = _FieldReaders(file, schema)
    object_class = CLASSES.get(schema["title"], PlainObject)

    def read_object(data: Any, location: Any, violations: list[SpecViolation]) -> Any:
        if not isinstance(data, dict):
            return _add_violation("model_type", location, data, violations)

        values, ordered_violations = _read_fields(fields, data, location)
        for attribute in fields.required.keys() - values.keys():
            name = fields.required[attribute]
            missing = SpecViolation("missing", _path((location, name)), data)
            ordered_violations.append((fields.order(name), [missing]))

        for _, field_violations in sorted(ordered_violations, key=itemgetter(0)):
            violations.extend(field_violations)
        if ordered_violations:
            return None

        return object_class(fields.filled(values), {*values})

    return read_object


def _read_fields(
    fields: _FieldReaders, data: dict[Any, Any], location: Any
) -> tuple[JsonDict, list[tuple[int, list[SpecViolation]]]]:
    """Read the fields of a block. Return the values, and the violations of each invalid field
    with its order.
    """
    values: JsonDict = {}
    ordered_violations: list[tuple[int, list[SpecViolation]]] = []
    violations: list[SpecViolation] = []
    for key, value in data.items():
        field = fields[key]
        if field is None:
            unknown = SpecViolation("extra_forbidden", _path((location, key)), value)
            ordered_violations.append((len(fields.properties), [unknown]))
            continue

        values[field.attribute] = field.read(value, (location, key), violations)
        if violations:
            ordered_violations.append((field.order, violations))
            violations = []

    return values, ordered_violations


def _default_of(file: str, schema: Schema) -> Any:
    """Return a field's default: the schema's, else an object with the defaults of its fields."""
    default = schema.get("default", {})
    if isinstance(default, dict | list):
        return _value_reader(file, schema)(default, (), [])
    return default


def _union_reader(file: str, schemas: list[Schema]) -> Reader:
    """Return the reader of a union: the value of the first member that accepts it, else the
    violations of all members.
    """
    is_nullable = any(member.get("type") == "null" for member in schemas)
    readers = [_value_reader(file, member) for member in schemas if member.get("type") != "null"]

    def read_either(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
        if value is None and is_nullable:
            return None

        collected: list[SpecViolation] = []
        for read in readers:
            before = len(collected)
            read_value = read(value, location, collected)
            if len(collected) == before:
                return read_value

        violations.extend(collected)
        return None

    return read_either


def _checked_reader(check: Callable[[Any], Any], read: Reader) -> Reader:
    """Return a reader that runs a check after `read` finds no violation."""

    def read_checked(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
        before = len(violations)
        read_value = read(value, location, violations)
        if len(violations) > before:
            return read_value
        try:
            return check(read_value)
        except ValueError as error:
            return _add_violation("value_error", location, value, violations, error=error)

    return read_checked


def _list_reader(file: str, schema: Schema) -> Reader:
    read = _value_reader(file, schema["items"])

    def read_list(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
        if not isinstance(value, list):
            return _add_violation("list_type", location, value, violations)
        return [read(item, (location, index), violations) for index, item in enumerate(value)]

    return read_list


def _entries_reader(file: str, schema: Schema) -> Reader:
    inner = schema.get("additionalProperties", True)
    return _mapping_reader(None if inner is True else _value_reader(file, inner))


def _mapping_reader(read: Reader | None) -> Reader:
    """Return the reader of a mapping from text to anything that `read` accepts, or to anything
    if it is None.
    """

    def read_mapping(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
        if not isinstance(value, dict):
            return _add_violation("dict_type", location, value, violations)
        entries: JsonDict = {}
        for key, item in value.items():
            if not isinstance(key, str):
                _add_violation("string_type", (location, key), key, violations)
            else:
                entries[key] = item if read is None else read(item, (location, key), violations)
        return entries

    return read_mapping


def _literal_reader(literals: tuple[Any, ...]) -> Reader:
    def read_word(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
        if isinstance(value, str) and value in literals:
            return value
        return _add_violation("literal_error", location, value, violations, expected=literals)

    return read_word


_EDITOR_PATTERNS = frozenset({"^.+:0*[1-9][0-9]*$", "^\\S*$"})
"""Patterns of endpoints and entry points, which the frontend checks with better messages."""


def _text_reader(_file: str, schema: Schema) -> Reader:
    """Return the reader of text. Patterns of names and `_EDITOR_PATTERNS` are only for editors: the
    frontend has better messages.

    `$` matches only at the end in JSON Schema and pydantic; in Python it also matches before a
    final line break.
    """
    pattern = schema.get("pattern")
    if "maxLength" in schema or pattern in _EDITOR_PATTERNS:
        pattern = None
    search = None
    if pattern:
        search = Pattern(f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern).search

    def read_text(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
        if not isinstance(value, str):
            return _add_violation("string_type", location, value, violations)
        if search is not None and search(value) is None:
            return _add_violation(
                "string_pattern_mismatch", location, value, violations, str(pattern)
            )
        return value

    return read_text


def _integer_reader(_file: str, schema: Schema) -> Reader:
    minimum = schema.get("minimum")
    maximum = schema.get("maximum")

    def read_integer(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            return _add_violation("int_type", location, value, violations)
        if minimum is not None and value < minimum:
            message = f"Input should be greater than or equal to {minimum}"
            return _add_violation("greater_than_equal", location, value, violations, message)
        if maximum is not None and value > maximum:
            return _add_violation(
                "less_than_equal",
                location,
                value,
                violations,
                f"Input should be less than or equal to {maximum}",
            )
        return value

    return read_integer


def _boolean_reader(_file: str, _schema: Schema) -> Reader:
    def read_boolean(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
        if isinstance(value, bool):
            return value
        return _add_violation("bool_type", location, value, violations)

    return read_boolean


def _read_quantity(value: Any, location: Any, violations: list[SpecViolation]) -> Any:
    """Return text or a number, which a check converts to an amount."""
    if isinstance(as_text(value), str):
        return value
    return _add_violation("string_type", location, value, violations)


def _read_anything(value: Any, _location: Any, _violations: list[SpecViolation]) -> Any:
    return value


_READERS: dict[str, Callable[[str, Schema], Reader]] = {
    "object": _entries_reader,
    "array": _list_reader,
    "string": _text_reader,
    "integer": _integer_reader,
    "boolean": _boolean_reader,
}
"""JSON type -> constructor of its reader."""


def _add_violation(
    kind: str,
    location: Any,
    value: Any,
    violations: list[SpecViolation],
    message: str = "",
    *,
    expected: tuple[str, ...] = (),
    error: ValueError | None = None,
) -> Any:
    """Add a violation, and return None in place of the value."""
    violations.append(
        SpecViolation(
            kind=kind,
            path=_path(location),
            value=value,
            message=message,
            expected=expected,
            error=error,
        )
    )


def _path(location: Any) -> Path:
    """Return the keys and indexes from the document down to a location."""
    path: list[str | int] = []
    while location:
        location, key = location
        path.append(key if isinstance(key, str | int) else str(key))
    return tuple(reversed(path))
