"""Validation of a CustomResourceDefinition's schema, as on the API server when the CRD is created.

Source: apiextensions-apiserver 1.36, pkg/apis/apiextensions/validation/validation.go (OpenAPI
keywords that a CRD may use), pkg/apiserver/schema/validation.go and complete.go (structural
schemas). As there, a schema that does not decode is not validated further, and one with an
unsupported field is not checked for structure. `validation.crd_schemas` validates defaults and CEL
rules, `apiserver.cel.cost` estimates the cost of rules.

A schema is structural if its types are in `properties`, `items` and `additionalProperties`, and
`allOf`, `anyOf`, `oneOf` and `not` only validate values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.kinds import versions
from ptcompile.apiserver.structure.checks import SchemaScope, definition_check
from ptcompile.apiserver.structure.violations import to_problem, type_mismatch
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.diagnostics import Path, Problem, field_path, problem_at
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_list, as_mapping, nested_map, nested_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    SchemaObject = Json


_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_KEYWORDS = load_table("apiserver/crds/keywords.json")
_TOP_LEVEL_KEYWORDS: Mapping[str, str] = _KEYWORDS["not in branches"]
"""Keywords that are not allowed below `allOf` and related keywords, with the value that they
must have instead.
"""
_IGNORED_IN_METADATA = frozenset({"type", "default", "example", "externalDocs"})
_LEVEL_DESCRIPTIONS = {
    "root": "at the root",
    "item": "for specified array items",
    "field": "for specified object fields",
}


def is_set(node: SchemaObject, key: str) -> bool:
    """Return whether a field differs from Go's zero value. Numbers are pointers in Go, so 0
    counts as set.
    """
    value = node.get(key)
    return value is not None and value is not False and value != "" and value != [] and value != {}


def structural_problems(schema: SchemaObject, path: Path) -> list[Problem]:
    """Return a problem for each part of an object's schema that is not structural."""
    problems = FieldErrors()
    _check_node(FieldValue(schema, path, CheckScope(ApiServer(), problems)), "root")
    _check_complete(schema, schema, path, path, problems)
    return problems


def _check_node(node: FieldValue, level: str) -> None:
    items = node["items"]
    has_items = isinstance(items.value, Mapping)
    if node.get("type") == "array" and not has_items:
        items.required("must be specified", "set the schema of the items")
    if has_items:
        _check_node(items, "item")
    for _, field in node["properties"].entries():
        _check_node(field, "field")

    additional = node["additionalProperties"]
    if additional.value is not None and level == "root":
        additional.forbidden("must not be used at the root")
    if isinstance(additional.value, Mapping):
        _check_node(additional, "field")

    _check_logic(node)
    _check_structural_type(node, level)
    _check_metadata(node, level)


def _check_structural_type(node: FieldValue, level: str) -> None:
    kind = node["type"].or_default("")
    embedded = node["x-kubernetes-embedded-resource"]
    int_or_string = node.get("x-kubernetes-int-or-string")
    preserves_unknown = node["x-kubernetes-preserve-unknown-fields"]
    for keyword in (preserves_unknown, embedded):
        if int_or_string and keyword.value:
            keyword.replaced(True).invalid("must be false if x-kubernetes-int-or-string is true")

    if embedded.value and kind.value != "object":
        _reject_type(kind, "must be object if x-kubernetes-embedded-resource is true")
    elif not kind.value and not int_or_string and not preserves_unknown.value:
        kind.required(
            f"must not be empty {_LEVEL_DESCRIPTIONS[level]}", "set the type of the value"
        )

    if embedded.value and node.get("additionalProperties") is not None:
        node["additionalProperties"].forbidden(
            "must not be used if x-kubernetes-embedded-resource is set"
        )
    if embedded.value and not preserves_unknown.value and not node.get("properties"):
        why = (
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields"
        )
        node["properties"].required(why)

    if level == "root" and kind.value and kind.value != "object":
        kind.invalid("must be object at the root")


def _reject_type(kind: FieldValue, why: str) -> None:
    if kind.value:
        kind.invalid(why)
    else:
        kind.required(why)


def _check_metadata(node: FieldValue, level: str) -> None:
    if level != "root" and not node.get("x-kubernetes-embedded-resource"):
        return

    properties = node["properties"]
    for name, expected in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        kind = properties[name]["type"]
        if name in properties.mapping and kind.value != expected:
            kind.or_default("").invalid(f"must be {expected}")

    metadata = properties["metadata"]
    specified = {
        key
        for key in metadata.mapping
        if key not in _IGNORED_IN_METADATA and is_set(metadata.mapping, key)
    }
    if nested_map(metadata.value, "properties").keys() <= {"name", "generateName"}:
        specified.discard("properties")
    if level == "root" and specified:
        why = (
            "must not specify anything other than name and generateName, but metadata is "
            "implicitly specified"
        )
        metadata.forbidden(why, "write `metadata: {type: object}`")


