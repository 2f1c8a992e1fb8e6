"""Time and memory limits for users' schemas, and the report of unchecked parts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.evaluations import Evaluations, OutOfEvaluationsError
from tests.apiserver.crds.test_schema import crd, foo_object, object_schema

Json = dict[str, Any]

SECONDS = 2.0
"""Limit of CPU time, in seconds; without the bounds, each case took more than ten seconds or never ended."""


def doubling(depth: int) -> Json:
    """Return a schema of references, each evaluated twice as often as the previous one."""
    steps = {f"a{n}": {"allOf": [{"$ref": f"#/definitions/a{n + 1}"}] * 2} for n in range(depth)}
    return {
        "definitions": {**steps, f"a{depth}": {"type": "object"}},
        "allOf": [{"$ref": "#/definitions/a0"}],
    }


def items(schema: Json) -> Json:
    """Return the schema of an object with a list."""
    return {"properties": {"p": {"items": schema}}}


MANY_LISTS = [[n] for n in range(6000)]

SHAPES: dict[str, tuple[Json, Any, str]] = {
    "endless": (
        {"properties": {"p": {"$ref": "#/properties/p"}}},
        "x",
        "refers to itself endlessly",
    ),
    "doubling": (doubling(28), "x", "takes too long"),
    "alternatives": (
        items({"oneOf": [{"minimum": n} for n in range(2500)]}),
        [-1] * 20_000,
        "takes too long",
    ),
    "one of a long list": (
        items({"anyOf": [{"maxItems": n} for n in range(3000)]}),
        [[0] * 20_000],
        "takes too long",
    ),
    "choices": (items({"enum": list(range(10_000))}), [-1] * 8_000, "not one of [0, 1, 2,"),
    "names": (
        items({"dependentRequired": {f"a{n}": ["b"] for n in range(9_000)}}),
        [{}] * 9_000,
        "takes too long",
    ),
    "unique": ({"properties": {"p": {"uniqueItems": True}}}, [*MANY_LISTS, {"a": 1}], ""),
    "not unique": (
        {"properties": {"p": {"uniqueItems": True}}},
        [*MANY_LISTS, {}, [5.0]],
        "non-unique",
    ),
    "number for a type": (
        items({"type": 5}),
        [1],
        "it is not a JSON Schema: properties.p.items.type: 5 is not",
    ),
    "number for a list": (
        {"required": 5},
        1,
        "it is not a JSON Schema: required: 5 is not of type 'array'",
    ),
    "no name of a draft": (
        {"$schema": []},
        1,
        "it is not a JSON Schema: $schema: must be a string",
    ),
    "patterns of unevaluated": (
        {"unevaluatedProperties": False, "patternProperties": {"(a|a)*b": {}}},
        1,
        "unevaluatedProperties together with patternProperties is not supported",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_costly_json_schemas_end_with_their_message(shape: str, tmp_path: Path) -> None:
    schema, value, message = SHAPES[shape]
    path = tmp_path / "foo-x-v1.json"
    path.write_text(json.dumps(schema), encoding="utf-8")
    start = time.process_time()
    diagnostics = ptcompile.lint(foo_object(value), schemas=[path]).diagnostics
    assert time.process_time() - start < SECONDS
    assert len(diagnostics) <= 101
    assert all(len(d.message) < 600 for d in diagnostics)
    assert any(message in d.message for d in diagnostics) if message else not diagnostics


def test_endlessly_nested_json_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "foo-x-v1.json"
    path.write_text('{"a":' * 100_000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"foo-x-v1\.json"):
        ptcompile.lint(foo_object(1), schemas=[path])


def test_a_json_schema_that_is_nested_too_deep_is_not_applied(tmp_path: Path) -> None:
    path = tmp_path / "foo-x-v1.json"
    path.write_text('{"allOf": [' * 200 + '{"type": "object"}' + "]}" * 200, encoding="utf-8")
    (diagnostic,) = ptcompile.lint(foo_object(1), schemas=[path]).diagnostics
    assert (diagnostic.name, diagnostic.severity) == ("unread-rule", "warning")
    assert "nested too deep" in diagnostic.message


@pytest.mark.parametrize("objects", [1, 100])
def test_many_alternatives_of_a_crd_end_at_the_limit(objects: int) -> None:
    """One object with a long list and many objects share the same limit."""
    many = {"type": "integer", "anyOf": [{"minimum": 1_000_000 + n} for n in range(1400)]}
    values = [[0] * (10_000 // objects)] * objects
    start = time.process_time()
    report = ptcompile.lint(
        [crd(object_schema({"type": "array", "items": many})), *map(foo_object, values)]
    )
    assert time.process_time() - start < SECONDS
    assert report.diagnostics[0].message.endswith("must validate anyOf of the CRD's schema")
    assert "takes too long" in report.diagnostics[-1].message
    assert not report.ok


def test_many_choices_of_a_crd_are_shortened_in_messages() -> None:
    for kind, first in (("integer", 0), ("string", "")):
        choices = [n if kind == "integer" else f"{first}{n}" for n in range(5000)]
        value = choices[0] * 2 if kind == "string" else -1
        schema = {"type": "array", "items": {"type": kind, "enum": choices}}
        start = time.process_time()
        report = ptcompile.lint([crd(object_schema(schema)), foo_object([value] * 4500)])
        assert time.process_time() - start < SECONDS
        assert len(report.diagnostics) == 4500
        assert all("and 4980 more" in d.message for d in report.diagnostics)


def test_the_budget_grows_with_the_object() -> None:
    evaluations = Evaluations(1)
    evaluations.grant(100)
    evaluations.spend(2001)
    with pytest.raises(OutOfEvaluationsError):
        evaluations.spend(1)
    assert evaluations.ran_out
