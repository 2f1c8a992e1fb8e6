"""The JSON Schemas of ptcompile's kinds: valid and described. See also test_schema_law.py."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from ptcompile.spec import cluster_profile as cluster, training_job

SCHEMAS = {"TrainingJob": training_job.json_schema, "ClusterProfile": cluster.json_schema}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schema_is_valid_and_every_field_is_described(kind: str) -> None:
    schema = SCHEMAS[kind]()
    Draft202012Validator.check_schema(schema)
    bare = [
        f"{model}.{name}"
        for model, body in [("", schema), *schema["$defs"].items()]
        for name, field in body.get("properties", {}).items()
        if "description"
        not in {**schema["$defs"].get(field.get("$ref", "").rpartition("/")[2], {}), **field}
    ]
    assert [name for name in bare if not name.startswith("Toleration.")] == []
