"""Machine-readable formats: GitHub's workflow commands, GitLab code quality, SARIF 2.1.0, JUnit,
Markdown.
"""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
from markdown_it import MarkdownIt
from pydantic import BaseModel
from sarif_pydantic import Sarif  # type: ignore[import-untyped]  # it has types, and no py.typed

import ptcompile
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.linter.pages import pages
from ptcompile.report import renderer
from ptcompile.report.ci import sarif
from tests import recorded

HOSTILE = 'a\x1b[31m::error::b%0A\r\n]]></failure>"<&\x00\ud800 ,:'
FOUND = [
    Diagnostic("PTC501", "unknown-field", "error", "spec.a: unknown", "remove it", ("spec", "a"), Span(2, 3, 2, 4),
               "apply", "kube-apiserver", "a b/x.yaml", 0, "Pod/x"),
    Diagnostic("PTC302", "missing-shm", "warning", HOSTILE, None, ("spec", HOSTILE), Span(4, 1, 6, 1),
               "run", "ptcompile", HOSTILE, 0, HOSTILE),
    Diagnostic("PTC009", "no-documents", "error", "nothing", None, (), None, "apply", "ptcompile", None),
]  # fmt: skip


def rendered(form: str, diagnostics: list[Diagnostic] = FOUND) -> str:
    return renderer(form)(diagnostics, {})


def test_github_is_one_command_per_finding() -> None:
    lines = rendered("github").splitlines()
    assert lines[0] == (
        "::error file=a b/x.yaml,title=PTC501 unknown-field,line=2,col=3,endLine=2,endColumn=4"
        "::spec.a: unknown; remove it"
    )
    assert len(lines) == 3
    assert all(line.startswith(("::error ", "::warning ")) for line in lines)
    head = lines[1].split("::")[1]
    assert head.count(",") == 4, "a name of a file adds no property"
    assert "%1B" not in lines[1]
    assert "\x1b" not in lines[1]


def test_gitlab_is_a_list_of_issues_with_fingerprints_of_their_own() -> None:
    """The fields that GitLab requires: docs.gitlab.com, code quality report format."""
    issues = json.loads(rendered("gitlab", [*FOUND, FOUND[0]]))
    first = issues[0]
    assert (first["check_name"], first["severity"]) == ("PTC501 unknown-field", "major")
    assert first["description"] == "spec.a: unknown; remove it"
    assert first["location"] == {"path": "a b/x.yaml", "lines": {"begin": 2}}
    assert [issue["severity"] for issue in issues] == ["major", "major", "minor", "major"]
    assert issues[3]["location"] == {"path": "stdin", "lines": {"begin": 1}}
    assert len({issue["fingerprint"] for issue in issues}) == 4
    assert "\x1b" not in rendered("gitlab")
    assert json.loads(rendered("gitlab", [])) == []


def test_gitlab_names_the_template_of_a_rendered_stream() -> None:
    text = (
        "# Source: train/templates/job.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: "
        "a}\nspec: {x: 1}\n"
    )
    for filename, path, line in (
        (None, "train/templates/job.yaml", 1),
        ("all.yaml", "all.yaml", 5),
    ):
        issues = json.loads(
            rendered("gitlab", [*ptcompile.lint(text, filename=filename).diagnostics])
        )
        assert {issue["location"]["path"] for issue in issues} == {path}
        assert issues[0]["location"]["lines"]["begin"] == line


def test_markdown_is_a_table_that_nothing_breaks_out_of() -> None:
    lines = rendered("markdown").splitlines()
    assert lines[0] == "| Severity | Rule | Place | Finding |"
    assert len(lines) == 2 + len(FOUND)
    html = MarkdownIt("gfm-like", {"linkify": False}).render(rendered("markdown"))
    assert html.count("<tr>") == 1 + len(FOUND)
    assert html.count("<td>") == 4 * len(FOUND)
    assert [href for href in re.findall(r'href="([^"]*)', html) if "/codes/PTC" not in href] == []
    assert rendered("markdown", []) == ""


def test_junit_is_xml_for_any_file_content() -> None:
    root = ET.fromstring(rendered("junit"))  # noqa: S314 - our own text
    assert (root.get("tests"), root.get("failures")) == ("3", "2")
    suites = root.findall("testsuite")
    assert sum(len(suite.findall("testcase")) for suite in suites) == 3
    assert [len(suite.findall("testcase/failure")) for suite in suites] == [1, 0, 1]


