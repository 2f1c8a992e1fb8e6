"""The schema of a CustomResourceDefinition, validated as the API server validates it when the CRD is created.

Source: apiextensions-apiserver 1.36, pkg/apis/apiextensions/validation/validation.go (what OpenAPI may say in a CRD),
pkg/apiserver/schema/validation.go and complete.go (structural schemas). As there, a schema that does not decode is not
validated further, and one with a field that CRDs do not support is not asked whether it is structural. Defaults and
the types in CEL expressions are not validated; what the expressions cost is in `apiserver.cel.cost`.

A schema is structural where its types are in `properties`, `items` and `additionalProperties`, and `allOf`, `anyOf`,
`oneOf` and `not` only check values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.apiserver.kinds import versions
from ptcompile.apiserver.structure.checks import definition
from ptcompile.apiserver.structure.faults import to_problem, type_mismatch
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    SchemaObject = Mapping[str, Any]


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


def is_set(node: SchemaObject, key: str) -> bool:
    """Return whether a field has more than Go's zero value; a number is a pointer in Go, and zero is a value of it."""
    value = node.get(key)
    return value is not None and value is not False and value != "" and value != [] and value != {}


def structural_problems(schema: SchemaObject, path: Path) -> list[Problem]:
    """Say where the schema of a whole object is not structural."""
    found: f.Problems = []
    _check_node(schema, path, "root", found)
    _check_complete(schema, schema, path, path, found)
    return found


def _check_node(node: SchemaObject, path: Path, level: str, found: f.Problems) -> None:
    kind = node.get("type") or ""
    items, more = node.get("items"), node.get("additionalProperties")
    if kind == "array" and not isinstance(items, Mapping):
        f.required(found, (*path, "items"), "must be specified", "say what the items are")
    if isinstance(items, Mapping):
        _check_node(items, (*path, "items"), "item", found)
    for name, field in f.as_field_mapping(node.get("properties")).items():
        _check_node(f.as_field_mapping(field), (*path, "properties", name), "field", found)
    if more is not None and level == "root":
        f.forbidden(found, (*path, "additionalProperties"), "must not be used at the root")
    if isinstance(more, Mapping):
        _check_node(more, (*path, "additionalProperties"), "field", found)
    _check_logic(node, path, found)
    _check_structural_type(node, kind, path, level, found)
    _check_metadata(node, path, level, found)


def _check_structural_type(node: SchemaObject, kind: str, path: Path, level: str, found: f.Problems) -> None:
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


def _check_metadata(node: SchemaObject, path: Path, level: str, found: f.Problems) -> None:
    if level != "root" and not node.get("x-kubernetes-embedded-resource"):
        return
    properties = f.as_field_mapping(node.get("properties"))
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if name in properties and f.as_field_mapping(properties[name]).get("type") != wanted:
            given = f.as_field_mapping(properties[name]).get("type") or ""
            f.invalid(found, (*path, "properties", name, "type"), given, f"must be {wanted}")
    metadata = f.as_field_mapping(properties.get("metadata"))
    known = f.as_field_mapping(metadata.get("properties"))
    more = [key for key in metadata if key not in _IGNORED_IN_METADATA and is_set(metadata, key)]
    if level == "root" and [key for key in more if key != "properties" or not known.keys() <= {"name", "generateName"}]:
        why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        f.forbidden(found, (*path, "properties", "metadata"), why, "write `metadata: {type: object}`")


def _check_logic(node: SchemaObject, path: Path, found: f.Problems, *, skip_first: bool = False) -> None:
    """Check the branches of `allOf`, `anyOf`, `oneOf` and `not`; those that say "integer or string" may have types."""
    both = _branches(node, "allOf")
    skips = {"anyOf"} if skip_first or _is_int_or_string(node) else set()
    first = bool(both) and _is_int_or_string(both[0])
    for key in ("anyOf", "allOf", "oneOf"):
        for index, branch in enumerate(_branches(node, key) if key not in skips else ()):
            _check_branch(branch, (*path, key, index), found, skip_any=first and key == "allOf" and index == 0)
    if isinstance(node.get("not"), Mapping):
        _check_branch(node["not"], (*path, "not"), found)


