"""The table of pod fields: completeness, and agreement among the code that reads its rows."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ptcompile.compiler.frontend.lowering import template_of
from ptcompile.compiler.frontend.parts import POD_FIELDS, PodField
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.compiler.trace import source_path_in, traced_block
from ptcompile.importer.pod_template import pod_fields
from ptcompile.kinds.reading import ReadRole
from ptcompile.spec.objects import yaml_name
from ptcompile.spec.training_job import PodFields
from tests.making import smallest

OTHERS = {"restart_policy", "pod_template"}
"""Fields without a row: one that each target interprets, and one that is already a template."""


def test_every_pod_field_has_a_row() -> None:
    assert {row.attribute for row in POD_FIELDS} | OTHERS == set(PodFields.model_fields)


def test_spec_fields_are_named_like_the_model_s() -> None:
    assert [row.spec_field for row in POD_FIELDS] == [
        yaml_name(row.attribute) for row in POD_FIELDS
    ]


VALUES: dict[str, Any] = {
    "command": ["x"], "args": ["y"], "hostNetwork": True, "terminationGracePeriodSeconds": 0, "env": {"A": "b"},
    "envFrom": [{"secretRef": {"name": "s"}}], "volumeMounts": [{"name": "v", "mountPath": "/v"}],
    "ports": [{"containerPort": 1}],
    "volumes": [{"name": "v", "emptyDir": {}}], "imagePullSecrets": [{"name": "s"}],
    "tolerations": [{"key": "k", "operator": "Exists"}], "affinity": {"nodeAffinity": {}},
    **{word: {"a": "b"} for word in ("podLabels", "podAnnotations", "nodeSelector")},
    **{word: {"runAsUser": 1} for word in ("securityContext", "podSecurityContext")},
    "imagePullPolicy": "Never",
}  # fmt: skip
ROWS = [row for row in POD_FIELDS if row.spec_field != "resources"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.spec_field)
def test_a_field_is_written_traced_and_read_back(row: PodField) -> None:
    value = VALUES.get(row.spec_field, "x")
    data = yaml.safe_load(smallest())
    data["spec"].update({"image": "i:1", row.spec_field: value})
    spec, problems = decode_spec(data)
    assert spec is not None, problems
    template = template_of(spec.spec)
    where: Any = {"metadata": ("metadata",), "spec": ("spec",), "main": ("spec", "containers", 0)}[
        row.holder
    ]
    held: Any = template
    for part in where:
        held = held[part]
    assert held[row.field] == ([{"name": "A", "value": "b"}] if row.spec_field == "env" else value)
    path = source_path_in(template_of(traced_block(spec.spec, ("spec",))), (*where, row.field))
    assert path is not None
    assert path[:2] == ("spec", row.spec_field)
    words = pod_fields(
        ReadRole("node", 1, template, None, "pytorch", None), "nvidia.com/gpu", shm=False
    )
    assert words[row.spec_field] == value


SPECIAL = {
    "kubernetes": {
        "envFrom", "env", "volumeMounts", "securityContext", "terminationGracePeriodSeconds", "imagePullSecrets",
        "podSecurityContext", "affinity", "tolerations", "volumes", "ports",
    },
    "nullable": {
        "podLabels", "podAnnotations", "imagePullPolicy", "workingDir", "env", "serviceAccountName", "schedulerName",
        "priorityClassName", "terminationGracePeriodSeconds", "nodeSelector",
    },
}  # fmt: skip


def test_the_table_marks_kubernetes_objects_and_nullable_fields() -> None:
    assert {row.spec_field for row in POD_FIELDS if row.is_kubernetes} == SPECIAL["kubernetes"]
    assert {row.spec_field for row in POD_FIELDS if row.nullable} == SPECIAL["nullable"]


@pytest.mark.parametrize(
    "row", [row for row in POD_FIELDS if row.nullable], ids=lambda row: row.spec_field
)
def test_null_is_valid_for_a_nullable_field_or_its_entries(row: PodField) -> None:
    problems = []
    for value in (None, {"k": None}):
        data = yaml.safe_load(smallest())
        data["spec"][row.spec_field] = value
        problems.append(decode_spec(data)[1])
    assert [] in [list(problem) for problem in problems]
