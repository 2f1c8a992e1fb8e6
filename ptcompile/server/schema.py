"""The schemas for a path of a document: those of ptcompile's kinds, of Kubernetes and of the operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.crds import Definition, Definitions
from ptcompile.apiserver.kinds import BUILT_IN, CORE, CUSTOM, as_tuple, known_version, other_kind, resolve
from ptcompile.apiserver.structure.checks import is_in_version
from ptcompile.apiserver.structure.json_schema import JsonSchema
from ptcompile.diagnostics import Path
from ptcompile.registry.table import OPERATORS

Schema = Mapping[str, Any]

SCHEMA_FILES: Final = {"TrainingJob": "spec.schema.json", "ClusterProfile": "cluster.schema.json"}
"""Schema file of each of ptcompile's kinds."""

_POD_FIELDS: Final = {
    "envFrom": ("EnvFromSource", True),
    "volumes": ("Volume", True),
    "volumeMounts": ("VolumeMount", True),
    "tolerations": ("Toleration", True),
    "imagePullSecrets": ("LocalObjectReference", True),
    "affinity": ("Affinity", False),
    "securityContext": ("SecurityContext", False),
    "podSecurityContext": ("PodSecurityContext", False),
    "podTemplate": ("PodTemplateSpec", False),
    "secretKeyRef": ("SecretKeySelector", False),
    "configMapKeyRef": ("ConfigMapKeySelector", False),
    "fieldRef": ("ObjectFieldSelector", False),
    "resourceFieldRef": ("ResourceFieldSelector", False),
}
"""Fields of ptcompile's kinds with a Kubernetes type: the core definition, and whether the field is a list of it."""

_TARGET_KINDS: Final = {operator.target_name: operator.kinds[0].key for operator in OPERATORS if operator.target_name}


class SchemaNode(NamedTuple):
    """The schema of a value, and the file that its references resolve in."""

    schema: Schema
    file: str

    @property
    def description(self) -> str:
        """The schema's description of the value; Kubernetes' schemas have none."""
        return str(self.schema.get("description", ""))


def root_nodes(kind: tuple[str, str], definitions: Definitions | None = None) -> list[SchemaNode]:
    """Return the schemas of a document of this kind, or [] for an unknown kind."""
    if kind[0].startswith("ptcompile/") or (not kind[0] and kind[1] in SCHEMA_FILES):
        file = SCHEMA_FILES.get(kind[1])
        return [SchemaNode(load(file), file)] if file else []
    if kind in BUILT_IN:
        return [SchemaNode(load(CORE)["$defs"][BUILT_IN[kind]], CORE)]
    if kind in CUSTOM:
        return [SchemaNode(load(CUSTOM[kind]), CUSTOM[kind])]
    if (served := other_kind(kind)) is not None:
        return [SchemaNode(load(served.document)["$defs"][served.definition], served.document)]
    definition = (definitions or Definitions()).find(kind)
    if isinstance(definition, Definition):
        return [SchemaNode(definition.schema, definition.document)]
    return [SchemaNode(definition.schema, "")] if isinstance(definition, JsonSchema) else []


def nodes_at(nodes: Iterable[SchemaNode], path: Path) -> list[SchemaNode]:
    """Return the schemas of the value at a path below `nodes`, including alternatives."""
    result = list(nodes)
    for part in path:
        result = [inner for node in result for leaf in leaves(node) for inner in _child_nodes(leaf, part)]
    return result


def leaves(node: SchemaNode, depth: int = 8) -> Iterator[SchemaNode]:
    """Yield the alternatives of a schema, with references resolved."""
    schema = node.schema
    if "$ref" in schema and depth:
        file, name = resolve(node.file, str(schema["$ref"]))
        target = load(file)["$defs"].get(name) if file else None
        if target is not None:
            yield from leaves(SchemaNode(target, file), depth - 1)
        return
    alternatives = [
        alternative
        for word in ("anyOf", "oneOf")
        for alternative in schema.get(word, ())
        if isinstance(alternative, Mapping)
    ]
    if "properties" in schema or "enum" in schema or not alternatives or not depth:
        yield node
    for alternative in alternatives if depth else ():
        yield from leaves(SchemaNode(alternative, node.file), depth - 1)


def _child_nodes(node: SchemaNode, part: str | int) -> Iterator[SchemaNode]:
    schema = node.schema
    if isinstance(part, int):
        if isinstance(schema.get("items"), Mapping):
            yield SchemaNode(schema["items"], node.file)
        return
    field = schema.get("properties", {}).get(part)
    if field is None:
        more = schema.get("additionalProperties")
        if isinstance(more, Mapping):
            yield from (
                root_nodes(_TARGET_KINDS[part])
                if part in _TARGET_KINDS and _is_open(more)
                else [SchemaNode(more, node.file)]
            )
        return
    if node.file in SCHEMA_FILES.values() and part in _POD_FIELDS:
        name, is_list = _POD_FIELDS[part]
        described = {"description": field.get("description", "")}
        reference = {"$ref": f"#/$defs/{name}"}
        yield SchemaNode({**described, **({"type": "array", "items": reference} if is_list else reference)}, CORE)
    elif isinstance(field, Mapping):
        yield SchemaNode(field, node.file)


def _is_open(schema: Schema) -> bool:
    """Return whether this is the patch of a target's object, which ptcompile's schema leaves open."""
    return schema.get("additionalProperties") is True and "properties" not in schema


def fields(nodes: Iterable[SchemaNode], kubernetes: tuple[int, int]) -> dict[str, SchemaNode]:
    """Return the fields of a mapping that a server of this version knows, in order."""
    version = known_version(kubernetes)
    fields: dict[str, SchemaNode] = {}
    for node in nodes:
        for leaf in leaves(node):
            for name, field in leaf.schema.get("properties", {}).items():
                if isinstance(field, Mapping) and is_in_version(field, version):
                    inner = next(_child_nodes(leaf, name), None)
                    fields.setdefault(name, inner or SchemaNode(field, leaf.file))
    return fields


def type_name(node: SchemaNode) -> str:
    """Return a value's type as text: `string`, `list of mappings`, `"a" or "b"`."""
    names = dict.fromkeys(name for leaf in leaves(node) for name in _type_names(leaf))
    names.pop("null", None)
    return " or ".join(names) or "any value"


def _type_names(node: SchemaNode) -> Iterator[str]:
    schema = node.schema
    if "enum" in schema:
        yield from (
            f'"{value}"' if isinstance(value, str) else str(value) for value in schema["enum"] if value is not None
        )
        return
    for value in _types(node):
        if value == "array" and isinstance(schema.get("items"), Mapping):
            yield f"list of {type_name(SchemaNode(schema['items'], node.file))}"
        else:
            yield {"object": "mapping", "array": "list"}.get(value, str(value))


def _types(node: SchemaNode) -> list[str]:
    types = node.schema.get("type")
    return [str(name) for name in types] if isinstance(types, list) else [str(types)] if types else []


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
                values.update((str(value), None) for value in leaf.schema["enum"] if value is not None)
            elif "const" in leaf.schema:
                values[str(leaf.schema["const"])] = None
            elif "boolean" in _types(leaf):
                values.update({"true": None, "false": None})
    return list(values)


def first_version(node: SchemaNode) -> str | None:
    """Return the Kubernetes version that added a field, or None if all supported versions have it."""
    version = node.schema.get("x-since")
    return str(version) if version is not None and as_tuple(str(version)) else None
