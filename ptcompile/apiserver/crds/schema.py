"""Validation of a CustomResourceDefinition's schema, as on the API server when the CRD is created.

Source: apiextensions-apiserver 1.36, pkg/apis/apiextensions/validation/validation.go (OpenAPI keywords that a CRD may
use), pkg/apiserver/schema/validation.go and complete.go (structural schemas). As there, a schema that does not decode
is not validated further, and one with an unsupported field is not checked for structure. `validation.crd_schemas`
validates defaults and CEL rules, `apiserver.cel.cost` estimates the cost of rules.

A schema is structural if its types are in `properties`, `items` and `additionalProperties`, and `allOf`, `anyOf`,
`oneOf` and `not` only validate values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.apiserver.kinds import versions
from ptcompile.apiserver.structure.checks import SchemaScope, definition_check
from ptcompile.apiserver.structure.violations import to_problem, type_mismatch
from ptcompile.diagnostics import Path, Problem, field_path, problem_at
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    SchemaObject = Json


_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_TOP_LEVEL_KEYWORDS = {
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
"""Keywords that are not allowed below `allOf` and related keywords, with the value that they must have instead."""
_IGNORED_IN_METADATA = frozenset({"type", "default", "example", "externalDocs"})
_LEVEL_DESCRIPTIONS = {
    "root": "at the root",
    "item": "for specified array items",
    "field": "for specified object fields",
}


def is_set(node: SchemaObject, key: str) -> bool:
    """Return whether a field differs from Go's zero value. Numbers are pointers in Go, so 0 counts as set."""
    value = node.get(key)
    return value is not None and value is not False and value != "" and value != [] and value != {}


def structural_problems(schema: SchemaObject, path: Path) -> list[Problem]:
    """Return a problem for each part of an object's schema that is not structural."""
    problems = FieldErrors()
    _check_node(schema, path, "root", problems)
    _check_complete(schema, schema, path, path, problems)
    return problems


def _check_node(node: SchemaObject, path: Path, level: str, problems: FieldErrors) -> None:
    kind = node.get("type") or ""
    items = node.get("items")
    more = node.get("additionalProperties")
    if kind == "array" and not isinstance(items, Mapping):
        problems.required((*path, "items"), "must be specified", "set the schema of the items")
    if isinstance(items, Mapping):
        _check_node(items, (*path, "items"), "item", problems)
    for name, field in nested_map(node, "properties").items():
        _check_node(as_mapping(field), (*path, "properties", name), "field", problems)
    if more is not None and level == "root":
        problems.forbidden((*path, "additionalProperties"), "must not be used at the root")
    if isinstance(more, Mapping):
        _check_node(more, (*path, "additionalProperties"), "field", problems)
    _check_logic(node, path, problems)
    _check_structural_type(node, kind, path, level, problems)
    _check_metadata(node, path, level, problems)


def _check_structural_type(node: SchemaObject, kind: str, path: Path, level: str, problems: FieldErrors) -> None:
    type_path = (*path, "type")
    embedded = bool(node.get("x-kubernetes-embedded-resource"))
    either = node.get("x-kubernetes-int-or-string")
    opened = node.get("x-kubernetes-preserve-unknown-fields")
    if either and opened:
        why = "must be false if x-kubernetes-int-or-string is true"
        problems.invalid((*path, "x-kubernetes-preserve-unknown-fields"), True, why)
    if embedded and either:
        why = "must be false if x-kubernetes-int-or-string is true"
        problems.invalid((*path, "x-kubernetes-embedded-resource"), True, why)
    if embedded and kind != "object":
        why = "must be object if x-kubernetes-embedded-resource is true"
        problems.invalid(type_path, kind, why) if kind else problems.required(type_path, why)
    elif not kind and not either and not opened:
        problems.required(type_path, f"must not be empty {_LEVEL_DESCRIPTIONS[level]}", "set the type of the value")
    if embedded and node.get("additionalProperties") is not None:
        why = "must not be used if x-kubernetes-embedded-resource is set"
        problems.forbidden((*path, "additionalProperties"), why)
    if embedded and not opened and not node.get("properties"):
        why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        problems.required((*path, "properties"), why)
    if level == "root" and kind and kind != "object":
        problems.invalid(type_path, kind, "must be object at the root")


