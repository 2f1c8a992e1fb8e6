"""Schemas of CustomResourceDefinitions: which ones the API server rejects, and how it checks objects against them."""

from __future__ import annotations

import json
from itertools import islice, product
from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.crds.schema import crd_schema_problems

Json = dict[str, Any]


def crd(schema: Any, **version: Any) -> Json:
    """Return a CustomResourceDefinition of one kind with this schema."""
    versions = [
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
            **version,
        }
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.x.io"},
        "spec": {
            "group": "x.io",
            "names": {"kind": "Foo", "plural": "foos"},
            "scope": "Namespaced",
            "versions": versions,
        },
    }


def object_schema(p: Any, **root: Any) -> Json:
    """Return the schema of an object with one field."""
    return {"type": "object", "properties": {"p": p}, **root}


def foo_object(p: Any) -> Json:
    """Return an object of the kind."""
    return {"apiVersion": "x.io/v1", "kind": "Foo", "metadata": {"name": "a"}, "p": p}


TEXT = {"type": "string"}
KEYED = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}
MAP_OF_KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": KEYED,
}


@pytest.mark.parametrize(
    "p",
    [
        TEXT,
        {"type": "string", "enum": ["a", 1]},
        {"type": "string", "multipleOf": 2, "maxProperties": 1, "minItems": 3, "required": ["x"]},
        {"type": "string", "items": 5},
        {"type": "string", "enum": None, "required": None, "allOf": None, "default": None},
        {"type": "string", "enum": []},
        {"type": "integer", "minItems": 1.0},
        {
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string", "nullable": False}],
        },
        {
            "x-kubernetes-int-or-string": True,
            "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}],
        },
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "additionalProperties": False},
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True},
        {
            "type": "object",
            "properties": {"a": TEXT},
            "oneOf": [{"required": ["a"]}, {"not": {"required": ["a"]}}],
        },
        {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
        {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        MAP_OF_KEYED,
    ],
)
def test_schemas_that_the_server_accepts_have_no_problem(p: Json) -> None:
    assert crd_schema_problems(crd(object_schema(p))) == []


@pytest.mark.parametrize(
    ("p", "where", "what"),
    [
        ({"type": "string", "$ref": "#"}, "$ref", "Forbidden: $ref is not supported"),
        (
            {"type": "string", "allOf": [{"$ref": "#"}]},
            "allOf.0.$ref",
            "Forbidden: $ref is not supported",
        ),
        ({"type": "string", "$schema": "x"}, "$schema", "Forbidden: $schema is not supported"),
        ({"type": "string", "id": "x"}, "id", "Forbidden: id is not supported"),
        (
            {"type": "object", "definitions": {"a": TEXT}},
            "definitions",
            "Forbidden: definitions is not supported",
        ),
        (
            {"type": "object", "dependencies": {}},
            "dependencies",
            "Forbidden: dependencies is not supported",
        ),
        (
            {"type": "object", "patternProperties": {"a": {}}},
            "patternProperties",
            "Forbidden: patternProperties is not",
        ),
        (
            {"type": "array", "additionalItems": True},
            "additionalItems",
            "Forbidden: additionalItems is not supported",
        ),
        (
            {"type": "array", "items": [TEXT]},
            "items",
            "Forbidden: items must be a schema object and not an array",
        ),
        (
            {"type": "array", "items": TEXT, "uniqueItems": True},
            "uniqueItems",
            "Forbidden: uniqueItems cannot be set",
        ),
        ({"type": "array"}, "items", "Required value: must be specified"),
        (
            {"type": "array", "items": {}},
            "items.type",
            "Required value: must not be empty for specified array items",
        ),
        (
            {"type": "null"},
            "type",
            "Forbidden: type cannot be set to null, use nullable as an alternative",
        ),
        (
            {"type": "text"},
            "type",
            'Unsupported value: "text": supported values: "array", "boolean", "integer"',
        ),
        ({}, "type", "Required value: must not be empty for specified object fields"),
        ({"type": 5}, "type", "must be of type string"),
        ({"type": "string", "minLength": "x"}, "minLength", "must be of type int64"),
        ({"type": "array", "items": {"type": 5}}, "items.type", "must be of type string"),
        (
            {"type": "object", "additionalProperties": 1},
            "additionalProperties",
            "must be of type boolean or object",
        ),
        (
            {"type": "object", "additionalProperties": {"enum": 1}},
            "additionalProperties.enum",
            "must be of type array",
        ),
        (
            {"type": "string", "anyOf": [{"type": "string"}]},
            "anyOf.0.type",
            "Forbidden: must be empty to be structural",
        ),
        (
            {"type": "string", "not": {"default": 0}},
            "not.default",
            "Forbidden: must be undefined to be structural",
        ),
        (
            {"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT},
            "additionalProperties",
            "Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            {"type": "string", "x-kubernetes-preserve-unknown-fields": False},
            "x-kubernetes-preserve-unknown-fields",
            "Invalid value: false: must be true or undefined",
        ),
        (
            {**MAP_OF_KEYED, "x-kubernetes-list-map-keys": ["b"]},
            "x-kubernetes-list-map-keys",
            "entries must all be names",
        ),
        (
            {**MAP_OF_KEYED, "x-kubernetes-list-map-keys": None},
            "x-kubernetes-list-map-keys",
            "Required value: must not",
        ),
        (
            {**MAP_OF_KEYED, "x-kubernetes-list-type": None},
            "x-kubernetes-list-type",
            "Required value: must be map if",
        ),
        (
            {**MAP_OF_KEYED, "type": "object"},
            "type",
            "must be array if x-kubernetes-list-type is specified",
        ),
        (
            {**MAP_OF_KEYED, "items": {**KEYED, "required": []}},
            "items.properties.name.default",
            "Required value: this",
        ),
        (
            {**MAP_OF_KEYED, "items": {**KEYED, "nullable": True}},
            "items.nullable",
            "Forbidden: cannot be nullable when",
        ),
        (
            {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"},
            "items.x-kubernetes-map-type",
            "must be atomic as item of a list with x-kubernetes-list-type=set",
        ),
        (
            {"type": "object", "x-kubernetes-map-type": "x"},
            "x-kubernetes-map-type",
            'Unsupported value: "x"',
        ),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True},
            "properties",
            "Required value: must not be empty if x-kubernetes-embedded-resource",
        ),
        (
            {"type": "string", "x-kubernetes-validations": [{"rule": " "}]},
            "x-kubernetes-validations.0.rule",
            "Required",
        ),
        (
            {"type": "string", "x-kubernetes-validations": [{"rule": "true", "message": "a\nb"}]},
            "x-kubernetes-validations.0.message",
            "must not contain line breaks",
        ),
    ],
)
def test_schemas_that_the_server_rejects_have_their_problem(p: Json, where: str, what: str) -> None:
    problems = crd_schema_problems(crd(object_schema(p)))
    at = {".".join(map(str, problem.path[7:])): problem.message for problem in problems}
    assert what in at.get(where, ""), at


