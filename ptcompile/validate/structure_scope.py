"""How a schema is read, and which fields it then has."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.documents.schema_files import load
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.typed import NamedTuple
from ptcompile.validate.schemas import as_tuple, resolve
from ptcompile.validate.structure_fault import Found, mismatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Schema = Mapping[str, Any]

NEWEST: Final = Versions().kubernetes


class Scope(NamedTuple):
    """How a schema is read: which file it is in, for which Kubernetes version, and whether as a CRD's."""

    document: str
    version: str
    crd: bool
    server: Version = NEWEST
    """The API server that holds an object to the CRD; `version` is the one whose types the CRD was made of."""
    complete: bool = False
    """Whether to doubt what is no mistake of a CRD's object: nulls, fractions such as 4.0, what no schema describes."""


def doubted(value: Any) -> Found:
    """What `Scope.complete` takes for a mistake."""
    return [mismatch("value", value)]


def doubtful(scope: Scope) -> frozenset[type]:
    """The types of the values that are doubted wherever they stand."""
    return frozenset({type(None), float} if scope.complete else ())


def in_version(field: Schema, version: str) -> bool:
    """Whether a Kubernetes version knows a field."""
    if "x-since" in field and as_tuple(field["x-since"]) > as_tuple(version):
        return False
    return "x-until" not in field or as_tuple(field["x-until"]) >= as_tuple(version)


def fields_of(schema: Schema, scope: Scope) -> Mapping[str, Any]:
    """The fields of a node through references, list items and map values."""
    for _ in range(4):
        if "$ref" in schema:
            document, name = resolve(scope.document, schema["$ref"])
            schema, scope = load(document)["$defs"][name], Scope(document, scope.version, scope.crd)
        elif "items" in schema:
            schema = schema["items"]
        elif isinstance(schema.get("additionalProperties"), dict):
            schema = schema["additionalProperties"]
        else:
            break
    fields: Mapping[str, Schema] = schema.get("properties", {})
    return {name: field for name, field in fields.items() if in_version(field, scope.version)}