def _check_logic(node: FieldValue, *, skip_any_of: bool = False) -> None:
    """Check the branches of `allOf`, `anyOf`, `oneOf` and `not`; branches that mean "integer or
    string" may have types.
    """
    if not skip_any_of and not _is_int_or_string(node.mapping):
        for branch in node["anyOf"].objects():
            _check_branch(branch)
    for branch in node["allOf"].objects():
        is_first = branch.key == 0
        _check_branch(branch, skip_any_of=is_first and _is_int_or_string(branch.mapping))
    for branch in node["oneOf"].objects():
        _check_branch(branch)
    if isinstance(node.get("not"), Mapping):
        _check_branch(node["not"])


def _is_int_or_string(node: SchemaObject) -> bool:
    return [
        {key: branch[key] for key in branch if is_set(branch, key)}
        for branch in _branches(node, "anyOf")
    ] == _INT_OR_STRING


def _check_branch(node: FieldValue, *, skip_any_of: bool = False) -> None:
    _check_logic(node, skip_any_of=skip_any_of)
    if isinstance(node.get("items"), Mapping):
        _check_branch(node["items"])
    for _, field in node["properties"].entries():
        _check_branch(field)

    for key, expected in _TOP_LEVEL_KEYWORDS.items():
        if is_set(node.mapping, key) or (key == "default" and node.get(key) is not None):
            node[key].forbidden(f"must be {expected} to be structural")
    for key in ("additionalProperties", "externalDocs"):
        node[key].check_unset("must be undefined to be structural")
    if "metadata" in node["properties"].mapping:
        node["properties"]["metadata"].forbidden("must not be specified in a nested context")


