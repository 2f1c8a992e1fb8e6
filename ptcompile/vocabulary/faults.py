"""What is wrong with a document of ours, by the schemas: what the models would say, in pydantic's terms.

Importing pydantic and building the models takes three times as long as compiling. So the mistakes that people make are
found here: unknown and missing fields, wrong types, words that are none of a list, numbers out of bounds, and what the
functions named `x-check` reject. Of anything else the models are asked. `tests/vocabulary/test_faults.py` holds that
both say the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.vocabulary import from_schema
from ptcompile.vocabulary.blocks import Block
from ptcompile.vocabulary.checks import CHECKS, as_text
from ptcompile.vocabulary.from_schema import python_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.documents.schema_files import Schema

    Fault = dict[str, Any]
    """One fault as pydantic details it: `type`, `loc`, `msg`, `input` and for some `ctx`. The path has no union's
    tags."""

    _Faults = Iterator[Fault]


class UnsureError(Exception):
    """The models are to be asked."""


def faults(document: Block, data: Any) -> list[Fault] | None:
    """All faults of a document in the models' order; None where that takes the models themselves."""
    try:
        return list(_of_block(document, data, ())) or None
    except UnsureError:
        return None


def _of_block(block: Block, data: Any, path: Path) -> _Faults:
    if type(data) is not dict:
        return iter([_fault("model_type", path, data)])
    found = [*_of_fields(block, data, path), *_of_other_keys(block, data, path)]
    return iter(found or _of_whole(block, data, path))


def _of_fields(block: Block, data: dict[Any, Any], path: Path) -> _Faults:
    required = block.schema.get("required", ())
    for name, schema in block.fields.items():
        if name in data:
            yield from _of_value(block.file, schema, data[name], (*path, name))
        elif name in required and "default" not in schema:
            yield _fault("missing", (*path, name), data)


def _of_other_keys(block: Block, data: dict[Any, Any], path: Path) -> _Faults:
    python_names = {python_name(name) for name in block.fields}
    for name in data:
        if name not in block.fields:
            if name in python_names or type(name) is not str:
                raise UnsureError  # the models take a field by either name
            yield _fault("extra_forbidden", (*path, name), data[name])


def _of_whole(block: Block, data: dict[Any, Any], path: Path) -> _Faults:
    """What the check of a block as a whole says, once its fields are right."""
    if "x-check" in block.schema:
        try:
            from_schema.block(block, data)
        except ValueError as error:
            if not error.args:  # it was the shape
                raise UnsureError from None
            yield {**_fault("value_error", path, data), "ctx": {"error": error}}


def _of_value(file: str, schema: Schema, value: Any, path: Path) -> _Faults:
    if "$ref" in schema:
        return _of_block(Block(file, schema["$ref"].removeprefix("#/$defs/")), value, path)
    if "x-check" in schema:
        return _of_check(schema, value, path)
    if "anyOf" in schema:
        return _of_union(file, schema["anyOf"], value, path)
    if "const" in schema or "enum" in schema:
        return _of_words(schema.get("enum", [schema.get("const")]), value, path)
    return _TYPES[schema["type"]](file, schema, value, path)


def _of_check(schema: Schema, value: Any, path: Path) -> _Faults:
    """What a function of `CHECKS` rejects, once the value has the type that it takes."""
    name = schema["x-check"]
    if schema.get("type") == "object" and type(value) is not dict:
        yield _fault("dict_type", path, value)
    elif name == "quantity" and type(as_text(value)) is not str:
        yield _fault("string_type", path, value)
    else:
        try:
            CHECKS[name](value)
        except ValueError as error:
            yield {**_fault("value_error", path, value), "ctx": {"error": error}}


def _of_union(file: str, schemas: list[Schema], value: Any, path: Path) -> _Faults:
    """Nothing where one member takes the value, else what every member but null has against it."""
    others = [one for one in schemas if one.get("type") != "null"]
    if value is None and len(others) < len(schemas):
        return
    members = [list(_of_value(file, one, value, path)) for one in others]
    if all(members):
        for member in members:
            yield from member


def _of_words(words: list[Any], value: Any, path: Path) -> _Faults:
    if type(value) is str and value in words:
        return
    shown = [repr(word) for word in words]
    expected = f"{', '.join(shown[:-1])} or {shown[-1]}" if len(shown) > 1 else shown[0]
    yield {**_fault("literal_error", path, value), "ctx": {"expected": expected}}


def _of_text(_file: str, schema: Schema, value: Any, path: Path) -> _Faults:
    if type(value) is not str:
        yield _fault("string_type", path, value)
    elif "pattern" in schema and "maxLength" not in schema and not re.search(schema["pattern"], value):
        raise UnsureError  # of some the pattern is for editors alone


def _of_integer(_file: str, schema: Schema, value: Any, path: Path) -> _Faults:
    if type(value) is not int:
        yield _fault("int_type", path, value)
    elif "minimum" in schema and value < schema["minimum"]:
        yield _fault("greater_than_equal", path, value, f"Input should be greater than or equal to {schema['minimum']}")
    elif "maximum" in schema and value > schema["maximum"]:
        yield _fault("less_than_equal", path, value, f"Input should be less than or equal to {schema['maximum']}")


def _of_boolean(_file: str, _schema: Schema, value: Any, path: Path) -> _Faults:
    if type(value) is not bool:
        yield _fault("bool_type", path, value)


def _of_list(file: str, schema: Schema, value: Any, path: Path) -> _Faults:
    if type(value) is not list:
        yield _fault("list_type", path, value)
        return
    for index, item in enumerate(value):
        yield from _of_value(file, schema["items"], item, (*path, index))


def _of_mapping(file: str, schema: Schema, value: Any, path: Path) -> _Faults:
    if type(value) is not dict:
        yield _fault("dict_type", path, value)
        return
    inner = schema.get("additionalProperties", True)
    for key, item in value.items():
        if type(key) is not str:
            raise UnsureError
        if inner is not True:
            yield from _of_value(file, inner, item, (*path, key))


def _fault(kind: str, path: Path, value: Any, message: str = "") -> Fault:
    return {"type": kind, "loc": path, "msg": message, "input": value}


_TYPES: Final[dict[str, Callable[[str, Schema, Any, Path], _Faults]]] = {
    "string": _of_text,
    "integer": _of_integer,
    "boolean": _of_boolean,
    "array": _of_list,
    "object": _of_mapping,
}
"""The faults of a value of each JSON type."""