def _is_int_or_string(node: SchemaObject) -> bool:
    return [{key: one[key] for key in one if is_set(one, key)} for one in _branches(node, "anyOf")] == _INT_OR_STRING


def _check_branch(node: SchemaObject, path: Path, found: f.Problems, *, skip_any: bool = False) -> None:
    _check_logic(node, path, found, skip_first=skip_any)
    if isinstance(node.get("items"), Mapping):
        _check_branch(node["items"], (*path, "items"), found)
    properties = f.as_field_mapping(node.get("properties"))
    for name, field in properties.items():
        _check_branch(f.as_field_mapping(field), (*path, "properties", name), found)
    for key, wanted in _NOT_NESTED.items():
        if is_set(node, key) or (key == "default" and node.get(key) is not None):
            f.forbidden(found, (*path, key), f"must be {wanted} to be structural")
    for key in ("additionalProperties", "externalDocs"):
        if node.get(key) is not None:
            f.forbidden(found, (*path, key), "must be undefined to be structural")
    if "metadata" in properties:
        f.forbidden(found, (*path, "properties", "metadata"), "must not be specified in a nested context")


def _check_complete(values: SchemaObject, node: SchemaObject, at: Path, path: Path, found: f.Problems) -> None:
    """Demand of the root that what its branches speak of is described outside of them too."""
    branches = [
        ((*at, key, i), one) for key in ("allOf", "anyOf", "oneOf") for i, one in enumerate(_branches(values, key))
    ]
    if isinstance(values.get("not"), Mapping):
        branches.append(((*at, "not"), values["not"]))
    for here, branch in branches:
        _check_complete(branch, node, here, path, found)
        _check_parts(branch, node, here, path, found)


