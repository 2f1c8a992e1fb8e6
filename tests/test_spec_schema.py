"""The JSON Schemas of our own kinds: committed, current, and of one mind with the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from ptcompile import cluster, spec
from ptcompile.frontends.spec import READERS

ROOT = Path(__file__).parent.parent
SCHEMAS = {
    "TrainingJob": ("spec.schema.json", spec.json_schema),
    "ClusterProfile": ("cluster.schema.json", cluster.json_schema),
}
CASES = sorted((ROOT / "golden").glob("*/*.yaml"))


@pytest.mark.parametrize("kind", SCHEMAS)
def test_what_is_committed_is_current(kind: str) -> None:
    """Refresh with `python -m ptcompile schema spec > schemas/spec.schema.json`, and `cluster` likewise."""
    name, made = SCHEMAS[kind]
    assert json.loads((ROOT / "schemas" / name).read_text()) == made()


@pytest.mark.parametrize("kind", SCHEMAS)
def test_it_is_a_schema_and_every_field_is_described(kind: str) -> None:
    schema = SCHEMAS[kind][1]()
    Draft202012Validator.check_schema(schema)
    bare = [
        f"{model}.{name}"
        for model, body in [("", schema), *schema["$defs"].items()]
        for name, field in body.get("properties", {}).items()
        if "description" not in {**schema["$defs"].get(field.get("$ref", "").rpartition("/")[2], {}), **field}
    ]
    assert [name for name in bare if not name.startswith("Toleration.")] == []


def _ours(path: Path) -> list[dict[str, Any]]:
    try:
        return [d for d in yaml.safe_load_all(path.read_text()) if isinstance(d, dict) and d.get("kind") in SCHEMAS]
    except (yaml.YAMLError, UnicodeDecodeError):
        return []


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_takes_what_the_models_take(path: Path) -> None:
    """One way only: a schema for editors may be kinder than the models, and must never refuse a good file."""
    for document in _ours(path):
        model, _problems = READERS[document["kind"]](document)
        errors = list(Draft202012Validator(SCHEMAS[document["kind"]][1]()).iter_errors(document))
        assert model is None or not errors, errors


WRONG = [
    {"scrpt": "t.py"},
    {"nodes": 0},
    {"nodes": "4"},
    {"restartPolicy": "onfailure"},
    {"elastic": {"startMethod": "thread"}},
    {"elastic": {"nprocPerNode": "all"}},
    {"masterPort": 70000},
    {"env": {"A": 1}},
    {"env": {"A": {}}},
    {"env": {"A": {"secretKeyRef": {}, "fieldRef": {}}}},
    {"runPolicy": {"backoffLimit": -1}},
    {"resources": {"cpu": []}},
    {"args": "--epochs 3"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_it_refuses_what_a_schema_can_see(wrong: dict[str, Any]) -> None:
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "a"},
        "spec": {"image": "i", **wrong},
    }
    assert not Draft202012Validator(spec.json_schema()).is_valid(document)
