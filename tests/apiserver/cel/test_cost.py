"""CRDs that the API server rejects because of the estimated cost of their rules."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ptcompile.apiserver.cel.cost import SELECTOR_LIMIT, crd_cost_problems, device_selector_cost
from ptcompile.apiserver.validation.api_extensions import check_custom_definition
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes.requests import ApiServer
from tests.apiserver.crds.test_schema import TEXT, crd, object_schema

Json = dict[str, Any]

NUMBERS: Json = {"type": "array", "items": {"type": "integer"}}
TABLE: Json = {"type": "array", "items": NUMBERS}
MAP: Json = {"type": "object", "additionalProperties": {"type": "integer"}}


def crd_with_rules(p: Json, *rules: str) -> Json:
    """Return a CRD with rules for an object with one field."""
    return crd(object_schema(p, **{"x-kubernetes-validations": [{"rule": rule} for rule in rules]}))


def rejections(manifest: Json) -> list[str]:
    """Return the path and message of each problem, without the advice."""
    messages = [problem.message for problem in crd_cost_problems(manifest)]
    return [message.partition(" (try ")[0].partition("openAPIV3Schema")[2] for message in messages]


HUNDRED = ".x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x"


@pytest.mark.parametrize(
    ("p", "rule"),
    [
        (NUMBERS, "self.p.all(a, self.p.exists(b, a == b))"),
        (NUMBERS, "self.p.filter(a, self.p.filter(b, a == b).size() > 1).size() == 0"),
        (NUMBERS, "self.p.map(a, self.p.exists_one(b, a == b)).size() == 0"),
        (TABLE, "self.p.all(row, row.all(a, self.p[0].exists(b, a == b)))"),
        (MAP, "self.p.all(a, self.p.exists(b, a == b))"),
        (MAP, "self.p.all(k, v, self.p.exists(a, b, b == v))"),
        (NUMBERS, "true ? self.p.all(a, a in self.p) : false"),
        (NUMBERS, "cel.bind(x, 1, true) && !self.p.all(a, a in self.p)"),
        (NUMBERS, "self.p.map(a, a).all(a, self.p.all(b, true))"),
        (TEXT, "[" + ", ".join("0" * 900) + "].all(i, self.p.contains('" + "a" * 999 + "'))"),
        (TEXT, "[" + ", ".join("0" * 900) + "].all(i, self.p.matches('" + "a" * 999 + "'))"),
    ],
)
def test_rules_far_above_the_limit_are_rejected(p: Json, rule: str) -> None:
    assert rejections(crd_with_rules(p, rule))[:1] == [HUNDRED]


def test_nested_literals_are_counted() -> None:
    rule = "true"
    for name in "abcdefghij":
        rule = f"[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all({name}, {rule})"
    assert rejections(crd_with_rules(TEXT, rule))[0] == HUNDRED


def test_text_that_grows_is_counted() -> None:
    rule = '"a"' + '.replace("a", "aaaaaaaaaaaaaaaa")' * 9 + ".size() > 0"
    assert rejections(crd_with_rules(TEXT, rule)) == [HUNDRED.replace("more than 100x", "91.6x")]


@pytest.mark.parametrize(
    ("p", "rule"),
    [
        (NUMBERS, "self.p.all(a, a > 0)"),
        (NUMBERS | {"maxItems": 1000}, "self.p.all(a, self.p.exists(b, a == b))"),
        (MAP | {"maxProperties": 1000}, "self.p.all(a, self.p.exists(b, a == b))"),
        (
            TABLE | {"maxItems": 100, "items": NUMBERS | {"maxItems": 100}},
            "self.p.all(a, a.all(b, b in self.p[0]))",
        ),
        (TEXT | {"maxLength": 100}, "[1, 2, 3].all(i, self.p.matches('^[a-z]+$'))"),
        (TEXT | {"enum": ["a", "b"]}, "[1, 2, 3].all(i, self.p.matches('^[a-z]+$'))"),
        # the server's estimate is not certain for these
        (NUMBERS, "self.p.filter(a, a > 0).all(a, self.q.all(b, a == b))"),
        ({"x-kubernetes-preserve-unknown-fields": True}, "self.p.all(a, self.p.all(b, a == b))"),
        (NUMBERS, "self.p.all(a, self.p.all(b, "),
    ],
)
def test_a_cost_near_the_limit_is_accepted(p: Json, rule: str) -> None:
    assert rejections(crd_with_rules(p, rule)) == []


def test_a_rule_counts_as_often_as_its_node_can_occur() -> None:
    item = {
        "type": "string",
        "maxLength": 1000,
        "x-kubernetes-validations": [{"rule": f"self.matches('{'a' * 400}')"}],
    }
    once = crd(object_schema(item))
    assert rejections(once) == []
    many = crd(object_schema({"type": "array", "items": item}))
    assert rejections(many)[0] == ".properties.p.items" + HUNDRED
    few = crd(object_schema({"type": "array", "maxItems": 100, "items": item}))
    assert rejections(few) == []


def test_many_cheap_rules_exceed_the_total() -> None:
    rules = [f"self.p.all(a, a > {n})" for n in range(400)]
    assert rejections(crd_with_rules(NUMBERS, *rules)) == [
        ": Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by"
        " factor of 25.2x"
    ]
    assert rejections(crd_with_rules(NUMBERS, *rules[:100])) == []


_NESTED_LOOPS = "self.p.all(a, self.p.exists(b, a == b))"


def test_a_rule_that_costs_too_much_is_reported_with_the_document() -> None:
    problems = FieldErrors()
    scope = CheckScope(ApiServer(), problems)
    check_custom_definition(FieldValue(crd_with_rules(NUMBERS, _NESTED_LOOPS), (), scope))
    assert "estimated rule cost" in problems[0].message
    assert (
        problems[0].help
        == "simplify the rule, or set maxItems, maxProperties and maxLength in the schema"
    )
    assert problems[0].path[-3:] == ("x-kubernetes-validations", 0, "rule")


def test_the_rules_of_a_wrong_schema_have_no_cost() -> None:
    problems = FieldErrors()
    definition = crd_with_rules({"type": "array"}, _NESTED_LOOPS)
    check_custom_definition(FieldValue(definition, (), CheckScope(ApiServer(), problems)))
    assert problems
    assert not any("cost" in problem.message for problem in problems)


def test_estimates_take_linear_time() -> None:
    depth = 49
    rule = "self.p"
    for n in range(depth):
        rule = f"self.p.all(a{n}, {rule} == 1)"
    start = time.process_time()
    assert rejections(crd_with_rules(NUMBERS, *[rule] * 50))
    assert time.process_time() - start < 2


def nested_loops(depth: int) -> str:
    """Return a device selector with loops within loops."""
    body = "true"
    for level in range(depth):
        body = f"device.attributes.all(d{level}, {body})"
    return body


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("device.driver == 'a'", False),
        (nested_loops(3), False),
        (nested_loops(4), True),
        (
            "device.capacity.all(d, device.capacity[d].all(c, device.attributes[d].all(a, "
            + nested_loops(1)
            + ")))",
            True,
        ),
        ("type(1) == int", True),
        ("device.driver == 'a' && type(device.driver) != string", True),
        ("device.driver == 'type(1) == int'", False),
        ("[type(1)] == [int]", False),
        ("1 +", False),
    ],
)
def test_only_expensive_device_selectors_are_above_the_limit(text: str, is_refused: bool) -> None:
    assert (device_selector_cost(text) > SELECTOR_LIMIT) is is_refused
