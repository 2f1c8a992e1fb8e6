"""The blocks of our vocabularies, by their committed JSON Schemas: which fields a mapping of a document may have."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.documents.schema_files import load
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.documents.schema_files import Schema

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