def test_a_report_without_findings_is_valid() -> None:
    assert ET.fromstring(rendered("junit", [])).get("tests") == "0"  # noqa: S314 - our own text
    assert json.loads(rendered("sarif", []))["runs"][0]["results"] == []
    assert rendered("github", []) == ""


RENDERED = (
    "# Source: train/templates/job.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"
    "spec: {containers: [{name: c, imge: x}]}\n"
)


def test_findings_in_a_rendered_chart_on_stdin_name_the_template() -> None:
    diagnostics = list(ptcompile.lint(RENDERED, filename="<stdin>", select=["PTC501"]).diagnostics)
    message = f"{diagnostics[0].message}; {diagnostics[0].help} (<stdin>:5:31)"
    assert rendered("github", diagnostics) == (
        f"::error file=train/templates/job.yaml,title=PTC501 unknown-field::{message}\n"
    )
    assert rendered("concise", diagnostics).endswith(" (Pod/x, train/templates/job.yaml)\n")
    (result,) = json.loads(rendered("sarif", diagnostics))["runs"][0]["results"]
    assert result["message"]["text"] == message
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "train/templates/job.yaml"},
        "region": {"startLine": 1, "startColumn": 1},
    }
    assert "&lt;stdin&gt;:5:31 (train/templates/job.yaml): " in rendered("junit", diagnostics)


def test_findings_in_a_committed_rendered_file_keep_its_lines() -> None:
    diagnostics = list(ptcompile.lint(RENDERED, filename="all.yaml", select=["PTC501"]).diagnostics)
    (command,) = rendered("github", diagnostics).splitlines()
    assert command.startswith("::error file=all.yaml,title=PTC501 unknown-field,line=5,col=31,")
    assert command.endswith(" (train/templates/job.yaml)")
    (result,) = json.loads(rendered("sarif", diagnostics))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "all.yaml"}
    assert result["message"]["text"].endswith(" (train/templates/job.yaml)")


def known(model: BaseModel) -> None:
    """Assert that SARIF 2.1.0 defines every key."""
    assert not model.model_extra, model.model_extra
    for value in vars(model).values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, BaseModel):
                known(one)


def test_sarif_is_valid_for_its_model() -> None:
    report = json.loads(rendered("sarif"))
    report.pop("$schema")
    for run in report["runs"]:
        assert run.pop("columnKind") == "unicodeCodePoints"  # the model lacks it
        for result in run["results"]:
            result.pop("properties", None)
            for location in result["locations"]:
                location.pop("logicalLocations", None)
    known(Sarif.model_validate(report))


def test_sarif_is_what_its_schema_takes() -> None:
    (schema,) = recorded.rows("sarif-2.1.0")
    validator = jsonschema.validators.validator_for(schema)(schema)
    for diagnostics in (FOUND, []):
        assert not list(validator.iter_errors(json.loads(rendered("sarif", diagnostics))))


def results(text: str) -> list[Any]:
    diagnostics = list(ptcompile.lint(text, filename="x.yaml").diagnostics)
    run: dict[str, Any] = json.loads(rendered("sarif", diagnostics))["runs"][0]
    assert [
        run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] for result in run["results"]
    ] == [d.code for d in diagnostics]
    return list(run["results"])


def test_sarif_has_the_page_of_each_rule() -> None:
    """Code scanning shows it next to a finding: for rules and for findings of the reader, given the
    pages that lint passes.
    """
    diagnostics = [d._replace(name="missing-shm", code="PTC302") for d in FOUND[:1]]
    run = json.loads(sarif(diagnostics, {}, (), pages(["missing-shm", "yaml-syntax"])))["runs"][0]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"].startswith("A pod trains on several GPUs")
    assert "```yaml" in rule["help"]["markdown"]
    assert set(pages(["yaml-syntax", "no-such-name"])) == {"yaml-syntax"}


def test_a_fingerprint_survives_when_lines_move() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: c, imge: x}, "
        "{name: d, imge: y}]}\n"
    )
    before, after = (
        results(text),
        results("# more\n\n" + text.replace("kind: Pod\n", "") + "kind: Pod\n"),
    )
    prints = [one["partialFingerprints"]["ptcompile/v1"] for one in before]
    assert sorted(prints) == sorted(one["partialFingerprints"]["ptcompile/v1"] for one in after)
    assert len(set(prints)) == len(prints)
    assert before[0]["locations"] != after[0]["locations"]
