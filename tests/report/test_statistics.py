"""Statistics: by rule, by folder and by label, as text, JSON and Markdown."""

from __future__ import annotations

import json

import pytest

from ptcompile._internal.about import page_address
from ptcompile.diagnostics import Diagnostic, Fix
from ptcompile.diagnostics.terms import Severity
from ptcompile.report.statistics import FORMS, Row, statistics


def finding(
    code: str, severity: Severity, filename: str | None, team: str = "", template: str | None = None
) -> Diagnostic:
    labels = (("acme.dev/team", team),) if team else ()
    name = {"PTC801": "latest-image", "PTC501": "unknown-field"}[code]
    fix = Fix("f", (), True) if code == "PTC501" else None
    return Diagnostic(
        code,
        name,
        severity,
        "m",
        None,
        (),
        None,
        "style",
        "ptcompile",
        filename,
        labels=labels,
        fix=fix,
        template=template,
    )


FINDINGS = [
    finding("PTC801", "warning", "a/x.yaml", "vision"),
    finding("PTC801", "warning", "./a/y.yaml", "vision"),
    finding("PTC801", "note", "b\\z.yaml", "speech"),
    finding("PTC501", "error", "b/z.yaml"),
    finding("PTC501", "error", "<stdin>", template="chart/templates/t.yaml"),
    finding("PTC501", "error", "top.yaml"),
]


@pytest.mark.parametrize(
    ("groupings", "rows"),
    [
        (
            ["rule"],
            [
                Row(("PTC501 unknown-field",), 3, 0, 0, True),
                Row(("PTC801 latest-image",), 0, 2, 1, False),
            ],
        ),
        (
            ["folder"],
            [
                Row(("a",), 0, 2, 0, False),
                Row(("b",), 1, 0, 1, True),
                Row((".",), 1, 0, 0, True),
                Row(("chart/templates",), 1, 0, 0, True),
            ],
        ),
        (
            ["label:acme.dev/team", "rule"],
            [
                Row(("", "PTC501 unknown-field"), 3, 0, 0, True),
                Row(("vision", "PTC801 latest-image"), 0, 2, 0, False),
                Row(("speech", "PTC801 latest-image"), 0, 0, 1, False),
            ],
        ),
    ],
)
def test_the_largest_groups_come_first(groupings: list[str], rows: list[Row]) -> None:
    assert statistics(FINDINGS, groupings) == rows


def test_text_has_aligned_columns() -> None:
    groupings = ["label:acme.dev/team", "rule"]
    assert FORMS["full"](statistics(FINDINGS, groupings), groupings) == (
        "3  (none)  PTC501 unknown-field [fixable]\n2  vision  PTC801 latest-image\n1  speech  PTC801 latest-image\n"
    )


def test_json_names_the_groups() -> None:
    groupings = ["folder", "label:acme.dev/team"]
    rows = json.loads(FORMS["json"](statistics(FINDINGS, groupings), groupings))
    assert rows[0] == {
        "folder": "a",
        "label:acme.dev/team": "vision",
        "findings": 2,
        "errors": 0,
        "warnings": 2,
        "notes": 0,
        "fixable": False,
    }
    assert sum(row["findings"] for row in rows) == len(FINDINGS)


def test_markdown_escapes_the_values_of_labels() -> None:
    groupings = ["rule", "label:team|x"]
    text = FORMS["markdown"](
        statistics(
            [finding("PTC801", "error", "a.yaml")._replace(labels=(("team|x", "a|b"),))], groupings
        ),
        groupings,
    )
    assert text == (
        "| Rule | <code>team&#124;x</code> | Errors | Warnings | Notes |\n"
        "| --- | --- | --- | --- | --- |\n"
        f"| [PTC801]({page_address('PTC801')}) latest-image | <code>a&#124;b</code> | 1 | 0 | 0 |\n"
    )


@pytest.mark.parametrize("form", FORMS)
def test_statistics_without_findings_are_empty(form: str) -> None:
    assert FORMS[form]([], ["rule"]) == {"json": "[]\n"}.get(form, "")
