"""x-kubernetes-validations of a CRD on objects: transitions, messages, types of values, and rules without an answer.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/apiserver/schema/cel/validation.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.crds.rules import rule_problems
from ptcompile.operators.table import kind_named

Json = dict[str, Any]


def _schema(field: Json, *rules: Json) -> Json:
    """Return an object's schema with one field `p`, and rules for the object."""
    schema: Json = {"type": "object", "properties": {"p": field}, "x-ruled": True}
    return {**schema, "x-rules": list(rules)} if rules else schema


def _messages(schema: Json, new: Json, *old: Json) -> list[str]:
    return [problem.message for problem in rule_problems(schema, "x.json", new, *old)]


TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer"}


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"rule": "self.p == 'a'"}, "failed rule: self.p == 'a'"),
        ({"rule": "self.p  ==\n 'a'"}, "failed rule: self.p == 'a'"),
        ({"rule": "self.p == 'a'", "message": "must be a"}, "must be a"),
        ({"rule": "self.p == 'a'", "message": ""}, "failed rule: self.p == 'a'"),
        (
            {"rule": "self.p == 'a'", "message": "m", "messageExpression": "'not ' + self.p"},
            "not b",
        ),
        (
            {"rule": "self.p == 'a'", "message": "m", "messageExpression": "' not ' + self.p"},
            "not b",
        ),
        ({"rule": "self.p == 'a'", "message": "m", "messageExpression": "'  '"}, "m"),
        ({"rule": "self.p == 'a'", "message": "m", "messageExpression": "'x\\ny'"}, "m"),
        ({"rule": "self.p == 'a'", "message": "m", "messageExpression": "self.q"}, "m"),
        (
            {"rule": "self.p == 'a'", "message": "m", "messageExpression": f"'{'x' * 5120}'"},
            "x" * 5120,
        ),
        ({"rule": "self.p == 'a'", "message": "m", "messageExpression": f"'{'x' * 5121}'"}, "m"),
    ],
)
def test_a_violated_rule_has_its_message(rule: Json, message: str) -> None:
    (reported,) = _messages(_schema(TEXT, rule), {"p": "b"})
    assert reported.partition("Invalid value: ")[2].partition(": ")[2].endswith(
        message
    ) or reported.endswith(message)
    assert _messages(_schema(TEXT, rule), {"p": "a"}) == []


@pytest.mark.parametrize(
    ("rule", "new", "old", "count"),
    [
        (
            {"rule": "self.p >= oldSelf.p"},
            {"p": 1},
            None,
            0,
        ),  # no old value, so the rule does not run
        ({"rule": "self.p >= oldSelf.p"}, {"p": 1}, {"p": 2}, 1),
        ({"rule": "self.p >= oldSelf.p"}, {"p": 3}, {"p": 2}, 0),
        ({"rule": "oldSelf.hasValue()", "optionalOldSelf": True}, {"p": 1}, None, 1),
        ({"rule": "oldSelf.hasValue()", "optionalOldSelf": True}, {"p": 1}, {"p": 2}, 0),
        (
            {"rule": "!oldSelf.hasValue() || oldSelf.value().p == 2", "optionalOldSelf": True},
            {"p": 1},
            {"p": 2},
            0,
        ),
        ({"rule": "self.p >= oldSelf.p", "optionalOldSelf": False}, {"p": 1}, None, 0),
    ],
)
def test_transition_rules_compare_with_the_old_value(
    rule: Json, new: Json, old: Json | None, count: int
) -> None:
    assert len(_messages(_schema(NUMBER, rule), new, *([] if old is None else [old]))) == count


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ({"type": "number"}, 1, "self.p == 1.0 && type(self.p) == double"),
        ({"type": "integer"}, 1, "type(self.p) == int"),
        ({"type": "number"}, 2**63, "type(self.p) == double"),
        ({"type": "integer"}, 2**63 - 1, "type(self.p) == int"),
        (
            {"type": "string", "format": "date-time"},
            "2026-01-02T03:04:05Z",
            "self.p.getFullYear() == 2026",
        ),
        ({"type": "string", "format": "date"}, "2026-01-02", "self.p.getFullYear() == 2026"),
        ({"type": "string", "format": "duration"}, "90s", "self.p == duration('1m30s')"),
        ({"type": "string", "format": "byte"}, "eHk=", "self.p.size() == 2 && self.p == b'xy'"),
        ({"type": "string"}, "2026-01-02", "self.p.size() == 10"),
        (
            {"type": "array", "items": {"type": "number"}},
            [1],
            "self.p[0] == 1.0 && type(self.p[0]) == double",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "number"}},
            {"k": 1},
            "type(self.p['k']) == double",
        ),
    ],
)
def test_values_have_the_types_of_their_fields(field: Json, value: Any, rule: str) -> None:
    assert _messages(_schema(field, {"rule": rule}), {"p": value}) == []
    assert len(_messages(_schema(field, {"rule": f"!({rule})"}), {"p": value})) == 1


def test_a_rule_names_the_field_that_it_is_about() -> None:
    rule = {"rule": "self.p == 'a'", "fieldPath": ".p", "message": "m"}
    (problem,) = rule_problems(_schema(TEXT, rule), "x.json", {"p": "b"})
    assert problem.path == ("p",)
    (problem,) = rule_problems(_schema(TEXT, {"rule": "self.p == 'a'"}), "x.json", {"p": "b"})
    assert problem.path == ()


@pytest.mark.parametrize("rule", ["false", "self.p > 'x' && self.q"])
def test_a_known_rule_is_reported_at_its_field_with_help(rule: str) -> None:
    """Even if it fails on the values; the message begins with the node that has the rule."""
    helps = kind_named(("kueue.x-k8s.io/v1beta1", "ClusterQueue")).rule_helps
    assert helps
    for reason, (field, help) in helps.items():
        schema = _schema(TEXT, {"rule": rule, "message": reason})
        manifest = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "p": "y"}
        (problem,) = rule_problems(schema, "x.json", manifest)
        assert (problem.path, problem.help, problem.start) == (field, help, "")
        (other,) = rule_problems(schema, "x.json", {**manifest, "kind": "Other"})
        assert (other.path, other.field, other.help) == ((), None, "see the rule in the CRD")
