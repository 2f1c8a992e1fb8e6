"""JSON Schemas of users: what each keyword reports, and schemas that cannot be applied."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.evaluations import Evaluations, enter, leave
from ptcompile.apiserver.structure.json_schema import JsonSchema, json_schema_problems
from ptcompile.diagnostics import Problem

Json = dict[str, Any]


def problems(schema: Any, value: Any, budget: int = 100_000) -> list[Problem]:
    """Return the problems of an object whose field `a` has a value, by the schema of that field."""
    definition = JsonSchema({"type": "object", "properties": {"a": schema}}, "foo.json")
    token = enter(Evaluations(budget))
    try:
        return list(json_schema_problems({"kind": "Foo", "a": value}, definition))
    finally:
        leave(token)


TEXT, PAIR = {"type": "string"}, {"b": {"type": "string"}, "c": {}}


@pytest.mark.parametrize(
    ("schema", "value", "name", "path", "message"),
    [
        (TEXT, 1, "wrong-type", ("a",), "a: 1 is not of type 'string'"),
        ({"required": ["b"]}, {}, "required-value", ("a",), "a: 'b' is a required property"),
        (
            {"properties": PAIR},
            {"b": 1},
            "wrong-type",
            ("a", "b"),
            "a.b: 1 is not of type 'string'",
        ),
        (
            {"properties": PAIR, "additionalProperties": False},
            {"b": "", "d": 1},
            "unknown-field",
            ("a", "d"),
            "a.d: Additional properties are not allowed ('d' was unexpected)",
        ),
        (
            {"additionalProperties": False, "patternProperties": {"^x": {}}},
            {"x1": 1, "d": 1, "e": 1},
            "unknown-field",
            ("a", "x1"),
            "a.x1: Additional properties are not allowed ('d', 'e' were unexpected)",
        ),
        (
            {"unevaluatedProperties": False},
            {"d": 1},
            "invalid-value",
            ("a",),
            "Unevaluated properties are not allowed",
        ),
        (
            {"additionalProperties": TEXT},
            {"d": 1},
            "wrong-type",
            ("a", "d"),
            "a.d: 1 is not of type 'string'",
        ),
        (
            {"patternProperties": {"^x": TEXT}},
            {"x": 1, "y": 1},
            "wrong-type",
            ("a", "x"),
            "a.x: 1 is not of type",
        ),
        ({"enum": [1, 2]}, True, "invalid-value", ("a",), "a: True is not one of [1, 2]"),
        ({"enum": list(range(21))}, "x", "invalid-value", ("a",), "19, and 1 more]"),
        (
            {"uniqueItems": True},
            [1, 1.0],
            "invalid-value",
            ("a",),
            "a: [1, 1.0] has non-unique elements",
        ),
        (
            {"anyOf": [TEXT, {"minimum": 5}]},
            4,
            "invalid-value",
            ("a",),
            "a: 4 is not valid under any",
        ),
        (
            {"oneOf": [TEXT, {"minimum": 5}]},
            4,
            "invalid-value",
            ("a",),
            "a: 4 is not valid under any",
        ),
        (
            {"oneOf": [{"minimum": 1}, {"minimum": 2}, TEXT]},
            3,
            "invalid-value",
            ("a",),
            "a: 3 is valid under each of",
        ),
        ({"pattern": "^b"}, "c", "invalid-value", ("a",), "a: 'c' does not match '^b'"),
    ],
)
def test_a_json_schema_reports_the_problem_at_its_path(
    schema: Json, value: Any, name: str, path: tuple[str, ...], message: str
) -> None:
    (problem,) = problems(schema, value)
    assert (problem.name, problem.path, problem.help) == (name, path, "see the schema in foo.json")
    assert message in problem.message
    assert problem.on_key is (name == "unknown-field")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (TEXT, "x"),
        (TEXT, None),
        ({"properties": PAIR, "additionalProperties": False}, {"b": "", "c": 1}),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, {"x1": 1}),
        ({"additionalProperties": False}, [1]),
        ({"enum": [1, 2]}, 1.0),
        ({"uniqueItems": True}, [1, True, "1"]),
        ({"uniqueItems": False}, [1, 1]),
        ({"uniqueItems": True}, "aa"),
        ({"anyOf": [TEXT, {"minimum": 5}]}, 5),
        ({"oneOf": [{"minimum": 1}, {"minimum": 5}]}, 3),
        ({"pattern": "^b"}, 5),
    ],
)
def test_values_that_a_schema_accepts_have_no_problem(schema: Json, value: Any) -> None:
    assert problems(schema, value) == []


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "strin"}, "it is not a JSON Schema: properties.a.type: "),
        ({"$ref": "other.json"}, "it refers to other.json, which is not in the file"),
        ({"$ref": "#"}, None),
        ({"$ref": "#/properties/a"}, "it is nested too deep or refers to itself endlessly"),
        (
            {"unevaluatedProperties": False, "patternProperties": {"x": {}}},
            "unevaluatedProperties together with",
        ),
        ({"items": [{"unevaluatedProperties": False}, {"patternProperties": {}}]}, None),
        ({"additionalProperties": TEXT}, "it reports more than 99 mistakes"),
    ],
)
def test_a_schema_that_cannot_be_applied_is_a_finding(schema: Json, why: str | None) -> None:
    reported = problems(schema, dict.fromkeys(map(str, range(101)), 1))
    if why is None:
        assert [problem.name for problem in reported] == []
    else:
        assert reported[-1].name == "unread-rule"
        assert reported[-1].severity == "warning"
        to_the_end = " to the end" if len(reported) > 1 else ""
        assert reported[-1].message.startswith(
            f"the JSON Schema in foo.json was not applied{to_the_end}: {why}"
        )


def test_root_of_an_invalid_schema_is_named() -> None:
    definition = JsonSchema({"type": "objec"}, "foo.json")
    (problem,) = json_schema_problems({"kind": "Foo"}, definition)
    assert "it is not a JSON Schema: type: " in problem.message
    (problem,) = json_schema_problems(
        {"kind": "Foo"}, JsonSchema({"$schema": 1, "type": "object"}, "foo.json")
    )
    assert problem.message.endswith("it is not a JSON Schema: $schema: must be a string")


def test_long_checks_end() -> None:
    nested: Any = TEXT
    for _ in range(6):
        nested = {"anyOf": [{"items": nested}] * 6}
    value: Any = 1
    for _ in range(6):
        value = [value] * 6
    reported = problems(nested, value, budget=0)
    assert (
        reported[-1].message
        == "the JSON Schema in foo.json was not applied: checking it takes too long"
    )


def test_long_messages_keep_their_ends() -> None:
    (problem,) = problems({"pattern": "^b"}, "c" * 500)
    assert len(problem.message) <= 300
    assert problem.message.startswith("a: 'ccc")
    assert "does not match" in problem.message
