"""Structural schemas: what the API server demands of a CRD's schema so that it can prune and default by it.

Types are in `properties`, `items` and `additionalProperties`; `allOf`, `anyOf`, `oneOf` and `not` only check values.
Source: apiextensions-apiserver 1.36, pkg/apiserver/schema/validation.go and complete.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.validate.core import found as f

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Node = Mapping[str, Any]

_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_NOT_NESTED: Final = {
    "type": "empty",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    "x-kubernetes-preserve-unknown-fields": "false",
    "x-kubernetes-embedded-resource": "false",
    "x-kubernetes-int-or-string": "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}
"""What may not be said below `allOf` and the like, and what it must be instead."""
_IGNORED_IN_METADATA: Final = frozenset({"type", "default", "example", "externalDocs"})
_WHERE: Final = {"root": "at the root", "item": "for specified array items", "field": "for specified object fields"}


def is_set(node: Node, key: str) -> bool:
    """Return whether a field has more than Go's zero value; a number is a pointer in Go, and zero is a value of it."""
    value = node.get(key)
    return value is not None and value is not False and value != "" and value != [] and value != {}


def structural_problems(schema: Node, path: Path) -> list[Problem]:
    """Say where the schema of a whole object is not structural."""
    found: f.Found = []
    _check_node(schema, path, "root", found)
    _check_complete(schema, schema, path, path, found)
    return found


def _check_node(node: Node, path: Path, level: str, found: f.Found) -> None:
    kind = node.get("type") or ""
    items, more = node.get("items"), node.get("additionalProperties")
    if kind == "array" and not isinstance(items, Mapping):
        f.required(found, (*path, "items"), "must be specified", "say what the items are")
    if isinstance(items, Mapping):
        _check_node(items, (*path, "items"), "item", found)
    for name, field in f.mapping(node.get("properties")).items():
        _check_node(f.mapping(field), (*path, "properties", name), "field", found)
    if more is not None and level == "root":
        f.forbidden(found, (*path, "additionalProperties"), "must not be used at the root")
    if isinstance(more, Mapping):
        _check_node(more, (*path, "additionalProperties"), "field", found)
    _check_logic(node, path, found)
    _check_type(node, kind, path, level, found)
    _check_metadata(node, path, level, found)


def _check_type(node: Node, kind: str, path: Path, level: str, found: f.Found) -> None:
    at, embedded = (*path, "type"), bool(node.get("x-kubernetes-embedded-resource"))
    either, opened = node.get("x-kubernetes-int-or-string"), node.get("x-kubernetes-preserve-unknown-fields")
    if either and opened:
        why = "must be false if x-kubernetes-int-or-string is true"
        f.invalid(found, (*path, "x-kubernetes-preserve-unknown-fields"), True, why)
    if embedded and either:
        why = "must be false if x-kubernetes-int-or-string is true"
        f.invalid(found, (*path, "x-kubernetes-embedded-resource"), True, why)
    if embedded and kind != "object":
        why = "must be object if x-kubernetes-embedded-resource is true"
        f.invalid(found, at, kind, why) if kind else f.required(found, at, why)
    elif not kind and not either and not opened:
        f.required(found, at, f"must not be empty {_WHERE[level]}", "say of which type the value is")
    if embedded and node.get("additionalProperties") is not None:
        why = "must not be used if x-kubernetes-embedded-resource is set"
        f.forbidden(found, (*path, "additionalProperties"), why)
    if embedded and not opened and not node.get("properties"):
        why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        f.required(found, (*path, "properties"), why)
    if level == "root" and kind and kind != "object":
        f.invalid(found, at, kind, "must be object at the root")


def _check_metadata(node: Node, path: Path, level: str, found: f.Found) -> None:
    if level != "root" and not node.get("x-kubernetes-embedded-resource"):
        return
    properties = f.mapping(node.get("properties"))
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if name in properties and f.mapping(properties[name]).get("type") != wanted:
            given = f.mapping(properties[name]).get("type") or ""
            f.invalid(found, (*path, "properties", name, "type"), given, f"must be {wanted}")
    metadata = f.mapping(properties.get("metadata"))
    known = f.mapping(metadata.get("properties"))
    more = [key for key in metadata if key not in _IGNORED_IN_METADATA and is_set(metadata, key)]
    if level == "root" and [key for key in more if key != "properties" or not known.keys() <= {"name", "generateName"}]:
        why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        f.forbidden(found, (*path, "properties", "metadata"), why, "write `metadata: {type: object}`")


