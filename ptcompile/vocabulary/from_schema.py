"""Documents of our own kinds as plain objects, by their committed JSON Schemas: what the models read, without pydantic.

Importing pydantic is two thirds of a cold compile, so that is left to those who need it: Python callers, and those who
have to say what is wrong. The models stay the one truth. The schemas in `schemas/` are made of them, defaults included;
what a schema cannot say is the models' own function, which it names as `x-check` (`checks`). A document that is
not taken here goes to the models: they take a little more, such as snake_case keys, and find the words for the rest.
What is taken here they take too, as an object that is equal field by field: tests/vocabulary/test_from_schema.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from ptcompile.documents.schema_files import load
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.typed import cast
from ptcompile.vocabulary.blocks import CLUSTER_FILE, SPEC_FILE, Block
from ptcompile.vocabulary.checks import CHECKS
from ptcompile.vocabulary.fields import CLASSES, Plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.documents.schema_files import Schema
    from ptcompile.vocabulary.cluster.devices import Accelerator, Fabric
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.cluster.queues import TopologyLevel
    from ptcompile.vocabulary.spec import Spec

    _Read = Callable[[Any], Any]
    """From decoded data to what is kept of it. Raises ValueError, without words, where the schema does not take it."""


def spec(data: Any) -> Spec | None:
    """A decoded TrainingJob document; None where the schema does not take it."""
    return cast("Spec | None", _read(SPEC_FILE, "", data))


def cluster(data: Any) -> ClusterProfile | None:
    """A decoded ClusterProfile document; None where the schema does not take it."""
    return cast("ClusterProfile | None", _read(CLUSTER_FILE, "", data))


@cache
def default_cluster() -> ClusterProfile:
    """The profile that is used where none is given."""
    return cast("ClusterProfile", _reader(CLUSTER_FILE, "")({"apiVersion": "ptcompile/v1", "kind": "ClusterProfile"}))


def block(where: Block, data: Any) -> Plain:
    """A block of either. Raises ValueError where the schema does not take it, with the reason where it is `x-check`."""
    return cast(Plain, _reader(where.file, where.name)(data))


def accelerator(data: Mapping[str, Any]) -> Accelerator:
    """An entry of a profile's catalogue. Raises ValueError where it is none."""
    return cast("Accelerator", _reader(CLUSTER_FILE, "Accelerator")(data))


def fabric(data: Mapping[str, Any]) -> Fabric:
    """An entry of a profile's fabrics. Raises ValueError where it is none."""
    return cast("Fabric", _reader(CLUSTER_FILE, "Fabric")(data))


@cache
def level(node_label: str) -> TopologyLevel:
    """A level of the network whose domains are the values of a label."""
    return cast("TopologyLevel", _reader(CLUSTER_FILE, "TopologyLevel")({"nodeLabel": node_label}))


@cache
def no_level() -> TopologyLevel:
    """A level of the network of which nothing is known."""
    return cast("TopologyLevel", _reader(CLUSTER_FILE, "TopologyLevel")({}))


def _read(file: str, definition: str, data: Any) -> Plain | None:
    try:
        return cast(Plain, _reader(file, definition)(data))
    except ValueError:
        return None


@cache
def _reader(file: str, definition: str) -> _Read:
    """The reader of one of a schema's definitions; of the document itself for an empty name."""
    whole = load(file)
    schema = whole["$defs"][definition] if definition else whole
    read = _object(file, schema)
    return _checked(CHECKS[schema["x-check"]], read) if "x-check" in schema else read


def _value(file: str, schema: Schema) -> _Read:
    """The reader of a value of any schema that pydantic writes of our models."""
    if "$ref" in schema:
        return _reader(file, schema["$ref"].removeprefix("#/$defs/"))
    if "x-check" in schema:  # a scalar's says all, a mapping's comes after its shape
        check = CHECKS[schema["x-check"]]
        return _checked(check, _mapping(_anything)) if schema.get("type") == "object" else check
    if "anyOf" in schema:
        return _either([_value(file, one) for one in schema["anyOf"]])
    if "const" in schema or "enum" in schema:
        return _word(frozenset(schema.get("enum", (schema.get("const"),))))
    return _TYPES[schema["type"]](file, schema)


def _items(file: str, schema: Schema) -> _Read:
    return _list(_value(file, schema["items"]))


def _entries(file: str, schema: Schema) -> _Read:
    inner = schema.get("additionalProperties", True)
    return _mapping(_anything if inner is True else _value(file, inner))