def _check_metadata(node: SchemaObject, path: Path, level: str, problems: FieldErrors) -> None:
    if level != "root" and not node.get("x-kubernetes-embedded-resource"):
        return
    properties = nested_map(node, "properties")
    for name, expected in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if name in properties and as_mapping(properties[name]).get("type") != expected:
            type_name = as_mapping(properties[name]).get("type") or ""
            problems.invalid((*path, "properties", name, "type"), type_name, f"must be {expected}")
    metadata = nested_map(properties, "metadata")
    metadata_fields = nested_map(metadata, "properties")
    more = [key for key in metadata if key not in _IGNORED_IN_METADATA and is_set(metadata, key)]
    if level == "root" and [
        key for key in more if key != "properties" or not metadata_fields.keys() <= {"name", "generateName"}
    ]:
        why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        problems.forbidden((*path, "properties", "metadata"), why, "write `metadata: {type: object}`")


def _check_logic(node: SchemaObject, path: Path, problems: FieldErrors, *, skip_first: bool = False) -> None:
    """Check the branches of `allOf`, `anyOf`, `oneOf` and `not`; branches that mean "integer or string" may have
    types.
    """
    both = _branches(node, "allOf")
    skips = {"anyOf"} if skip_first or _is_int_or_string(node) else set()
    first = bool(both) and _is_int_or_string(both[0])
    for key in ("anyOf", "allOf", "oneOf"):
        for index, branch in enumerate(_branches(node, key) if key not in skips else ()):
            _check_branch(branch, (*path, key, index), problems, skip_any=first and key == "allOf" and index == 0)
    if isinstance(node.get("not"), Mapping):
        _check_branch(node["not"], (*path, "not"), problems)


def _is_int_or_string(node: SchemaObject) -> bool:
    return [
        {key: branch[key] for key in branch if is_set(branch, key)} for branch in _branches(node, "anyOf")
    ] == _INT_OR_STRING


def _check_branch(node: SchemaObject, path: Path, problems: FieldErrors, *, skip_any: bool = False) -> None:
    _check_logic(node, path, problems, skip_first=skip_any)
    if isinstance(node.get("items"), Mapping):
        _check_branch(node["items"], (*path, "items"), problems)
    properties = nested_map(node, "properties")
    for name, field in properties.items():
        _check_branch(as_mapping(field), (*path, "properties", name), problems)
    for key, expected in _TOP_LEVEL_KEYWORDS.items():
        if is_set(node, key) or (key == "default" and node.get(key) is not None):
            problems.forbidden((*path, key), f"must be {expected} to be structural")
    for key in ("additionalProperties", "externalDocs"):
        if node.get(key) is not None:
            problems.forbidden((*path, key), "must be undefined to be structural")
    if "metadata" in properties:
        problems.forbidden((*path, "properties", "metadata"), "must not be specified in a nested context")


def _check_complete(
    values: SchemaObject, node: SchemaObject, branch_path_prefix: Path, path: Path, problems: FieldErrors
) -> None:
    """Check that the root describes every field that the branches mention."""
    branches = [
        ((*branch_path_prefix, key, i), branch)
        for key in ("allOf", "anyOf", "oneOf")
        for i, branch in enumerate(_branches(values, key))
    ]
    if isinstance(values.get("not"), Mapping):
        branches.append(((*branch_path_prefix, "not"), values["not"]))
    for branch_path, branch in branches:
        _check_complete(branch, node, branch_path, path, problems)
        _check_children(branch, node, branch_path, path, problems)


def _check_children(
    branch: SchemaObject, node: SchemaObject, branch_path: Path, path: Path, problems: FieldErrors
) -> None:
    parts: list[tuple[tuple[str, ...], Any]] = [
        (("properties", name), field) for name, field in nested_map(branch, "properties").items()
    ]
    if isinstance(branch.get("items"), Mapping):
        parts.append((("items",), branch["items"]))
    for keys, inner in parts:
        described_path = (*path, *keys)
        part = _child_schema(node, keys)
        if part is None:
            why = f"because it is defined in {field_path((*branch_path, *keys))}"
            problems.append(
                problem_at(
                    "required-value",
                    (*branch_path, *keys),
                    f"Required value: {why}",
                    f"add {field_path(described_path)}",
                    field=field_path(described_path),
                )
            )
        else:
            _check_complete(as_mapping(inner), part, (*branch_path, *keys), described_path, problems)
            _check_children(as_mapping(inner), part, (*branch_path, *keys), described_path, problems)


def _child_schema(node: SchemaObject, keys: tuple[str, ...]) -> SchemaObject | None:
    if keys == ("items",):
        items = node.get("items")
        return items if isinstance(items, Mapping) else None
    properties = nested_map(node, "properties")
    return as_mapping(properties[keys[1]]) if keys[1] in properties else None