def _check_parts(branch: SchemaObject, node: SchemaObject, at: Path, path: Path, found: f.Problems) -> None:
    parts: list[tuple[tuple[str, ...], Any]] = [
        (("properties", name), one) for name, one in f.as_field_mapping(branch.get("properties")).items()
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
            _check_complete(f.as_field_mapping(inner), part, (*at, *keys), place, found)
            _check_parts(f.as_field_mapping(inner), part, (*at, *keys), place, found)


def _part(node: SchemaObject, keys: tuple[str, ...]) -> SchemaObject | None:
    if keys == ("items",):
        items = node.get("items")
        return items if isinstance(items, Mapping) else None
    properties = f.as_field_mapping(node.get("properties"))
    return f.as_field_mapping(properties[keys[1]]) if keys[1] in properties else None


def _branches(node: SchemaObject, key: str) -> list[SchemaObject]:
    value = node.get(key)
    return [f.as_field_mapping(one) for one in value] if isinstance(value, list) else []


_DOCUMENT: Final = "kubernetes/groups/apiextensions.json"
_UNKNOWN: Final = frozenset({"unknown-field", "version-unknown-field"})

TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_MAPS: Final = ("properties", "patternProperties", "definitions")
_OPAQUE: Final = ("items", "additionalProperties", "additionalItems", "dependencies")
"""Fields of several Go types, which the structural schema of a CRD describes as any JSON."""
_UNSUPPORTED: Final = ("$schema", "$ref", "id", "additionalItems", "patternProperties", "definitions", "dependencies")
_NUMBERS: Final = ("maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems", "multipleOf")
_AT_ROOT_WITH_STATUS: Final = frozenset(
    {
        *("description", "type", "format", "title", "pattern", "required", "items", "properties"),
        *("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "externalDocs", "example", *_NUMBERS),
        *("x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
    }
)
_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def crd_schema_problems(crd: SchemaObject) -> list[Problem]:
    """Validate the schemas of all versions of a CRD, served or not."""
    found: f.Problems = []
    for path, schema, status in schemas_of(crd):
        found += _mistyped(schema, path) or _refused(schema, path, status)
    return found


def schemas_of(crd: SchemaObject) -> Iterator[tuple[Path, SchemaObject, bool]]:
    """Yield the path and schema of each version of a CRD, and whether its status is a subresource."""
    every = f.as_field_mapping(crd.get("spec")).get("versions")
    for index, version in enumerate(every if isinstance(every, list) else ()):
        schema = f.as_field_mapping(f.as_field_mapping(version).get("schema")).get("openAPIV3Schema")
        if isinstance(schema, dict):
            status = f.as_field_mapping(f.as_field_mapping(version).get("subresources")).get("status") is not None
            yield ("spec", "versions", index, "schema", "openAPIV3Schema"), schema, status


def _mistyped(schema: SchemaObject, path: Path) -> list[Problem]:
    """Values that Go cannot decode. Unknown fields are no reason: they are dropped, or reported with the object."""
    check = definition(_DOCUMENT, "v1.JSONSchemaProps", versions()[-1], False)
    found: list[Problem] = []
    for at, node, opaque in _nodes(schema, path):
        faults = (check(node) or []) if opaque else []
        for key in ("additionalProperties", "additionalItems"):
            if isinstance(node, Mapping) and not isinstance(node.get(key), Mapping | bool | None):
                fault = type_mismatch("boolean or object", node[key])
                fault.path.append(key)
                faults.append(fault)
        for fault in faults:
            if fault.name not in _UNKNOWN:
                fault.path += reversed(at)
                found.append(to_problem(fault))
    return found


def _nodes(schema: SchemaObject, path: Path) -> Iterator[tuple[Path, Any, bool]]:
    """Each schema below a schema with its path, itself first, and whether no check of an outer one looks into it."""
    stack: list[tuple[Path, Any, bool]] = [(path, schema, True)]
    while stack:
        at, node, opaque = stack.pop()
        yield at, node, opaque
        if not isinstance(node, Mapping):
            continue
        for key in _MAPS:
            stack += [((*at, key, name), one, False) for name, one in f.as_field_mapping(node.get(key)).items()]
        for key in _LISTS:
            one = node.get(key)
            stack += [((*at, key, index), each, False) for index, each in enumerate(one if type(one) is list else ())]
        stack.append(((*at, "not"), node.get("not"), False))
        stack += _opaque(node, at)


def _opaque(node: SchemaObject, path: Path) -> Iterator[tuple[Path, Any, bool]]:
    for key in _OPAQUE:
        value = node.get(key)
        if key == "dependencies":
            inner = f.as_field_mapping(value).items()
            yield from (((*path, key, name), one, True) for name, one in inner if isinstance(one, Mapping))
        elif isinstance(value, Mapping):
            yield (*path, key), value, True
        elif key == "items" and isinstance(value, list):
            yield from (((*path, key, index), one, True) for index, one in enumerate(value) if one is not None)


def _refused(schema: SchemaObject, path: Path, status: bool) -> list[Problem]:
    found: f.Problems = []
    extra = sorted(key for key in schema if is_set(schema, key) and key not in _AT_ROOT_WITH_STATUS)
    if status and extra:
        why = "this field is not allowed at the root of the schema if the status subresource is enabled"
        f.forbidden(found, (*path, extra[0]), why)
    if schema.get("nullable"):
        f.forbidden(found, (*path, "nullable"), "nullable cannot be true at the root")
    unsupported = False
    for at, node, _ in _nodes(schema, path):
        if not isinstance(node, Mapping) or "patternProperties" in at or "additionalItems" in at:
            continue
        before = len(found)
        _check_supported(node, at, found)
        unsupported = unsupported or len(found) > before
        _check_type(node, at, found)
        _check_lists(node, at, found)
        _check_maps(node, at, found)
        _check_rules(node, at, found)
    for name in ("apiVersion", "kind", "metadata"):
        for at, node, _ in _nodes(
            f.as_field_mapping(f.as_field_mapping(schema.get("properties")).get(name)), (*path, "properties", name)
        ):
            if isinstance(node, Mapping) and node.get("default") is not None:
                f.forbidden(found, (*at, "default"), f"must not be set in top-level {name}")
    return found if unsupported else [*structural_problems(schema, path), *found]


def _check_supported(node: SchemaObject, path: Path, found: f.Problems) -> None:
    """Refuse what no schema of a CRD may say."""
    for key in _UNSUPPORTED:
        is_pointer = key in ("$ref", "dependencies", "additionalItems")
        if is_set(node, key) or (is_pointer and node.get(key) is not None):
            f.forbidden(found, (*path, key), f"{key} is not supported", _help(key))
    if isinstance(node.get("items"), list) and node["items"]:
        f.forbidden(found, (*path, "items"), "items must be a schema object and not an array")
    if node.get("x-kubernetes-preserve-unknown-fields") is False:
        f.invalid(
            found, (*path, "x-kubernetes-preserve-unknown-fields"), False, "must be true or undefined", "remove it"
        )


def _help(key: str) -> str:
    if key in ("$ref", "definitions"):
        return "write the schema out where it is used: a CRD cannot refer to another schema"
    return f"remove `{key}`"


def _check_type(node: SchemaObject, path: Path, found: f.Problems) -> None:
    kind = node.get("type") or ""
    if kind == "null":
        f.forbidden(found, (*path, "type"), "type cannot be set to null, use nullable as an alternative")
    elif kind and kind not in TYPES:
        f.unsupported(found, (*path, "type"), kind, TYPES)
    if node.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        f.forbidden(found, (*path, "uniqueItems"), why, "use `x-kubernetes-list-type: set`")


def _check_lists(node: SchemaObject, path: Path, found: f.Problems) -> None:
    """Check what makes a list a set or a map."""
    kind, listed, keys = node.get("type") or "", node.get("x-kubernetes-list-type"), _texts(node, "list-map-keys")
    if listed is not None and kind != "array":
        _wants_type(found, path, kind, "array", "x-kubernetes-list-type")
    if listed is not None and listed not in ("atomic", "set", "map"):
        f.unsupported(found, (*path, "x-kubernetes-list-type"), listed, ("atomic", "set", "map"))
    if keys and listed != "map":
        why = "must be map if x-kubernetes-list-map-keys is non-empty"
        at = (*path, "x-kubernetes-list-type")
        f.required(found, at, why) if listed is None else f.invalid(found, at, listed, why)
    if listed == "map":
        _check_map_list(node, keys, path, found)
    item = node.get("items")
    if listed in ("set", "map") and isinstance(item, Mapping) and item.get("nullable"):
        f.forbidden(found, (*path, "items", "nullable"), f"cannot be nullable when x-kubernetes-list-type is {listed}")
    if listed == "set" and kind == "array" and isinstance(item, Mapping):
        _check_atomic(item, (*path, "items"), found)


def _check_map_list(node: SchemaObject, keys: list[str], path: Path, found: f.Problems) -> None:
    items = node.get("items")
    if not keys:
        why = "must not be empty if x-kubernetes-list-type is map"
        f.required(found, (*path, "x-kubernetes-list-map-keys"), why)
    if items is None:
        f.required(found, (*path, "items"), "must have a schema if x-kubernetes-list-type is map")
    elif not isinstance(items, Mapping):
        f.invalid(found, (*path, "items"), items, "must only have a single schema if x-kubernetes-list-type is map")
    elif items.get("type") != "object":
        why = "must be object if parent array's x-kubernetes-list-type is map"
        f.invalid(found, (*path, "items", "type"), items.get("type") or "", why)
    else:
        _check_keys(items, keys, path, found)


def _wants_type(found: f.Problems, path: Path, kind: str, wanted: str, because: str) -> None:
    why = f"must be {wanted} if {because} is specified"
    f.invalid(found, (*path, "type"), kind, why) if kind else f.required(found, (*path, "type"), why)


def _check_keys(item: SchemaObject, keys: list[str], path: Path, found: f.Problems) -> None:
    """Check the keys of a list of type map against the schema of its items."""
    properties, at = f.as_field_mapping(item.get("properties")), (*path, "x-kubernetes-list-map-keys")
    needed = item.get("required")
    for key in dict.fromkeys(keys):
        field = properties.get(key)
        here = (*path, "items", "properties", key)
        if key not in properties:
            f.invalid(found, at, keys, f'entries must all be names of item properties: "{key}" is none')
            continue
        field = f.as_field_mapping(field)
        if field.get("type") in ("array", "object"):
            why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            f.invalid(found, (*here, "type"), field["type"], why)
        if key not in (needed if isinstance(needed, list) else ()) and field.get("default") is None:
            why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            f.required(found, (*here, "default"), why, f"add `{key}` to `required`")
        if field.get("nullable"):
            why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            f.forbidden(found, (*here, "nullable"), why)
    if len(set(keys)) < len(keys):
        f.invalid(found, at, keys, "must not contain duplicate entries")


def _check_atomic(item: SchemaObject, path: Path, found: f.Problems) -> None:
    why = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if item.get("type") == "array" and item.get("x-kubernetes-list-type") not in (None, "atomic"):
        f.invalid(found, (*path, "x-kubernetes-list-type"), item["x-kubernetes-list-type"], why)
    if item.get("type") == "object" and item.get("x-kubernetes-map-type") != "atomic":
        f.invalid(found, (*path, "x-kubernetes-map-type"), item.get("x-kubernetes-map-type"), why)


def _check_maps(node: SchemaObject, path: Path, found: f.Problems) -> None:
    kind, mapped = node.get("type") or "", node.get("x-kubernetes-map-type")
    if mapped is not None and kind != "object":
        _wants_type(found, path, kind, "object", "x-kubernetes-map-type")
    if mapped is not None and mapped not in ("atomic", "granular"):
        f.unsupported(found, (*path, "x-kubernetes-map-type"), mapped, ("atomic", "granular"))
    more = node.get("additionalProperties")
    if node.get("properties") and (more is False or isinstance(more, Mapping)):
        why = "additionalProperties and properties are mutual exclusive"
        f.forbidden(found, (*path, "additionalProperties"), why)


def _check_rules(node: SchemaObject, path: Path, found: f.Problems) -> None:
    """Check what stands beside the expressions of CEL rules."""
    rules = node.get("x-kubernetes-validations")
    for index, rule in f.indexed_mappings(rules):
        at = (*path, "x-kubernetes-validations", index)
        text, message = rule.get("rule") or "", rule.get("message") or ""
        if not text.strip():
            f.required(found, (*at, "rule"), "rule is not specified")
        elif message and not message.strip():
            f.invalid(found, (*at, "message"), message, "message must be non-empty if specified")
        elif _has_breaks(message.strip()):
            f.invalid(found, (*at, "message"), message, "message must not contain line breaks")
        elif _has_breaks(text.strip()) and not message:
            f.required(found, (*at, "message"), "message must be specified if rule contains line breaks")
        if rule.get("reason") is not None and rule["reason"] not in _REASONS:
            f.unsupported(found, (*at, "reason"), rule["reason"], _REASONS)


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _texts(node: SchemaObject, key: str) -> list[str]:
    value = node.get(f"x-kubernetes-{key}")
    return [one or "" for one in value] if isinstance(value, list) else []


def refusal(crd: SchemaObject) -> str:
    """Say why the API server refuses the schema of a CRD, or "" if it does not."""
    problems = crd_schema_problems(crd)
    return problems[0].message if problems else ""


def check_custom_definition(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """Check the schemas. What else the server demands of a CRD (names, columns, conversion) is not checked."""
    del context
    from ptcompile.apiserver.cel.cost import crd_cost_problems

    # as on the server, rules are estimated only in a schema that is sound
    found += crd_schema_problems(manifest) or crd_cost_problems(manifest)
