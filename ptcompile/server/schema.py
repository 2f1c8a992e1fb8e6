"""What a document may have at a path: the schemas of our own kinds, of Kubernetes' and of the operators'."""

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

OURS: Final = {"TrainingJob": "spec.schema.json", "ClusterProfile": "cluster.schema.json"}
"""The schema of each kind of our own API."""

_AS_IN_A_POD: Final = {
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
"""Fields of our own kinds that are written in Kubernetes' words: the core definition, and whether it is a list's."""

_TARGETS: Final = {one.target_name: one.kinds[0].key for one in OPERATORS if one.target_name}


class SchemaNode(NamedTuple):
    """One schema of a value, and the file that its references speak of."""

    schema: Schema
    file: str

    @property
    def description(self) -> str:
        """What the schema says of the value; Kubernetes' own say nothing."""
        return str(self.schema.get("description", ""))


def root(kind: tuple[str, str], definitions: Definitions | None = None) -> list[SchemaNode]:
    """The schemas of a whole document of a kind; none for a kind that is not known."""
    if kind[0].startswith("ptcompile/") or (not kind[0] and kind[1] in OURS):
        file = OURS.get(kind[1])
        return [SchemaNode(load(file), file)] if file else []
    if kind in BUILT_IN:
        return [SchemaNode(load(CORE)["$defs"][BUILT_IN[kind]], CORE)]
    if kind in CUSTOM:
        return [SchemaNode(load(CUSTOM[kind]), CUSTOM[kind])]
    if (place := other_kind(kind)) is not None:
        return [SchemaNode(load(place.document)["$defs"][place.definition], place.document)]
    found = (definitions or Definitions()).find(kind)
    if isinstance(found, Definition):
        return [SchemaNode(found.schema, found.document)]
    return [SchemaNode(found.schema, "")] if isinstance(found, JsonSchema) else []


def at(nodes: Iterable[SchemaNode], path: Path) -> list[SchemaNode]:
    """The schemas of the value at a path below these; its own and those that it may be instead."""
    found = list(nodes)
    for part in path:
        found = [inner for node in found for leaf in leaves(node) for inner in _below(leaf, part)]
    return found


def leaves(node: SchemaNode, depth: int = 8) -> Iterator[SchemaNode]:
    """A schema without references and choices: each that the value may have."""
    schema = node.schema
    if "$ref" in schema and depth:
        file, name = resolve(node.file, str(schema["$ref"]))
        target = load(file)["$defs"].get(name) if file else None
        if target is not None:
            yield from leaves(SchemaNode(target, file), depth - 1)
        return
    alternatives = [one for word in ("anyOf", "oneOf") for one in schema.get(word, ()) if isinstance(one, Mapping)]
    if "properties" in schema or "enum" in schema or not alternatives or not depth:
        yield node
    for one in alternatives if depth else ():
        yield from leaves(SchemaNode(one, node.file), depth - 1)


def _below(node: SchemaNode, part: str | int) -> Iterator[SchemaNode]:
    schema = node.schema
    if isinstance(part, int):
        if isinstance(schema.get("items"), Mapping):
            yield SchemaNode(schema["items"], node.file)
        return
    field = schema.get("properties", {}).get(part)
    if field is None:
        more = schema.get("additionalProperties")
        if isinstance(more, Mapping):
            yield from root(_TARGETS[part]) if part in _TARGETS and _is_open(more) else [SchemaNode(more, node.file)]
        return
    if node.file in OURS.values() and part in _AS_IN_A_POD:
        name, listed = _AS_IN_A_POD[part]
        described = {"description": field.get("description", "")}
        reference = {"$ref": f"#/$defs/{name}"}
        yield SchemaNode({**described, **({"type": "array", "items": reference} if listed else reference)}, CORE)
    elif isinstance(field, Mapping):
        yield SchemaNode(field, node.file)


def _is_open(schema: Schema) -> bool:
    """Whether it is the patch of a target's object, of which our own schema says nothing."""
    return schema.get("additionalProperties") is True and "properties" not in schema


def fields(nodes: Iterable[SchemaNode], kubernetes: tuple[int, int]) -> dict[str, SchemaNode]:
    """The fields of a mapping, in their order, that a server of this version knows."""
    version = known_version(kubernetes)
    found: dict[str, SchemaNode] = {}
    for node in nodes:
        for leaf in leaves(node):
            for name, field in leaf.schema.get("properties", {}).items():
                if isinstance(field, Mapping) and is_in_version(field, version):
                    inner = next(_below(leaf, name), None)
                    found.setdefault(name, inner or SchemaNode(field, leaf.file))
    return found


def sort_of(node: SchemaNode) -> str:
    """What a value is, for people: `string`, `list of mappings`, `"a" or "b"`."""
    found = dict.fromkeys(word for leaf in leaves(node) for word in _sorts(leaf))
    found.pop("null", None)
    return " or ".join(found) or "any value"


def _sorts(node: SchemaNode) -> Iterator[str]:
    schema = node.schema
    if "enum" in schema:
        yield from (f'"{one}"' if isinstance(one, str) else str(one) for one in schema["enum"] if one is not None)
        return
    for one in _types(node):
        if one == "array" and isinstance(schema.get("items"), Mapping):
            yield f"list of {sort_of(SchemaNode(schema['items'], node.file))}"
        else:
            yield {"object": "mapping", "array": "list"}.get(one, str(one))


def _types(node: SchemaNode) -> list[str]:
    given = node.schema.get("type")
    return [str(one) for one in given] if isinstance(given, list) else [str(given)] if given else []


def is_collection(node: SchemaNode) -> bool:
    """Whether a value's parts stand on lines of their own."""
    found = {one for leaf in leaves(node) for one in _types(leaf)} - {"null"}
    return bool(found) and found <= {"object", "array"}


def choices(nodes: Iterable[SchemaNode]) -> list[str]:
    """The closed list of words that a value may be; empty where it is open."""
    found: dict[str, None] = {}
    for node in nodes:
        for leaf in leaves(node):
            if "enum" in leaf.schema:
                found.update((str(one), None) for one in leaf.schema["enum"] if one is not None)
            elif "const" in leaf.schema:
                found[str(leaf.schema["const"])] = None
            elif "boolean" in _types(leaf):
                found.update({"true": None, "false": None})
    return list(found)


def since(node: SchemaNode) -> str | None:
    """The Kubernetes version that brought a field, where older ones of those that are known have it not."""
    found = node.schema.get("x-since")
    return str(found) if found is not None and as_tuple(str(found)) else None
