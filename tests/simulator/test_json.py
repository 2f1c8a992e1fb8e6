"""The JSON form of a world and its schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ptcompile.simulator import world as world_module
from ptcompile.simulator.world import simulate
from tests.simulator.worlds import GOLDEN, SCHEMA, golden, pytorchjob


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_the_json_form_matches_its_schema(path: Path) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(golden(path).to_dict())))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_rejects_an_unknown_field() -> None:
    data = simulate([pytorchjob()]).to_dict()
    data["pods"][0]["more"] = 1
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(data)


def test_json_of_a_large_world_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    world = simulate([pytorchjob(2**31 - 1)])
    data = world.to_dict()
    assert data["podsTotal"] == 2**31
    assert data["folded"] is True
    assert len(data["pods"]) == 11
    assert data["pods"][-1]["name"] == f"llama-worker-{2**31 - 2}"
    monkeypatch.setattr(world_module, "MAX_UNFOLDED_PODS", 100)
    assert len(simulate([pytorchjob(200)]).to_dict()["pods"]) == 11
    assert len(simulate([pytorchjob(200)]).to_dict(all_pods=True)["pods"]) == 201