def _check_complete(
    values: SchemaObject,
    node: SchemaObject,
    branch_path_prefix: Path,
    path: Path,
    problems: FieldErrors,
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
        _check_mentioned(branch, node, branch_path, path, problems)


def _check_mentioned(
    branch: SchemaObject, node: SchemaObject, branch_path: Path, path: Path, problems: FieldErrors
) -> None:
    """Check that the node describes every field that one of its branches mentions."""
    _check_complete(branch, node, branch_path, path, problems)
    parts: list[tuple[tuple[str, ...], Any]] = [
        (("properties", name), field) for name, field in nested_map(branch, "properties").items()
    ]
    if isinstance(branch.get("items"), Mapping):
        parts.append((("items",), branch["items"]))

    for keys, inner in parts:
        mentioned_path = (*branch_path, *keys)
        described_path = (*path, *keys)
        part = _child_schema(node, keys)
        if part is None:
            why = f"because it is defined in {field_path(mentioned_path)}"
            problems.append(
                problem_at(
                    "required-value",
                    mentioned_path,
                    f"Required value: {why}",
                    f"add {field_path(described_path)}",
                    field=field_path(described_path),
                )
            )
        else:
            _check_mentioned(as_mapping(inner), part, mentioned_path, described_path, problems)


def _child_schema(node: SchemaObject, keys: tuple[str, ...]) -> SchemaObject | None:
    if keys == ("items",):
        items = node.get("items")
        return items if isinstance(items, Mapping) else None
    _, name = keys
    properties = nested_map(node, "properties")
    return as_mapping(properties[name]) if name in properties else None


def _branches(node: SchemaObject, key: str) -> list[SchemaObject]:
    return [as_mapping(branch) for branch in as_list(node.get(key))]


_DOCUMENT = "kubernetes/groups/apiextensions.json"
_UNKNOWN_FIELD_RULES = frozenset({"unknown-field", "version-unknown-field"})

TYPES = ("array", "boolean", "integer", "number", "object", "string")
_LIST_KEYWORDS = ("allOf", "anyOf", "oneOf")
_MAP_KEYWORDS = ("properties", "patternProperties", "definitions")
_UNTYPED_KEYWORDS = ("items", "additionalProperties", "additionalItems", "dependencies")
"""Fields of several Go types, which a CRD's structural schema describes as any JSON."""
_UNSUPPORTED_KEYWORDS: list[str] = _KEYWORDS["unsupported"]
_AT_ROOT_WITH_STATUS = frozenset(_KEYWORDS["at a root with status"])
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def crd_schema_problems(crd: SchemaObject) -> list[Problem]:
    """Return the problems of the schemas of all versions of a CRD, served or not."""
    problems = FieldErrors()
    for path, schema, status in schemas_of(crd):
        problems += _decode_problems(schema, path) or _schema_problems(schema, path, status)
    return problems


def schemas_of(crd: SchemaObject) -> Iterator[tuple[Path, SchemaObject, bool]]:
    """Yield the path and schema of each version of a CRD, and whether its status is a
    subresource.
    """
    for index, version in enumerate(as_list(nested_value(crd, "spec", "versions"))):
        schema = nested_value(version, "schema", "openAPIV3Schema")
        if isinstance(schema, dict):
            status = nested_value(version, "subresources", "status") is not None
            yield ("spec", "versions", index, "schema", "openAPIV3Schema"), schema, status


def _decode_problems(schema: SchemaObject, path: Path) -> list[Problem]:
    """Return a problem for each value that Go cannot decode. Unknown fields are excluded: they are
    dropped or reported with the object.
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
    """Yield each schema in a schema, itself first: its path, the schema, and whether the checks of
    outer schemas skip it.
    """
    stack: list[tuple[Path, Any, bool]] = [(path, schema, True)]
    while stack:
        node_path, node, opaque = stack.pop()
        yield node_path, node, opaque
        if not isinstance(node, Mapping):
            continue

        for key in _MAP_KEYWORDS:
            stack += [
                ((*node_path, key, name), child, False)
                for name, child in nested_map(node, key).items()
            ]

        for key in _LIST_KEYWORDS:
            stack += [
                ((*node_path, key, index), child, False)
                for index, child in enumerate(as_list(node.get(key)))
            ]

        stack.append(((*node_path, "not"), node.get("not"), False))
        stack += _untyped_schemas(node, node_path)


def _untyped_schemas(node: SchemaObject, path: Path) -> Iterator[tuple[Path, Any, bool]]:
    """Yield the schemas below keywords that the typed fields leave out, as `_schemas_below` does:
    the checks of outer schemas skip them.
    """
    for key in _UNTYPED_KEYWORDS:
        value = node.get(key)
        if key == "dependencies":
            inner = as_mapping(value).items()
            yield from (
                ((*path, key, name), child, True)
                for name, child in inner
                if isinstance(child, Mapping)
            )
        elif isinstance(value, Mapping):
            yield (*path, key), value, True
        elif key == "items" and isinstance(value, list):
            yield from (
                ((*path, key, index), child, True)
                for index, child in enumerate(value)
                if child is not None
            )


def _schema_problems(schema: SchemaObject, path: Path, status: bool) -> list[Problem]:
    problems = FieldErrors()
    scope = CheckScope(ApiServer(), problems)
    root = FieldValue(schema, path, scope)
    extra = [key for key in schema if is_set(schema, key) and key not in _AT_ROOT_WITH_STATUS]
    if status and extra:
        why = (
            "this field is not allowed at the root of the schema if the status subresource is "
            "enabled"
        )
        root[min(extra)].forbidden(why)
    if schema.get("nullable"):
        root["nullable"].forbidden("nullable cannot be true at the root")

    unsupported = False
    for node_path, value, _ in _schemas_below(schema, path):
        if (
            not isinstance(value, Mapping)
            or "patternProperties" in node_path
            or "additionalItems" in node_path
        ):
            continue

        node = FieldValue(value, node_path, scope)
        before = len(problems)
        _check_supported(node)
        unsupported = unsupported or len(problems) > before
        _check_type(node)
        _check_lists(node)
        _check_maps(node)
        _check_rules(node)

    for name in ("apiVersion", "kind", "metadata"):
        for node_path, value, _ in _schemas_below(
            nested_map(schema, "properties", name), (*path, "properties", name)
        ):
            if isinstance(value, Mapping) and value.get("default") is not None:
                problems.forbidden((*node_path, "default"), f"must not be set in top-level {name}")

    if unsupported:
        return problems

    return [*structural_problems(schema, path), *problems]


def _check_supported(node: FieldValue) -> None:
    """Report keywords that no CRD schema may use."""
    for key in _UNSUPPORTED_KEYWORDS:
        is_pointer = key in ("$ref", "dependencies", "additionalItems")
        if is_set(node.mapping, key) or (is_pointer and node.get(key) is not None):
            help = _INLINE_HELP if key in ("$ref", "definitions") else ""
            node[key].forbidden(f"{key} is not supported", help)
    if isinstance(node.get("items"), list) and node.get("items"):
        node["items"].forbidden("items must be a schema object and not an array")
    preserves_unknown = node["x-kubernetes-preserve-unknown-fields"]
    if preserves_unknown.value is False:
        preserves_unknown.invalid("must be true or undefined", "remove it")


_INLINE_HELP = "write the schema out where it is used: a CRD cannot refer to another schema"


def _check_type(node: FieldValue) -> None:
    kind = node["type"]
    if kind.value == "null":
        kind.forbidden("type cannot be set to null, use nullable as an alternative")
    elif kind.value and kind.value not in TYPES:
        kind.unsupported(TYPES)
    if node.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        node["uniqueItems"].forbidden(why, "use `x-kubernetes-list-type: set`")


def _check_lists(node: FieldValue) -> None:
    """Check the keywords that make a list a set or a map."""
    list_type = _checked_structure(node, "x-kubernetes-list-type", "array", "atomic", "set", "map")
    keys = [text or "" for text in as_list(node.get("x-kubernetes-list-map-keys"))]
    if keys and list_type.value != "map":
        why = "must be map if x-kubernetes-list-map-keys is non-empty"
        if list_type.value is None:
            list_type.required(why)
        else:
            list_type.invalid(why)
    if list_type.value == "map":
        _check_map_list(node, keys)

    items = node["items"]
    has_item = isinstance(items.value, Mapping)
    if list_type.value in ("set", "map") and has_item and items.get("nullable"):
        items["nullable"].forbidden(
            f"cannot be nullable when x-kubernetes-list-type is {list_type.value}"
        )
    if list_type.value == "set" and node["type"].value == "array" and has_item:
        _check_atomic(items)


def _check_map_list(node: FieldValue, keys: list[str]) -> None:
    items = node["items"]
    if not keys:
        node["x-kubernetes-list-map-keys"].required(
            "must not be empty if x-kubernetes-list-type is map"
        )
    if items.value is None:
        items.required("must have a schema if x-kubernetes-list-type is map")
    elif not isinstance(items.value, Mapping):
        items.invalid("must only have a single schema if x-kubernetes-list-type is map")
    elif items.get("type") != "object":
        kind = items["type"].or_default("")
        kind.invalid("must be object if parent array's x-kubernetes-list-type is map")
    else:
        _check_keys(items, node["x-kubernetes-list-map-keys"].replaced(keys))


def _check_keys(item: FieldValue, keys: FieldValue) -> None:
    """Check the keys of a list of type map against the schema of its items."""
    required = as_list(item.get("required"))
    for key in dict.fromkeys(keys.value):
        if key not in item["properties"].mapping:
            keys.invalid(f'entries must all be names of item properties: "{key}" is not')
            continue

        field = item["properties"][key]
        if field.get("type") in ("array", "object"):
            field["type"].invalid(
                "must be a scalar type if parent array's x-kubernetes-list-type is map"
            )
        if key not in required and field.get("default") is None:
            why = (
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be "
                "a required property"
            )
            field["default"].required(why, f"add `{key}` to `required`")
        if field.get("nullable"):
            why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            field["nullable"].forbidden(why)

    if len(set(keys.value)) < len(keys.value):
        keys.invalid("must not contain duplicate entries")


def _check_atomic(item: FieldValue) -> None:
    why = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type = item["x-kubernetes-list-type"]
    map_type = item["x-kubernetes-map-type"]
    if item.get("type") == "array" and list_type.value not in (None, "atomic"):
        list_type.invalid(why)
    if item.get("type") == "object" and map_type.value != "atomic":
        map_type.invalid(why)


def _checked_structure(node: FieldValue, keyword: str, kind: str, *values: str) -> FieldValue:
    """Return the keyword that says how a list or a map is merged, after a check of its value."""
    structure = node[keyword]
    if structure.value is not None:
        if node["type"].value != kind:
            _reject_type(node["type"].or_default(""), f"must be {kind} if {keyword} is specified")
        if structure.value not in values:
            structure.unsupported(values)
    return structure


def _check_maps(node: FieldValue) -> None:
    _checked_structure(node, "x-kubernetes-map-type", "object", "atomic", "granular")
    additional = node["additionalProperties"]
    is_closed_or_typed = additional.value is False or isinstance(additional.value, Mapping)
    if node.get("properties") and is_closed_or_typed:
        additional.forbidden("additionalProperties and properties are mutual exclusive")


def _check_rules(node: FieldValue) -> None:
    """Check the fields of CEL rules other than their expressions."""
    for rule in node["x-kubernetes-validations"].objects():
        text = rule["rule"].or_default("")
        message = rule["message"].or_default("")
        if not text.value.strip():
            text.required("rule is not specified")
        elif message.value and not message.value.strip():
            message.invalid("message must be non-empty if specified")
        elif _has_line_breaks(message.value.strip()):
            message.invalid("message must not contain line breaks")
        elif _has_line_breaks(text.value.strip()) and not message.value:
            message.required("message must be specified if rule contains line breaks")
        if rule.get("reason") is not None and rule.get("reason") not in _REASONS:
            rule["reason"].unsupported(_REASONS)


def _has_line_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def rejection_reason(crd: SchemaObject) -> str:
    """Return why the API server rejects the schema of a CRD, or "" if it accepts it."""
    problems = crd_schema_problems(crd)
    return problems[0].message if problems else ""
