"""The JSON Schemas of command output are committed, current, and valid for every golden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

import ptcompile
from ptcompile.api.reference import SCHEMAS, schema
from ptcompile.diagnostics import Diagnostic
from ptcompile.diagnostics.terms import Authority, Severity, Stage
from ptcompile.differ import model
from ptcompile.report import VERSION, renderer
from tests.cli.running import here
from tests.conftest import ALL, GOOD, Case, pair_name

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_committed_schemas_are_current(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Refresh with `python -m ptcompile schema NAME > schemas/NAME.schema.json`; edit `world` manually."""
    ran = here(capsys, "schema", name)
    assert (ran.status, ran.err) == (0, "")
    assert (ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8") == ran.out
    Draft202012Validator.check_schema(json.loads(ran.out))
    assert json.loads(ran.out)["$id"] == f"{name}.schema.json"


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_wheel_has_all_schemas(name: str) -> None:
    assert f'"schemas/{name}.schema.json"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", ALL, ids=pair_name)
def test_every_report_is_valid(case: Case) -> None:
    report = json.loads(renderer("json")(case.compile().diagnostics, case.texts()))
    Draft202012Validator(schema("report")).validate(report)


def test_a_finding_has_the_fields_of_the_schema() -> None:
    for_text_alone = {
        *(
            "blocks_compile",
            "owner",
            "rule_severity",
            "namespace",
            "labels",
            "stable_path",
            "comparison",
            "field",
        ),
        "variant",
        "page",
    }
    fields = [field for field in Diagnostic._fields if field not in for_text_alone]
    assert list(schema("report")["$defs"]["diagnostic"]["properties"]) == [*fields, "url"]


def test_the_schemas_name_all_terms() -> None:
    report, difference = schema("report"), schema("diff")
    finding = report["$defs"]["diagnostic"]["properties"]
    assert finding["severity"]["enum"] == list(get_args(Severity))
    assert finding["stage"]["enum"] == list(get_args(Stage))
    assert finding["authority"]["enum"] == list(get_args(Authority))
    assert report["properties"]["version"]["const"] == VERSION
    assert difference["properties"]["version"]["const"] == model.VERSION
    assert difference["$defs"]["diagnostic"] == report["$defs"]["diagnostic"]
    assert difference["$defs"]["change"]["properties"]["kind"]["enum"] == list(
        get_args(model.ChangeKind)
    )
    assert difference["$defs"]["apply"]["properties"]["outcome"]["enum"] == list(
        get_args(model.ApplyOutcome)
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"severity": "fatal"},
        {"code": "PTC1"},
        {"more": 1},
        {"span": {}},
        {"stage": "later"},
        {"help": 1},
    ],
    ids=str,
)
def test_an_invalid_report_is_rejected(wrong: dict[str, Any]) -> None:
    diagnostic = ptcompile.compile("kind: TrainingJob").diagnostics[0].to_dict()
    validator = Draft202012Validator(schema("report"))
    assert validator.is_valid({"version": 1, "diagnostics": [diagnostic], "unchecked": []})
    assert not validator.is_valid(
        {"version": 1, "diagnostics": [{**diagnostic, **wrong}], "unchecked": []}
    )


@pytest.mark.parametrize("case", GOOD, ids=pair_name)
def test_every_difference_is_valid(case: Case) -> None:
    """Each golden is compared with a two-node job, which differs from it in some way."""
    other = "{apiVersion: ptcompile/v1, kind: TrainingJob, metadata: {name: a}, spec: {image: i, script: t, nodes: 2}}"
    difference = ptcompile.diff(other, case.spec, to_cluster=case.cluster)
    Draft202012Validator(schema("diff")).validate(json.loads(json.dumps(difference.to_dict())))
    assert difference.differs or not difference.ok


@pytest.mark.parametrize(
    "wrong",
    [{"differs": 1}, {"objects": [{}]}, {"version": 2}, {"from": None}, {"more": 1}],
    ids=str,
)
def test_an_invalid_difference_is_rejected(wrong: dict[str, Any]) -> None:
    given = ptcompile.diff("{kind: a}", "{kind: b}").to_dict()
    validator = Draft202012Validator(schema("diff"))
    assert validator.is_valid(given)
    assert not validator.is_valid({**given, **wrong})
