"""An object as each request decodes it: in Go's types, with the defaults of its kind, of Kubernetes
or of its CRD.

The server keeps an object of a built-in kind as Go encodes it again: it leaves out empty lists,
maps, strings and false values of plain fields, and writes quantities in their canonical form. An
empty value of a pointer stays.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.schema_files import load, load_table
from ptcompile.apiserver.defaulting.built_in import BUILT_IN_DEFAULTS
from ptcompile.apiserver.defaulting.fields import fill_places
from ptcompile.apiserver.defaulting.schemas import (
    property_schema,
    resolve_node,
    with_schema_defaults,
)
from ptcompile.apiserver.kinds import BUILT_IN, CORE, CUSTOM, is_built_in, other_kind
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import Json, JsonDict, kind_of, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.crds import Definitions
    from ptcompile.apiserver.kinds import Schema


_POINTERS = frozenset(load_table("apiserver/defaulting/fields.json")["pointers"])
"""Fields of type `*bool` and `*string`, and those that Go always writes."""


def as_encoded(manifest: Json) -> JsonDict:
    """Return a copy of an object of a built-in kind in the server's form."""
    kind = kind_of(manifest)
    if kind in BUILT_IN:
        document = CORE
        name = BUILT_IN[kind]
    elif served := other_kind(kind):
        document = served.document
        name = served.definition
    else:
        plain: JsonDict = copy_without_nulls(manifest)
        return plain

    encoded: JsonDict = _encode(manifest, load(document)["$defs"][name], document)
    return encoded


def copy_without_nulls(value: Any) -> Any:
    """Return a copy of plain dicts and lists, without null entries of mappings."""
    # nearly always; isinstance with an ABC takes ten times as long
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return [copy_without_nulls(item) for item in value]
    if isinstance(value, Mapping):
        return {
            str(key): copy_without_nulls(item) for key, item in value.items() if item is not None
        }
    return value


def _encode(value: Any, schema: Schema, document: str) -> Any:
    """Return a value as Go encodes it again, with quantities in canonical form."""
    schema, document = resolve_node(schema, document)
    if isinstance(value, list | tuple):
        items = schema.get("items", {})
        return [
            _encode({} if item is None and "$ref" in items else item, items, document)
            for item in value
        ]
    if isinstance(value, Mapping):
        return _encode_mapping(value, schema, document)
    if schema.get("format") == "quantity":
        parsed = quantity.parse(value)
        return value if parsed is None else str(parsed)

    return value


def _encode_mapping(value: Json, schema: Schema, document: str) -> JsonDict:
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    encoded = {}
    for key, item in value.items():
        inner = property_schema(schema, key)
        new = _encode(item, inner, document)
        is_field = key in properties and key not in required
        if new is None or (is_field and _is_left_out(key, new, inner)):
            continue
        encoded[str(key)] = new

    return encoded


def _is_left_out(field: str, value: Any, schema: Schema) -> bool:
    """Return whether Go leaves an empty value out."""
    if value in ("", False) and type(value) is not int:
        return field not in _POINTERS
    if value == []:
        return True
    return bool(
        value == {}
        and "additionalProperties" in schema
        and schema["additionalProperties"] is not False
    )


def with_defaults(manifest: Json, definitions: Definitions | None = None) -> JsonDict:
    """Return an object with the defaults of its kind, which it gets at each request: those of
    Kubernetes or of its CRD.

    Accepts any data; never raises.
    """
    if is_built_in(kind_of(manifest)):
        return with_built_in_defaults(as_encoded(manifest))
    return with_crd_defaults(copy_without_nulls(manifest), definitions)


def with_built_in_defaults(manifest: JsonDict) -> JsonDict:
    """Fill in the defaults of a built-in kind, and return the object."""
    kind = kind_of(manifest)
    if kind in BUILT_IN_DEFAULTS:
        BUILT_IN_DEFAULTS[kind](manifest)
        return manifest

    api_version, name = kind
    table = load_table("apiserver/defaulting/built_in.json")["kinds"]
    fill_places(manifest, nested_map(table, api_version).get(name, ()))
    return manifest


def with_crd_defaults(manifest: JsonDict, definitions: Definitions | None) -> JsonDict:
    """Return an object with the defaults of its CRD."""
    kind = kind_of(manifest)
    if kind in CUSTOM:
        defaulted: JsonDict = with_schema_defaults(load(CUSTOM[kind]), CUSTOM[kind], manifest)
        return defaulted

    from ptcompile.apiserver.crds import NO_DEFINITIONS, Definition

    definition = (definitions or NO_DEFINITIONS).find(kind)
    if isinstance(definition, Definition):
        manifest = with_schema_defaults(definition.schema, definition.document, manifest)
    return manifest
