"""Predicates of schemas: each keyword, values of other types, and how branches are combined."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.evaluations import Evaluations, OutOfEvaluationsError
from ptcompile.apiserver.structure.logic import comparable_form, compile_logic

Json = dict[str, Any]
SMALL, EVEN = {"maximum": 5}, {"multipleOf": 2}

CASES: list[tuple[Json, list[Any], list[Any]]] = [
    ({"type": "array"}, [[]], ["", {}, None]),
    ({"type": "boolean"}, [True, False], [0, 1, "true"]),
    ({"type": "integer"}, [1, 1.0], [1.5, True, "1"]),
    ({"type": "number"}, [1, 1.5], [True, "1"]),
    ({"type": "object"}, [{}], [[], ""]),
    ({"type": "string"}, [""], [1, []]),
    (
        {"enum": [1, "a", [1], {"a": 1}]},
        [1, 1.0, "a", [1.0], {"a": 1.0}],
        [True, "1", [True], {"a": True}, [], {}],
    ),
    ({"minimum": 2, "maximum": 4}, [2, 4, True, "x"], [1, 5, 1.99, 4.01]),
    ({"minimum": 2, "exclusiveMinimum": True}, [2.01, 3], [2, 1]),
    ({"maximum": 2, "exclusiveMaximum": True}, [1.99, 1], [2, 3]),
    ({"multipleOf": 3}, [0, 3, -6, 9.0, "x"], [1, 4, 4.5]),
    ({"multipleOf": 0.1}, [0.3, 1], [0.35]),
    ({"minLength": 1, "maxLength": 2}, ["a", "ab", 7, []], ["", "abc"]),
    ({"minLength": 1}, ["a", "a" * 99], [""]),
    ({"maxLength": 1}, ["", "a"], ["ab"]),
    ({"minItems": 1, "maxItems": 2}, [[1], [1, 2], "", {}], [[], [1, 2, 3]]),
    ({"minProperties": 1, "maxProperties": 2}, [{"a": 1}, [], ""], [{}, {"a": 1, "b": 1, "c": 1}]),
    ({"maxItems": 0}, [[], "a"], [[1]]),
    ({"pattern": "^a"}, ["ab", 1, []], ["ba", ""]),
    ({"required": ["a", "b"]}, [{"a": 1, "b": 1}, [], "a"], [{"a": 1}, {}]),
    ({"items": SMALL}, [[], [1, 5], {"a": 6}], [[1, 6], [6]]),
    ({"properties": {"a": SMALL, "b": None}}, [{}, {"a": 5, "b": 9}, {"c": 9}, [6]], [{"a": 6}]),
    ({"allOf": [SMALL, EVEN]}, [2, 4], [1, 6, 7]),
    ({"anyOf": [SMALL, EVEN]}, [1, 2, 6], [7]),
    ({"oneOf": [SMALL, EVEN]}, [1, 6], [2, 7]),
    ({"oneOf": [SMALL, SMALL, EVEN]}, [6], [1, 2, 7]),
    ({"not": SMALL}, [6], [5]),
    ({"anyOf": [None, EVEN]}, [1, 2], []),
    ({"allOf": None, "anyOf": [], "oneOf": None}, [1, "x"], []),
]


@pytest.mark.parametrize(("schema", "right", "wrong"), CASES, ids=[str(case[0]) for case in CASES])
def test_a_schema_accepts_only_its_values(schema: Json, right: list[Any], wrong: list[Any]) -> None:
    holds = compile_logic(schema)
    assert [value for value in right if not holds(value, Evaluations())] == []
    assert [value for value in wrong if holds(value, Evaluations())] == []


def test_numbers_beyond_floats_pass() -> None:
    assert compile_logic({"multipleOf": 0.5})(10**400, Evaluations())


def test_each_schema_costs_one_and_its_keywords() -> None:
    holds = compile_logic({"type": "array", "items": {"type": "integer"}})
    enough = 3 + 2 * 4
    assert holds([1, 2, 3, 4], Evaluations(enough))
    with pytest.raises(OutOfEvaluationsError):
        holds([1, 2, 3, 4], Evaluations(enough - 1))


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ([1], [True], False),
        ({"a": [1]}, {"a": [1.0]}, True),
        ([], {}, False),
        ([["a", 1]], {"a": 1}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
    ],
)
def test_equal_json_has_the_same_form(a: Any, b: Any, equal: bool) -> None:
    assert (comparable_form(a) == comparable_form(b)) is equal
    assert len({comparable_form(a), comparable_form(b)}) == 2 - equal
