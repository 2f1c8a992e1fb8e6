"""Affinities that no node can match."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, fires, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _pod(selector: Json, *terms: list[Json]) -> Json:
    affinity = {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
        }
    }
    return pod(nodeSelector=selector, affinity=affinity, containers=[{"name": "a", "image": "a:1"}])


def _expression(operator: str, *values: str, key: str = "pool") -> Json:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("selector", "terms", "expected"),
    [
        ({"pool": "a"}, [[_expression("In", "b")]], True),
        ({"pool": "a"}, [[_expression("In", "a", "b")]], False),
        (
            {"pool": "a"},
            [[_expression("In", "b")], [_expression("In", "a")]],
            False,
        ),  # terms are alternatives
        ({"pool": "a"}, [[_expression("In", "b")], [_expression("In", "c")]], True),
        ({"pool": "a"}, [[_expression("NotIn", "a")]], True),
        ({"pool": "a"}, [[_expression("DoesNotExist")]], True),
        ({"pool": "a"}, [[_expression("Exists")]], False),
        ({}, [[_expression("In", "a"), _expression("In", "b")]], True),
        ({}, [[_expression("In", "a", "b"), _expression("NotIn", "a")]], False),
        ({}, [[_expression("NotIn", "a", "b"), _expression("In", "a", "b")]], True),
        ({}, [[_expression("Gt", "many")]], True),
        ({}, [[_expression("Gt", "4")]], False),
        ({"pool": "a"}, [[_expression("In", "b", key="zone")]], False),
        ({"pool": "a"}, [], False),
    ],
)
def test_contradicting_terms_are_reported(
    selector: Json, terms: list[list[Json]], expected: bool
) -> None:
    assert fires("unsatisfiable-node-affinity", _pod(selector, *terms)) is expected