def _branches(node: SchemaObject, key: str) -> list[SchemaObject]:
    value = node.get(key)
    return [as_mapping(branch) for branch in value] if isinstance(value, list) else []


_DOCUMENT = "kubernetes/groups/apiextensions.json"
_UNKNOWN_FIELD_RULES = frozenset({"unknown-field", "version-unknown-field"})

TYPES = ("array", "boolean", "integer", "number", "object", "string")
_LIST_KEYWORDS = ("allOf", "anyOf", "oneOf")
_MAP_KEYWORDS = ("properties", "patternProperties", "definitions")
_UNTYPED_KEYWORDS = ("items", "additionalProperties", "additionalItems", "dependencies")
"""Fields of several Go types, which a CRD's structural schema describes as any JSON."""
_UNSUPPORTED_KEYWORDS = (
    "$schema",
    "$ref",
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
)
_NUMBER_KEYWORDS = ("maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems", "multipleOf")
_AT_ROOT_WITH_STATUS = frozenset(
    {
        *("description", "type", "format", "title", "pattern", "required", "items", "properties"),
        *("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "externalDocs", "example", *_NUMBER_KEYWORDS),
        *("x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
    }
)
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def crd_schema_problems(crd: SchemaObject) -> list[Problem]:
    """Return the problems of the schemas of all versions of a CRD, served or not."""
    problems = FieldErrors()
    for path, schema, status in schemas_of(crd):
        problems += _decode_problems(schema, path) or _schema_problems(schema, path, status)
    return problems


def schemas_of(crd: SchemaObject) -> Iterator[tuple[Path, SchemaObject, bool]]:
    """Yield the path and schema of each version of a CRD, and whether its status is a subresource."""
    version_entries = nested_map(crd, "spec").get("versions")
    for index, version in enumerate(version_entries if isinstance(version_entries, list) else ()):
        schema = as_mapping(as_mapping(version).get("schema")).get("openAPIV3Schema")
        if isinstance(schema, dict):
            status = as_mapping(as_mapping(version).get("subresources")).get("status") is not None
            yield ("spec", "versions", index, "schema", "openAPIV3Schema"), schema, status


def _decode_problems(schema: SchemaObject, path: Path) -> list[Problem]:
    """Return a problem for each value that Go cannot decode. Unknown fields are excluded: they are dropped or reported
    with the object.
    """
    check = definition_check("v1.JSONSchemaProps", SchemaScope(_DOCUMENT, versions()[-1], False))
    problems: list[Problem] = []
    for node_path, node, opaque in _schemas_below(schema, path):
        violations = (check(node) or []) if opaque else []
        for key in ("additionalProperties", "additionalItems"):
            if isinstance(node, Mapping) and not isinstance(node.get(key), Mapping | bool | None):
                violation = type_mismatch("boolean or object", node[key])
                violation.path.append(key)
                violations.append(violation)
        for violation in violations:
            if violation.name not in _UNKNOWN_FIELD_RULES:
                violation.path += reversed(node_path)
                problems.append(to_problem(violation))
    return problems


def _schemas_below(schema: SchemaObject, path: Path) -> Iterator[tuple[Path, Any, bool]]:
    """Yield each schema in a schema, itself first: its path, the schema, and whether the checks of outer schemas skip
    it.
    """
    stack: list[tuple[Path, Any, bool]] = [(path, schema, True)]
    while stack:
        node_path, node, opaque = stack.pop()
        yield node_path, node, opaque
        if not isinstance(node, Mapping):
            continue
        for key in _MAP_KEYWORDS:
            stack += [((*node_path, key, name), child, False) for name, child in nested_map(node, key).items()]
        for key in _LIST_KEYWORDS:
            children = node.get(key)
            stack += [
                ((*node_path, key, index), child, False)
                for index, child in enumerate(children if type(children) is list else ())
            ]
        stack.append(((*node_path, "not"), node.get("not"), False))
        stack += _untyped_schemas(node, node_path)


def _untyped_schemas(node: SchemaObject, path: Path) -> Iterator[tuple[Path, Any, bool]]:
    for key in _UNTYPED_KEYWORDS:
        value = node.get(key)
        if key == "dependencies":
            inner = as_mapping(value).items()
            yield from (((*path, key, name), child, True) for name, child in inner if isinstance(child, Mapping))
        elif isinstance(value, Mapping):
            yield (*path, key), value, True
        elif key == "items" and isinstance(value, list):
            yield from (((*path, key, index), child, True) for index, child in enumerate(value) if child is not None)


def _schema_problems(schema: SchemaObject, path: Path, status: bool) -> list[Problem]:
    problems = FieldErrors()
    extra = sorted(key for key in schema if is_set(schema, key) and key not in _AT_ROOT_WITH_STATUS)
    if status and extra:
        why = "this field is not allowed at the root of the schema if the status subresource is enabled"
        problems.forbidden((*path, extra[0]), why)
    if schema.get("nullable"):
        problems.forbidden((*path, "nullable"), "nullable cannot be true at the root")
    unsupported = False
    for node_path, node, _ in _schemas_below(schema, path):
        if not isinstance(node, Mapping) or "patternProperties" in node_path or "additionalItems" in node_path:
            continue
        before = len(problems)
        _check_supported(node, node_path, problems)
        unsupported = unsupported or len(problems) > before
        _check_type(node, node_path, problems)
        _check_lists(node, node_path, problems)
        _check_maps(node, node_path, problems)
        _check_rules(node, node_path, problems)
    for name in ("apiVersion", "kind", "metadata"):
        for node_path, node, _ in _schemas_below(nested_map(schema, "properties", name), (*path, "properties", name)):
            if isinstance(node, Mapping) and node.get("default") is not None:
                problems.forbidden((*node_path, "default"), f"must not be set in top-level {name}")
    return problems if unsupported else [*structural_problems(schema, path), *problems]


def _check_supported(node: SchemaObject, path: Path, problems: FieldErrors) -> None:
    """Report keywords that no CRD schema may use."""
    for key in _UNSUPPORTED_KEYWORDS:
        is_pointer = key in ("$ref", "dependencies", "additionalItems")
        if is_set(node, key) or (is_pointer and node.get(key) is not None):
            problems.forbidden((*path, key), f"{key} is not supported", _unsupported_help(key))
    if isinstance(node.get("items"), list) and node["items"]:
        problems.forbidden((*path, "items"), "items must be a schema object and not an array")
    if node.get("x-kubernetes-preserve-unknown-fields") is False:
        problems.invalid(
            (*path, "x-kubernetes-preserve-unknown-fields"), False, "must be true or undefined", "remove it"
        )


def _unsupported_help(key: str) -> str:
    if key in ("$ref", "definitions"):
        return "write the schema out where it is used: a CRD cannot refer to another schema"
    return f"remove `{key}`"


def _check_type(node: SchemaObject, path: Path, problems: FieldErrors) -> None:
    kind = node.get("type") or ""
    if kind == "null":
        problems.forbidden((*path, "type"), "type cannot be set to null, use nullable as an alternative")
    elif kind and kind not in TYPES:
        problems.unsupported((*path, "type"), kind, TYPES)
    if node.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        problems.forbidden((*path, "uniqueItems"), why, "use `x-kubernetes-list-type: set`")


def _check_lists(node: SchemaObject, path: Path, problems: FieldErrors) -> None:
    """Check the keywords that make a list a set or a map."""
    kind = node.get("type") or ""
    listed = node.get("x-kubernetes-list-type")
    keys = _extension_texts(node, "list-map-keys")
    if listed is not None and kind != "array":
        _require_type(problems, path, kind, "array", "x-kubernetes-list-type")
    if listed is not None and listed not in ("atomic", "set", "map"):
        problems.unsupported((*path, "x-kubernetes-list-type"), listed, ("atomic", "set", "map"))
    if keys and listed != "map":
        why = "must be map if x-kubernetes-list-map-keys is non-empty"
        list_type_path = (*path, "x-kubernetes-list-type")
        problems.required(list_type_path, why) if listed is None else problems.invalid(list_type_path, listed, why)
    if listed == "map":
        _check_map_list(node, keys, path, problems)
    item = node.get("items")
    if listed in ("set", "map") and isinstance(item, Mapping) and item.get("nullable"):
        problems.forbidden((*path, "items", "nullable"), f"cannot be nullable when x-kubernetes-list-type is {listed}")
    if listed == "set" and kind == "array" and isinstance(item, Mapping):
        _check_atomic(item, (*path, "items"), problems)


def _check_map_list(node: SchemaObject, keys: list[str], path: Path, problems: FieldErrors) -> None:
    items = node.get("items")
    if not keys:
        why = "must not be empty if x-kubernetes-list-type is map"
        problems.required((*path, "x-kubernetes-list-map-keys"), why)
    if items is None:
        problems.required((*path, "items"), "must have a schema if x-kubernetes-list-type is map")
    elif not isinstance(items, Mapping):
        problems.invalid((*path, "items"), items, "must only have a single schema if x-kubernetes-list-type is map")
    elif items.get("type") != "object":
        why = "must be object if parent array's x-kubernetes-list-type is map"
        problems.invalid((*path, "items", "type"), items.get("type") or "", why)
    else:
        _check_keys(items, keys, path, problems)


def _require_type(problems: FieldErrors, path: Path, kind: str, expected: str, because: str) -> None:
    why = f"must be {expected} if {because} is specified"
    problems.invalid((*path, "type"), kind, why) if kind else problems.required((*path, "type"), why)


def _check_keys(item: SchemaObject, keys: list[str], path: Path, problems: FieldErrors) -> None:
    """Check the keys of a list of type map against the schema of its items."""
    properties = nested_map(item, "properties")
    keys_path = (*path, "x-kubernetes-list-map-keys")
    required = item.get("required")
    for key in dict.fromkeys(keys):
        field = properties.get(key)
        key_schema_path = (*path, "items", "properties", key)
        if key not in properties:
            problems.invalid(keys_path, keys, f'entries must all be names of item properties: "{key}" is not')
            continue
        field = as_mapping(field)
        if field.get("type") in ("array", "object"):
            why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            problems.invalid((*key_schema_path, "type"), field["type"], why)
        if key not in (required if isinstance(required, list) else ()) and field.get("default") is None:
            why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            problems.required((*key_schema_path, "default"), why, f"add `{key}` to `required`")
        if field.get("nullable"):
            why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            problems.forbidden((*key_schema_path, "nullable"), why)
    if len(set(keys)) < len(keys):
        problems.invalid(keys_path, keys, "must not contain duplicate entries")


def _check_atomic(item: SchemaObject, path: Path, problems: FieldErrors) -> None:
    why = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if item.get("type") == "array" and item.get("x-kubernetes-list-type") not in (None, "atomic"):
        problems.invalid((*path, "x-kubernetes-list-type"), item["x-kubernetes-list-type"], why)
    if item.get("type") == "object" and item.get("x-kubernetes-map-type") != "atomic":
        problems.invalid((*path, "x-kubernetes-map-type"), item.get("x-kubernetes-map-type"), why)


def _check_maps(node: SchemaObject, path: Path, problems: FieldErrors) -> None:
    kind = node.get("type") or ""
    mapped = node.get("x-kubernetes-map-type")
    if mapped is not None and kind != "object":
        _require_type(problems, path, kind, "object", "x-kubernetes-map-type")
    if mapped is not None and mapped not in ("atomic", "granular"):
        problems.unsupported((*path, "x-kubernetes-map-type"), mapped, ("atomic", "granular"))
    more = node.get("additionalProperties")
    if node.get("properties") and (more is False or isinstance(more, Mapping)):
        why = "additionalProperties and properties are mutual exclusive"
        problems.forbidden((*path, "additionalProperties"), why)


def _check_rules(node: SchemaObject, path: Path, problems: FieldErrors) -> None:
    """Check the fields of CEL rules other than their expressions."""
    rules = node.get("x-kubernetes-validations")
    for index, rule in indexed_mappings(rules):
        rule_path = (*path, "x-kubernetes-validations", index)
        text = rule.get("rule") or ""
        message = rule.get("message") or ""
        if not text.strip():
            problems.required((*rule_path, "rule"), "rule is not specified")
        elif message and not message.strip():
            problems.invalid((*rule_path, "message"), message, "message must be non-empty if specified")
        elif _has_line_breaks(message.strip()):
            problems.invalid((*rule_path, "message"), message, "message must not contain line breaks")
        elif _has_line_breaks(text.strip()) and not message:
            problems.required((*rule_path, "message"), "message must be specified if rule contains line breaks")
        if rule.get("reason") is not None and rule["reason"] not in _REASONS:
            problems.unsupported((*rule_path, "reason"), rule["reason"], _REASONS)


def _has_line_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _extension_texts(node: SchemaObject, key: str) -> list[str]:
    value = node.get(f"x-kubernetes-{key}")
    return [text or "" for text in value] if isinstance(value, list) else []


def rejection_reason(crd: SchemaObject) -> str:
    """Return why the API server rejects the schema of a CRD, or "" if it accepts it."""
    problems = crd_schema_problems(crd)
    return problems[0].message if problems else ""
