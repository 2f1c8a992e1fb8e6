"""The third severity: in every format and schema, and never in the exit status."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from ptcompile.api.reference import schema
from ptcompile.cli.files import InputFile
from ptcompile.cli.reporter import Reporter, ReportFormat
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.report import renderer
from ptcompile.report.text import add_color

NOTE = Diagnostic("PTC302", "missing-shm", "note", "spec.a: worth knowing", None, ("spec", "a"), Span(1, 1, 1, 2),
                  "run", "ptcompile", "x.yaml", 0, "Pod/x")  # fmt: skip


def rendered(form: str) -> str:
    return renderer(form)([NOTE], {"x.yaml": "a: 1\n"})


def test_text_formats_say_note() -> None:
    assert rendered("full").startswith("note[PTC302 missing-shm]: ")
    assert ": note PTC302 " in rendered("concise")
    assert add_color(rendered("full")).startswith("\x1b[1;36mnote\x1b[0m[")


def test_machine_formats_have_their_own_level_for_notes() -> None:
    assert rendered("github").startswith("::notice file=x.yaml")
    assert json.loads(rendered("sarif"))["runs"][0]["results"][0]["level"] == "note"
    assert ET.fromstring(rendered("junit")).get("failures") == "0"  # noqa: S314 - our own text
    jsonschema.validate(json.loads(rendered("json")), schema("report"))


@pytest.mark.parametrize("fail_on", ["error", "warning"])
def test_a_note_never_changes_the_exit_status(
    fail_on: str, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = Reporter([ReportFormat("full")], fail_on=fail_on)
    findings.add(InputFile("x.yaml", b"a: 1\n", True), [NOTE])
    assert findings.finish(always=True) == 0
    assert "0 errors, 0 warnings, 1 note\n" in capsys.readouterr().err


def test_an_error_next_to_a_note_still_fails() -> None:
    findings = Reporter([ReportFormat("full")], fail_on="warning")
    findings.add(InputFile("x.yaml", b"a: 1\n", True), [NOTE, NOTE._replace(severity="warning")])
    assert findings.finish(always=True) == 1


def test_the_schema_of_a_report_knows_no_other_fields() -> None:
    report = json.loads(rendered("json"))
    for part in (report, report["diagnostics"][0], report["diagnostics"][0]["span"]):
        part["new"] = 1
        with pytest.raises(jsonschema.ValidationError, match="'new' was unexpected"):
            jsonschema.validate(report, schema("report"))
        del part["new"]
    jsonschema.validate(report, schema("report"))
