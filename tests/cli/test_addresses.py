"""Every finding names the page of its code in each report format that has a place for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptcompile._internal.about import SITE, page_address
from ptcompile.diagnostics import Diagnostic
from ptcompile.diagnostics.codes import CODES
from ptcompile.report import renderer
from tests.cli.running import here

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  containers: [{name: pytorch, image: a:1, comand: [x]}]
"""
TWO = POD.replace("comand: [x]", "comand: [x], imagePullPolicy: Sometimes")


@pytest.mark.parametrize(
    ("text", "address"),
    [(POD, f"{SITE}codes/PTC501/"), (TWO, f"{SITE}codes/")],
)
def test_the_full_report_ends_with_the_address(
    text: str, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(text)
    ran = here(capsys, "lint", path)
    assert ran.err.splitlines()[-1].endswith(f"or see {address}")
    assert "ptcompile explain" in ran.err


@pytest.mark.parametrize("report", ["concise", "json", "github", "sarif", "junit"])
def test_reports_for_programs_have_no_such_line(
    report: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(POD)
    assert "or see" not in here(capsys, "lint", path, "--output-format", report).err


def test_json_and_sarif_have_the_page_of_every_code() -> None:
    found = [
        Diagnostic(code, name, "error", "m", None, (), None, "apply", "ptcompile")
        for name, code in CODES.items()
    ]
    listed = json.loads(renderer("json")(found, {}))["diagnostics"]
    assert {one["code"]: one["url"] for one in listed} == {
        code: page_address(code) for code in CODES.values()
    }
    rules = json.loads(renderer("sarif")(found, {}))["runs"][0]["tool"]["driver"]["rules"]
    assert {rule["id"]: rule["helpUri"] for rule in rules} == {
        code: page_address(code) for code in CODES.values()
    }


@pytest.mark.parametrize("word", ["PTC302", "ptc302", "missing-shm"])
def test_explain_prints_the_page_offline(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert here(capsys, "explain", word).out.startswith("PTC302 missing-shm")
