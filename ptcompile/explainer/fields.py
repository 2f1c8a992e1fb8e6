"""The schemas for a path of a document: those of ptcompile's kinds, of Kubernetes and of the
operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load, load_table
from ptcompile.apiserver.crds import Definition, Definitions
from ptcompile.apiserver.kinds import (
    BUILT_IN,
    CORE,
    CUSTOM,
    as_tuple,
    known_version,
    other_kind,
    resolve,
)
from ptcompile.apiserver.structure.checks import is_in_version
from ptcompile.apiserver.structure.json_schema import JsonSchema
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json
from ptcompile.operators.table import BY_TARGET, main_kind

Schema = Json

SCHEMA_FILES = {"TrainingJob": "spec.schema.json", "ClusterProfile": "cluster.schema.json"}
"""Schema file of each of ptcompile's kinds."""

_POD_FIELDS: Mapping[str, tuple[str, bool]] = load_table("explainer/companions.json")[
    "kubernetes_types"
]
"""Fields of ptcompile's kinds with a Kubernetes type: the core definition, and whether the field
is a list of it.
"""

_TARGET_KINDS = {target: main_kind(operator).key for target, operator in BY_TARGET.items()}


class SchemaNode(NamedTuple):
    """The schema of a value, and the file that its references resolve in."""

    schema: Schema
    file: str
    key: str = ""
    """The key of its description in `schemas/descriptions/`: a kind or a definition, and the
    path below it.
    """

    @property
    def description(self) -> str:
        """The description of the value: the schema's own, or the one that is kept apart for a
        built-in kind; or "".
        """
        return str(self.schema.get("description", "")) or _descriptions(self.file).get(self.key, "")


@cache
def _descriptions(file: str) -> Mapping[str, str]:
    try:
        return load(f"descriptions/{file}") if file else {}
    except FileNotFoundError:
        return {}


def root_nodes(kind: tuple[str, str], definitions: Definitions | None = None) -> list[SchemaNode]:
    """Return the schemas of a document of this kind, or [] for an unknown kind."""
    api_version, name = kind
    if api_version.startswith("ptcompile/") or (not api_version and name in SCHEMA_FILES):
        file = SCHEMA_FILES.get(name)
        return [SchemaNode(load(file), file)] if file else []
    if kind in BUILT_IN:
        return [SchemaNode(load(CORE)["$defs"][BUILT_IN[kind]], CORE, BUILT_IN[kind])]
    if kind in CUSTOM:
        return [SchemaNode(load(CUSTOM[kind]), CUSTOM[kind], name)]
    if (served := other_kind(kind)) is not None:
        return [
            SchemaNode(
                load(served.document)["$defs"][served.definition],
                served.document,
                served.definition,
            )
        ]

    definition = (definitions or Definitions()).find(kind)
    if isinstance(definition, Definition):
        return [SchemaNode(definition.schema, definition.document, name)]
    if isinstance(definition, JsonSchema):
        return [SchemaNode(definition.schema, "")]

    return []


def nodes_at(nodes: Iterable[SchemaNode], path: Path) -> list[SchemaNode]:
    """Return the schemas of the value at a path below `nodes`, including alternatives."""
    result = list(nodes)
    for part in path:
        result = [
            inner for node in result for leaf in leaves(node) for inner in _child_nodes(leaf, part)
        ]
    return result


def leaves(node: SchemaNode, depth: int = 8) -> Iterator[SchemaNode]:
    """Yield the alternatives of a schema, with references resolved."""
    schema = node.schema
    if "$ref" in schema and depth:
        file, name = resolve(node.file, str(schema["$ref"]))
        target = load(file)["$defs"].get(name) if file else None
        if target is not None:
            key = name if file != node.file or file.startswith("kubernetes/") else node.key
            yield from leaves(SchemaNode(target, file, key), depth - 1)
        return

    alternatives = [
        alternative
        for word in ("anyOf", "oneOf")
        for alternative in schema.get(word, ())
        if isinstance(alternative, Mapping)
    ]
    if "properties" in schema or "enum" in schema or not alternatives or not depth:
        yield node
    if not depth:
        return
    for alternative in alternatives:
        yield from leaves(node._replace(schema=alternative), depth - 1)