def _object(file: str, schema: Schema) -> _Read:
    """The reader of a model. What `allOf` and `if` say of it is for editors: the front end says it better."""
    fields = _Fields(file, schema["properties"])
    required = frozenset(one for one in schema.get("required", ()) if "default" not in schema["properties"][one])
    defaults: dict[str, Any] = {}
    fresh: list[tuple[str, Any]] = []
    for name, one in schema["properties"].items():
        default = None if name in required else _default(file, one)
        defaults[python_name(name)] = default
        if isinstance(default, dict | list):
            fresh.append((python_name(name), default.copy))
    made = CLASSES.get(schema["title"], Plain)

    def read_object(data: Any) -> Plain:
        if type(data) is not dict or not required <= data.keys():
            raise ValueError
        given: dict[str, Any] = {}
        for name, value in data.items():
            attribute, read = fields[name]
            given[attribute] = read(value)
        values = {**defaults, **given}
        for attribute, copy in fresh:
            if attribute not in given:
                values[attribute] = copy()
        return made(values, {*given})

    return read_object


class _Fields(dict["Any", "tuple[str, _Read]"]):
    """What each field of an object is called and read by, found out when a document first has it."""

    def __init__(self, file: str, properties: Schema) -> None:
        super().__init__()
        self.file = file
        self.properties = properties

    def __missing__(self, name: Any) -> tuple[str, _Read]:
        schema = self.properties.get(name)
        if schema is None:
            raise ValueError
        self[name] = found = (python_name(name), _value(self.file, schema))
        return found


def _default(file: str, schema: Schema) -> Any:
    """What stands for a field that is not given: the schema's default, else an object with the defaults of its own."""
    default = schema.get("default", {})
    return _value(file, schema)(default) if isinstance(default, dict | list) else default


def python_name(name: str) -> str:
    """`nprocPerNode` -> `nproc_per_node`."""
    if name.islower():
        return name
    return "".join([f"_{letter.lower()}" if letter.isupper() else letter for letter in name])


def _anything(value: Any) -> Any:
    return value


def _checked(check: _Read, read: _Read) -> _Read:
    return lambda value: check(read(value))


def _either(reads: Iterable[_Read]) -> _Read:
    *first, last = reads

    def read_either(value: Any) -> Any:
        for read in first:
            try:
                return read(value)
            except ValueError:
                continue
        return last(value)

    return read_either


def _exactly(kind: type) -> _Read:
    def read_exactly(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError
        return value

    return read_exactly


def _word(words: frozenset[Any]) -> _Read:
    def read_word(value: Any) -> str:
        if type(value) is not str or value not in words:
            raise ValueError
        return value

    return read_word


def _text(pattern: str | None, longest: int | None) -> _Read:
    """Text. A line's end in it is for the models to judge: `$` stands before one in Python, and not in Rust.

    Pattern and length of a name are for editors alone: the front end says better what is wrong with it.
    """
    if pattern is None or longest is not None:
        return _exactly(str)
    search = Pattern(pattern).search

    def read_text(value: Any) -> str:
        if type(value) is not str or "\n" in value:
            raise ValueError
        if search(value) is None:
            raise ValueError
        return value

    return read_text


def _integer(least: int | None, most: int | None) -> _Read:
    def read_integer(value: Any) -> int:
        if type(value) is not int or (least is not None and value < least) or (most is not None and value > most):
            raise ValueError
        return value

    return read_integer


def _list(read: _Read) -> _Read:
    def read_list(value: Any) -> list[Any]:
        if type(value) is not list:
            raise ValueError
        return [read(item) for item in value]

    return read_list


def _mapping(read: _Read) -> _Read:
    def read_mapping(value: Any) -> dict[str, Any]:
        if type(value) is not dict or not {*map(type, value)} <= _TEXT:
            raise ValueError
        return {**value} if read is _anything else {key: read(item) for key, item in value.items()}

    return read_mapping


_TEXT: Final = {str}

_TYPES: Final[dict[str, Callable[[str, Schema], _Read]]] = {
    "object": _entries,
    "array": _items,
    "string": lambda _file, schema: _text(schema.get("pattern"), schema.get("maxLength")),
    "integer": lambda _file, schema: _integer(schema.get("minimum"), schema.get("maximum")),
    "boolean": lambda _file, _schema: _exactly(bool),
    "null": lambda _file, _schema: _exactly(type(None)),
}
"""The reader of each JSON type."""
