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


def _one(operator: str, *values: str, key: str = "pool") -> Json:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("selector", "terms", "expected"),
    [
        ({"pool": "a"}, [[_one("In", "b")]], True),
        ({"pool": "a"}, [[_one("In", "a", "b")]], False),
        ({"pool": "a"}, [[_one("In", "b")], [_one("In", "a")]], False),  # terms are alternatives
        ({"pool": "a"}, [[_one("In", "b")], [_one("In", "c")]], True),
        ({"pool": "a"}, [[_one("NotIn", "a")]], True),
        ({"pool": "a"}, [[_one("DoesNotExist")]], True),
        ({"pool": "a"}, [[_one("Exists")]], False),
        ({}, [[_one("In", "a"), _one("In", "b")]], True),
        ({}, [[_one("In", "a", "b"), _one("NotIn", "a")]], False),
        ({}, [[_one("NotIn", "a", "b"), _one("In", "a", "b")]], True),
        ({}, [[_one("Gt", "many")]], True),
        ({}, [[_one("Gt", "4")]], False),
        ({"pool": "a"}, [[_one("In", "b", key="zone")]], False),
        ({"pool": "a"}, [], False),
    ],
)
def test_terms(selector: Json, terms: list[list[Json]], expected: bool) -> None:
    assert fires("unsatisfiable-node-affinity", _pod(selector, *terms)) is expected
