"""Kinds that a CustomResourceDefinition or a JSON Schema defines: those that ship with us, and those that users bring.

A definition is compiled when a document of its kind first comes by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ptcompile.documents.schema_files import load
from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.versions import Version
from ptcompile.typed import NamedTuple
from ptcompile.validate.schemas import SHIPPED, known_version
from ptcompile.validate.structure import covered, outside, without_status
from ptcompile.validate.structure_compile import compile_node
from ptcompile.validate.structure_fault import to_problem
from ptcompile.validate.structure_scope import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.validate.structure_fault import Check

    Schema = Mapping[str, Any]

Kind = tuple[str, str]


class Definition:
    """One kind in one version, as a CRD has it. Compared by identity, so that its compiled check can be kept."""

    def __init__(self, schema: Schema, document: str, status: bool) -> None:
        self.schema = schema
        """In our dialect: see `crd.dialect`."""
        self.document = document
        """The file of ours that `$ref`s of the schema speak of; "" for a user's."""
        self.status = status
        """Whether `status` is dropped on creation: it is a subresource."""


class JsonSchema(NamedTuple):
    """A plain JSON Schema that a user brought, and the file that it came from."""

    schema: Schema
    filename: str


class Definitions(NamedTuple):
    """What users brought: CRDs by apiVersion and kind, JSON Schemas by the name of their file."""

    kinds: Mapping[Kind, Definition] = {}
    files: Mapping[str, JsonSchema] = {}

    def find(self, kind: Kind) -> Definition | JsonSchema | None:
        """The definition of a kind: a user's CRD, a user's JSON Schema, else what ships with us."""
        return self.kinds.get(kind) or self._file(kind) or shipped(kind)

    def _file(self, kind: Kind) -> JsonSchema | None:
        if not self.files:
            return None
        group, _, version = kind[0].rpartition("/")
        name, label = kind[1].lower(), group.partition(".")[0]
        layouts = (f"{group}/{name}_{version}", f"{name}-{label}-{version}" if label else f"{name}-{version}", name)
        return next((self.files[layout] for layout in layouts if layout in self.files), None)


NONE: Final = Definitions()


@cache
def shipped(kind: Kind) -> Definition | None:
    """The definition of a kind that ships with us."""
    group = kind[0].rpartition("/")[0]
    if group not in SHIPPED:
        return None
    document = f"crds/{group}.json"
    entry = load(document)["kinds"].get(kind[0], {}).get(kind[1])
    return Definition(entry["schema"], document, entry["status"]) if entry else None


@cache
def compiled(definition: Definition, server: Version) -> Check:
    """The check of a definition's structure on a server."""
    check = compile_node(definition.schema, Scope(definition.document, known_version(server), True, server))
    return without_status(check) if definition.status else check


def defined_problems(
    manifest: Mapping[str, Any], definition: Definition | JsonSchema, server: Version
) -> Sequence[Problem]:
    """What a definition has against a manifest: its structure, and where that is sound, its CEL rules."""
    if isinstance(definition, JsonSchema):
        return list(_by_json_schema(manifest, definition))
    faults = compiled(definition, server)(manifest) or []
    if faults:
        paths = covered(faults)
        found = [to_problem(fault) for fault in faults]
        return [problem for problem in found if outside(problem, paths - {problem.path})]
    if not definition.schema.get("x-ruled"):
        return []
    from ptcompile.validate.definitions.rules import rule_problems

    return list(rule_problems(definition.schema, definition.document, manifest))


def _by_json_schema(manifest: Mapping[str, Any], definition: JsonSchema) -> Iterator[Problem]:
    from ptcompile.validate.definitions.json_schema import json_schema_problems

    return json_schema_problems(manifest, definition.schema, definition.filename)