@pytest.mark.parametrize(
    ("schema", "version", "what"),
    [
        ({"type": "string"}, {}, "must be object at the root"),
        ({"properties": {}}, {}, "must not be empty at the root"),
        ({"type": "object", "nullable": True}, {}, "nullable cannot be true at the root"),
        ({"type": "object", "additionalProperties": TEXT}, {}, "must not be used at the root"),
        (
            {"type": "object", "maxProperties": 5},
            {"subresources": {"status": {}}},
            "if the status subresource is enabled",
        ),
        (
            {"type": "object", "properties": {"metadata": {"type": "object", "maxProperties": 2}}},
            {},
            "must not specify anything other than name and generateName",
        ),
        ({"type": "object", "properties": {"kind": {"type": "integer"}}}, {}, "must be string"),
        (
            {"type": "object", "properties": {"kind": {"type": "string", "default": "a"}}},
            {},
            "must not be set in top-level",
        ),
        ({"type": "object", "anyOf": [{"properties": {"a": {}}}]}, {}, "because it is defined in"),
    ],
)
def test_requirements_for_the_root_are_checked(schema: Json, version: Json, what: str) -> None:
    assert any(what in problem.message for problem in crd_schema_problems(crd(schema, **version)))


def test_objects_of_a_rejected_crd_are_not_checked() -> None:
    rejected_crd = crd(object_schema({"type": "string", "allOf": [{"$ref": "#"}]}))
    text = "".join(f"---\n{json.dumps(manifest)}\n" for manifest in (rejected_crd, foo_object(5)))
    rejected, unchecked = ptcompile.lint(text).diagnostics
    assert (rejected.name, rejected.severity, rejected.span and rejected.span.line) == (
        "forbidden-value",
        "error",
        2,
    )
    assert (unchecked.name, unchecked.severity, unchecked.resource) == (
        "unread-rule",
        "warning",
        "Foo/a",
    )
    assert "$ref is not supported" in unchecked.message


@pytest.mark.parametrize("decoded", [True, False])
def test_a_crd_in_decoded_data_checks_its_objects(decoded: bool) -> None:
    manifests = [crd(object_schema({"type": "integer"})), foo_object("x")]
    source: Any = (
        manifests
        if decoded
        else "".join(f"---\n{json.dumps(manifest)}\n" for manifest in manifests)
    )
    assert [d.path for d in ptcompile.lint(source).diagnostics] == [("p",)]