def _check_logic(node: Node, path: Path, found: f.Found, *, skip_first: bool = False) -> None:
    """Check the branches of `allOf`, `anyOf`, `oneOf` and `not`; those that say "integer or string" may have types."""
    both = _branches(node, "allOf")
    skips = {"anyOf"} if skip_first or _is_int_or_string(node) else set()
    first = bool(both) and _is_int_or_string(both[0])
    for key in ("anyOf", "allOf", "oneOf"):
        for index, branch in enumerate(_branches(node, key) if key not in skips else ()):
            _check_branch(branch, (*path, key, index), found, skip_any=first and key == "allOf" and index == 0)
    if isinstance(node.get("not"), Mapping):
        _check_branch(node["not"], (*path, "not"), found)


def _is_int_or_string(node: Node) -> bool:
    return [{key: one[key] for key in one if is_set(one, key)} for one in _branches(node, "anyOf")] == _INT_OR_STRING


def _check_branch(node: Node, path: Path, found: f.Found, *, skip_any: bool = False) -> None:
    _check_logic(node, path, found, skip_first=skip_any)
    if isinstance(node.get("items"), Mapping):
        _check_branch(node["items"], (*path, "items"), found)
    properties = f.mapping(node.get("properties"))
    for name, field in properties.items():
        _check_branch(f.mapping(field), (*path, "properties", name), found)
    for key, wanted in _NOT_NESTED.items():
        if is_set(node, key) or (key == "default" and node.get(key) is not None):
            f.forbidden(found, (*path, key), f"must be {wanted} to be structural")
    for key in ("additionalProperties", "externalDocs"):
        if node.get(key) is not None:
            f.forbidden(found, (*path, key), "must be undefined to be structural")
    if "metadata" in properties:
        f.forbidden(found, (*path, "properties", "metadata"), "must not be specified in a nested context")


def _check_complete(values: Node, node: Node, at: Path, path: Path, found: f.Found) -> None:
    """Demand of the root that what its branches speak of is described outside of them too."""
    branches = [
        ((*at, key, i), one) for key in ("allOf", "anyOf", "oneOf") for i, one in enumerate(_branches(values, key))
    ]
    if isinstance(values.get("not"), Mapping):
        branches.append(((*at, "not"), values["not"]))
    for here, branch in branches:
        _check_complete(branch, node, here, path, found)
        _check_parts(branch, node, here, path, found)


def _check_parts(branch: Node, node: Node, at: Path, path: Path, found: f.Found) -> None:
    parts: list[tuple[tuple[str, ...], Any]] = [
        (("properties", name), one) for name, one in f.mapping(branch.get("properties")).items()
    ]
    if isinstance(branch.get("items"), Mapping):
        parts.append((("items",), branch["items"]))
    for keys, inner in parts:
        place, part = (*path, *keys), _part(node, keys)
        if part is None:
            why = f"because it is defined in {field_path((*at, *keys))}"
            found.append(
                Problem("required-value", (*at, *keys), f"{field_path(place)}: Required value: {why}", "add it there")
            )
        else:
            _check_complete(f.mapping(inner), part, (*at, *keys), place, found)
            _check_parts(f.mapping(inner), part, (*at, *keys), place, found)


def _part(node: Node, keys: tuple[str, ...]) -> Node | None:
    if keys == ("items",):
        items = node.get("items")
        return items if isinstance(items, Mapping) else None
    properties = f.mapping(node.get("properties"))
    return f.mapping(properties[keys[1]]) if keys[1] in properties else None


def _branches(node: Node, key: str) -> list[Node]:
    value = node.get(key)
    return [f.mapping(one) for one in value] if isinstance(value, list) else []