def _child_nodes(node: SchemaNode, part: str | int) -> Iterator[SchemaNode]:
    schema = node.schema
    if isinstance(part, int):
        if isinstance(schema.get("items"), Mapping):
            yield node._replace(schema=schema["items"])
        return

    field = schema.get("properties", {}).get(part)
    if field is None:
        more = schema.get("additionalProperties")
        if isinstance(more, Mapping) and part in _TARGET_KINDS and _is_open(more):
            yield from root_nodes(_TARGET_KINDS[part])
        elif isinstance(more, Mapping):
            yield node._replace(schema=more)
        return

    if node.file in SCHEMA_FILES.values() and part in _POD_FIELDS:
        name, is_list = _POD_FIELDS[part]
        described = {key: field[key] for key in ("description", "examples") if key in field}
        reference = {"$ref": f"#/$defs/{name}"}
        yield SchemaNode(
            {**described, **({"type": "array", "items": reference} if is_list else reference)}, CORE
        )
    elif isinstance(field, Mapping):
        yield SchemaNode(field, node.file, f"{node.key}.{part}")


def _is_open(schema: Schema) -> bool:
    """Return whether this is the patch of a target's object, or null, which ptcompile's schema
    leaves open.
    """
    alternatives = schema.get("anyOf", [schema])
    return any(
        each.get("additionalProperties") is True and "properties" not in each
        for each in alternatives
    )


def fields(nodes: Iterable[SchemaNode], kubernetes: tuple[int, int]) -> dict[str, SchemaNode]:
    """Return the fields of a mapping that a server of this version knows, in order."""
    version = known_version(kubernetes)
    known: dict[str, SchemaNode] = {}
    for node in nodes:
        for leaf in leaves(node):
            for name, field in leaf.schema.get("properties", {}).items():
                if isinstance(field, Mapping) and is_in_version(field, version):
                    inner = next(_child_nodes(leaf, name), None)
                    known.setdefault(
                        name, inner or SchemaNode(field, leaf.file, f"{leaf.key}.{name}")
                    )

    return known


def description_of(node: SchemaNode) -> str:
    """Return the description of a value or, without one, that of an alternative of its schema;
    or "".
    """
    return node.description or next(
        (leaf.description for leaf in leaves(node) if leaf.description), ""
    )


def default_of(node: SchemaNode) -> Any:
    """Return the default of a value; None if it has no default, or an empty mapping or list."""
    default = node.schema.get("default")
    return None if default in ({}, []) else default


def type_name(node: SchemaNode) -> str:
    """Return a value's type as text: `string`, `list of mappings`, `"a" or "b"`."""
    names = dict.fromkeys(name for leaf in leaves(node) for name in _type_names(leaf))
    names.pop("null", None)
    return " or ".join(names) or "any value"


def _type_names(node: SchemaNode) -> Iterator[str]:
    schema = node.schema
    if "enum" in schema:
        yield from (
            f'"{value}"' if isinstance(value, str) else str(value)
            for value in schema["enum"]
            if value is not None
        )
        return

    for value in _types(node):
        if value == "array" and isinstance(schema.get("items"), Mapping):
            yield f"list of {type_name(SchemaNode(schema['items'], node.file))}"
        else:
            yield {"object": "mapping", "array": "list"}.get(value, str(value))


def _types(node: SchemaNode) -> list[str]:
    types = node.schema.get("type")
    if isinstance(types, list):
        return [str(name) for name in types]
    return [str(types)] if types else []


def is_collection(node: SchemaNode) -> bool:
    """Return whether a value is always a mapping or a list."""
    types = {name for leaf in leaves(node) for name in _types(leaf)} - {"null"}
    return bool(types) and types <= {"object", "array"}


def choices(nodes: Iterable[SchemaNode]) -> list[str]:
    """Return the allowed values, or [] if they are not limited."""
    values: dict[str, None] = {}
    for node in nodes:
        for leaf in leaves(node):
            if "enum" in leaf.schema:
                allowed = (str(value) for value in leaf.schema["enum"] if value is not None)
                values |= dict.fromkeys(allowed)
            elif "const" in leaf.schema:
                values[str(leaf.schema["const"])] = None
            elif "boolean" in _types(leaf):
                values |= dict.fromkeys(("true", "false"))

    return list(values)


def first_version(node: SchemaNode) -> str | None:
    """Return the Kubernetes version that added a field, or None if all supported versions have
    it.
    """
    version = node.schema.get("x-since")
    if version is not None and as_tuple(str(version)):
        return str(version)
    return None