@pytest.mark.parametrize(
    ("schema", "value", "names"),
    [
        ({"type": "string", "enum": ["a", 1]}, "b", ["unsupported-value"]),
        ({"type": "string", "enum": ["a", 1]}, "a", []),
        ({"type": "string", "multipleOf": 2}, "b", []),
        ({"type": "string", "maxProperties": 0, "minProperties": 9}, "b", []),
        ({"type": "integer", "enum": [1.0]}, 1, []),
        ({"type": "number", "multipleOf": 0.1}, 0.3, []),
        ({"type": "number", "multipleOf": 0.1}, 0.35, ["invalid-value"]),
        ({"type": "string", "enum": [f"a{n}" for n in range(500)]}, "b", ["unsupported-value"]),
        ({"type": "integer", "oneOf": [{"minimum": 5}, {"maximum": 7}]}, 6, ["invalid-value"]),
        ({"type": "integer", "oneOf": [{"minimum": 5}, {"maximum": 7}]}, 8, []),
        ({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 3}]}, 4, ["invalid-value"]),
        (
            {"type": "integer", "allOf": [{"minimum": 5, "exclusiveMinimum": True}]},
            5,
            ["invalid-value"],
        ),
        ({"type": "integer", "not": {"enum": [4, 5]}}, 5, ["invalid-value"]),
        ({"type": "string", "not": {"pattern": "^a"}}, "ba", []),
        ({"type": "string", "not": {"maxLength": 1}}, "b", ["invalid-value"]),
        (
            {"type": "array", "items": TEXT, "not": {"items": {"enum": ["a"]}}},
            ["a"],
            ["invalid-value"],
        ),
        (
            {**KEYED, "not": {"properties": {"name": {"multipleOf": 2}}, "required": ["x"]}},
            {"name": "a"},
            [],
        ),
    ],
)
def test_values_are_checked_against_a_valid_schema(
    schema: Json, value: Any, names: list[str]
) -> None:
    report = ptcompile.lint([crd(object_schema(schema)), foo_object(value)])
    assert [d.name for d in report.diagnostics] == names
    assert all(len(d.message) < 1000 for d in report.diagnostics)


VALUES: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        1.5,
        1e20,
        "",
        "(",
        "self",
        [],
        {},
        [None],
        [[]],
        [{}],
        [1],
        ["a", "a"],
        {"a": 1},
    ),
    *({"type": "string"}, [{"rule": 1}], [{"rule": "self"}], [{"rule": "false", "fieldPath": 5}]),
]
KEYS = [
    *(
        "type",
        "enum",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "multipleOf",
        "format",
        "maxItems",
    ),
    *(
        "minItems",
        "maxProperties",
        "minProperties",
        "required",
        "items",
        "additionalProperties",
        "properties",
        "allOf",
    ),
    *(
        "anyOf",
        "oneOf",
        "not",
        "nullable",
        "default",
        "$ref",
        "description",
        "exclusiveMinimum",
        "uniqueItems",
    ),
    *(
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-validations",
        "x-kubernetes-int-or-string",
    ),
    *(
        "x-kubernetes-embedded-resource",
        "x-kubernetes-preserve-unknown-fields",
        "x-logic",
        "x-rules",
        "x-decoded",
    ),
]
BASES: list[Json] = [
    {"type": "string"},
    {"type": "number"},
    {"type": "array", "items": KEYED},
    KEYED,
    {},
]
OBJECTS = ["s", 5, ["a"], [{"name": "x"}], {"name": "x"}, {"name": {"c": 1}}, True, [1, None]]


@pytest.mark.parametrize("key", KEYS)
def test_a_value_of_any_type_in_a_schema_does_not_crash(key: str) -> None:
    """Each field is tested with a fifth of all values, a different fifth per field."""
    for value, base in islice(product(VALUES, BASES), KEYS.index(key) % 5, None, 5):
        for schema in (object_schema({**base, key: value}), {**object_schema(base), key: value}):
            report = ptcompile.lint([crd(schema), *map(foo_object, OBJECTS)])
            assert not any("cannot be applied" in d.message for d in report.diagnostics), (
                key,
                value,
                base,
            )


def test_a_crash_in_one_document_does_not_affect_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("ptcompile.apiserver.crds.compile_node", broken)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}}
    report = ptcompile.lint([crd(object_schema(TEXT)), foo_object("x"), pod])
    assert [d.name for d in report.diagnostics] == ["unread-rule", "required-value"]
