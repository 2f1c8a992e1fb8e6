"""Defaults and CEL rules in the schemas of CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.crds.schema import crd_schema_problems
from ptcompile.apiserver.validation.crd_schemas import SchemaPathError, crd_value_problems, field_at
from ptcompile.kubernetes.requests import ApiServer
from tests.counting import steps

Json = dict[str, Any]
TEXT, COUNT = {"type": "string"}, {"type": "integer"}


def problems(**field: Any) -> list[str]:
    """Return the problems of a CRD with one field `p`, without the path of its schema."""
    schema = {"type": "object", "properties": {"p": field}}
    crd = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}
    assert crd_schema_problems(crd) == []
    messages = [problem.message for problem in crd_value_problems(crd, ApiServer())]
    return [
        message.replace("spec.versions[0].schema.openAPIV3Schema.properties.p", "p")
        for message in messages
    ]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({"type": "integer", "default": 1}, []),
        (
            {"type": "integer", "default": "1"},
            ['p.default: Invalid value: "1": must be of type integer, not string ("1")'],
        ),
        (
            {"type": "integer", "minimum": 2, "default": 1},
            ["p.default: Invalid value: 1: must be greater than or equal to 2"],
        ),
        (
            {"type": "string", "enum": ["a"], "default": "b"},
            ['p.default: Invalid value: "b": supported values: "a"'],
        ),
        ({"type": "object", "properties": {"a": COUNT}, "default": {"a": 1}}, []),
        (
            {"type": "object", "properties": {"a": COUNT}, "default": {"a": "x"}},
            ['p.default: Invalid value: {...}: a: must be of type integer, not string ("x")'],
        ),
        (
            {"type": "object", "properties": {"a": COUNT}, "default": {"b": 1}},
            ["p.default: Invalid value: {...}: must be pruned: b is not a field"],
        ),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": {"b": 1}}, []),
        (
            {"type": "array", "items": {**COUNT, "default": "x"}},
            ["p.items.default: Invalid value: "],
        ),
        (
            {"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": "self > 1"}]},
            ["p.default: Invalid value: 1: Invalid value: failed rule: self > 1"],
        ),
    ],
)
def test_wrong_defaults_are_rejected(field: Json, expected: list[str]) -> None:
    reported = problems(**field)
    assert len(reported) == len(expected)
    assert all(
        message.startswith(start) for message, start in zip(reported, expected, strict=True)
    ), reported


def rule(text: str, **fields: Any) -> list[Json]:
    return [{"rule": text, **fields}]


OBJECT = {"type": "object", "properties": {"a": COUNT, "b": TEXT}}
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["b"],
    "items": {**OBJECT, "required": ["b"]},
}
UNMATCHED = "oldSelf cannot be used on the uncorrelatable portion of the schema within"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (rule("self.a > 1"), []),
        (rule("self.a == oldSelf.a"), []),
        (rule("oldSelf.orValue(self).a > 1", optionalOldSelf=True), []),
        (rule("self.a > 1", messageExpression="'not ' + self.b"), []),
        (rule("self.a > 1", fieldPath=".a"), []),
        (rule("self.a > 1", fieldPath="['b']"), []),
        (rule("self.a"), ["cel expression must evaluate to a bool"]),
        (rule("self.c == 1"), ["compilation failed: undefined field 'c'"]),
        (
            rule("self.a == 'x'"),
            ["found no matching overload for '_==_' applied to '(int, string)'"],
        ),
        (rule("self.a >"), ["compilation failed: syntax error"]),
        (
            rule("object.a > 1"),
            ["compilation failed: undeclared reference to 'object' (in container '')"],
        ),
        (
            rule("self.a > 1", messageExpression="self.a"),
            ["messageExpression must evaluate to a string"],
        ),
        (
            rule("self.a > 1", messageExpression="self.c"),
            ["messageExpression compilation failed: undefined field 'c'"],
        ),
        (
            rule("self.a > 1", messageExpression=" "),
            ["messageExpression must be non-empty if specified"],
        ),
        (
            rule("self.a > 1", optionalOldSelf=True),
            ["may not be set if oldSelf is not used in rule"],
        ),
        (
            rule("self.a > 1", fieldPath=".c"),
            ["must be a valid path: does not refer to a valid field"],
        ),
        (rule("self.a > 1", fieldPath=" "), ["fieldPath must be non-empty if specified"]),
        (rule("self.a > 1", fieldPath=".a\n"), ["fieldPath must not contain line breaks"]),
    ],
)
def test_wrong_rules_are_rejected(rules: list[Json], expected: list[str]) -> None:
    reported = problems(**OBJECT, **{"x-kubernetes-validations": rules})
    assert len(reported) == len(expected)
    assert all(part in message for part, message in zip(expected, reported, strict=True)), reported


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (KEYED, []),
        ({"type": "array", "items": OBJECT}, [UNMATCHED]),
        ({"type": "array", "x-kubernetes-list-type": "atomic", "items": OBJECT}, [UNMATCHED]),
        ({"type": "object", "additionalProperties": OBJECT}, []),
        (
            {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"o": OBJECT}},
            [UNMATCHED],
        ),
    ],
)
def test_rules_may_use_the_old_value_only_where_items_correspond(
    field: Json, expected: list[str]
) -> None:
    ruled = {"x-kubernetes-validations": rule("self.a == oldSelf.a")}
    child = next(key for key in ("items", "additionalProperties", "properties") if key in field)
    inner = {"o": {**OBJECT, **ruled}} if child == "properties" else {**field[child], **ruled}
    reported = problems(**{**field, child: inner})
    assert len(reported) == len(expected)
    assert all(part in message for part, message in zip(expected, reported, strict=True)), reported


def test_defaults_come_before_rules() -> None:
    wrong = {**OBJECT, "x-kubernetes-validations": rule("self.c"), "default": {"a": "x"}}
    (message,) = problems(**wrong)
    assert "must be of type integer" in message


SCHEMA = {
    "type": "object",
    "properties": {"a b": TEXT, "m": {"type": "object", "additionalProperties": COUNT}},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".m.x", "integer"),
        (".m['x.y']", "integer"),
        ("['a b']", "string"),
        (".m['it\\'s']", "integer"),
        (".x", "does not refer to a valid field"),
        ("m", "expected [ or . but got: m"),
        ("[m]", "expected single quoted string but got m"),
        ("['m'", "expected ] but got "),
        (".", "unexpected end of JSON path"),
    ],
)
def test_a_field_path_leads_to_its_schema(text: str, expected: str) -> None:
    try:
        result = field_at(text, SCHEMA, brackets=True)[1]["type"]
    except SchemaPathError as error:
        result = str(error)
    assert result == expected


def test_rules_at_many_levels_take_bounded_work() -> None:
    schema: Json = dict(COUNT)
    for _ in range(150):
        schema = {
            "type": "object",
            "properties": {"p": schema},
            "x-kubernetes-validations": rule("has(self.p)"),
        }
    found: list[str] = []
    assert steps(lambda: found.extend(problems(**schema))) < 5_000_000
    assert found == []
