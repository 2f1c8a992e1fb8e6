"""Reports of one run: several formats, statistics, severities of the configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ptcompile
from ptcompile.report import FORMATS
from tests.cli.running import Ran, here
from tests.making import smallest

Capture = pytest.CaptureFixture[str]

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {team: vision}}
spec: {restartPolicy: Never, containers: [{name: main, image: "img:1", resourcess: {}, env: [{name: A, value: 3}]}]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.yaml").write_text(POD)
    return tmp_path


def codes(ran: Ran) -> list[tuple[str, str]]:
    return [(d["code"], d["severity"]) for d in json.loads(ran.out)["diagnostics"]]


def test_one_run_writes_several_reports(folder: Path, capsys: Capture) -> None:
    words = [word for name in FORMATS for word in ("--format", f"{name}=report.{name}")]
    alone = {name: here(capsys, "lint", "m", "--format", name).out for name in FORMATS}
    ran = here(capsys, "lint", "m", "--format", "concise", *words)
    assert (ran.status, ran.out) == (1, alone["concise"])
    assert {name: (folder / f"report.{name}").read_text() for name in FORMATS} == alone


def test_reports_in_files_alone_print_only_the_summary(folder: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", "m", "--output-format", "sarif=out/report.sarif")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("ptcompile: 1 file, 1 document, 2 errors")
    assert (folder / "out" / "report.sarif").exists()


def test_a_report_is_written_without_findings(folder: Path, capsys: Capture) -> None:
    (folder / "m" / "a.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")
    assert here(capsys, "lint", "m", "--format", "full", "--format", "gitlab=g.json").status == 0
    assert json.loads((folder / "g.json").read_text()) == []


def test_compile_writes_reports_too(folder: Path, capsys: Capture) -> None:
    (folder / "spec.yaml").write_text(
        "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec: {gpus: 1}\n"
    )
    ran = here(capsys, "spec.yaml", "--output-format", "concise", "--output-format", "json=r.json")
    assert (ran.status, ran.out) == (1, "")
    assert "PTC021" in ran.err
    assert [d["code"] for d in json.loads((folder / "r.json").read_text())["diagnostics"]].count(
        "PTC021"
    ) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--format", "full", "--format", "json"],
            "only one report can be printed; write another as json=FILE",
        ),
        (["--format", "sarf"], "no format 'sarf'; did you mean sarif?"),
        (["--format", "xyz=a"], "no format 'xyz'; the formats are full, concise"),
        (["--format", "sarif="], "name the file, such as sarif=report"),
        (
            ["--format", "sarif", "--statistics"],
            "--statistics: no form for sarif; the formats are full, concise, json",
        ),
        (["--by", "rule"], "--by requires --statistics"),
        (
            ["--statistics", "--by", "team"],
            "--by: no group 'team'; the groups are rule, folder, label:KEY",
        ),
        (["--statistics", "--by", "label:"], "--by: no group 'label:'"),
    ],
)
def test_options_that_exclude_each_other_are_reported(
    words: list[str], sentence: str, folder: Path, capsys: Capture
) -> None:
    ran = here(capsys, "lint", "m", *words)
    assert (ran.status, ran.out) == (2, "")
    assert sentence in ran.err


def test_statistics_are_printed_and_reports_written(folder: Path, capsys: Capture) -> None:
    ran = here(
        capsys,
        "lint",
        "m",
        "--statistics",
        "--by",
        "label:team",
        "--by",
        "folder",
        "--format",
        "full=all.txt",
    )
    assert ran.out == "2  vision  m [fixable]\n"
    assert "unknown field" in (folder / "all.txt").read_text()
    assert here(capsys, "lint", "m", "--statistics").out == (
        "1  PTC501 unknown-field [fixable]\n1  PTC502 wrong-type [fixable]\n"
    )


CONFIG = """\
[severity]
PTC5 = "note"
unknown-field = "warning"
[per-file-severity]
"prod/" = {unknown-field = "error"}
"""


@pytest.mark.parametrize("cached", ["", "--no-cache"])
def test_the_configuration_sets_severities(cached: str, folder: Path, capsys: Capture) -> None:
    (folder / "ptcompile.toml").write_text(CONFIG)
    (folder / "prod").mkdir()
    (folder / "prod" / "a.yaml").write_text(POD)
    words = [word for word in ("--format", "json", cached) if word]
    ran = here(capsys, "lint", "m", *words)
    assert (ran.status, codes(ran)) == (0, [("PTC501", "warning"), ("PTC502", "note")])
    ran = here(capsys, "lint", "prod", *words)
    assert (ran.status, codes(ran)) == (1, [("PTC501", "error"), ("PTC502", "note")])


def test_a_severity_does_not_change_what_a_finding_leads_to(folder: Path, capsys: Capture) -> None:
    """The server rejects the field, whatever the configuration calls it; and a habit is no failure."""
    (folder / "ptcompile.toml").write_text('[severity]\nPTC5 = "note"\nPTC302 = "error"\n')
    assert "= rejected when it is applied (kube-apiserver)" in here(capsys, "lint", "m").out
    gpus = "command: [torchrun, --nproc-per-node=8, t.py], resources: {limits: {nvidia.com/gpu: 8, memory: 9Gi}}, "
    shm = POD.replace("resourcess: {}, ", gpus)
    (folder / "m" / "a.yaml").write_text(shm)
    ran = here(capsys, "lint", "m")
    assert "error[PTC302 missing-shm]" in ran.out
    assert "= may fail at run time (ptcompile)" in ran.out


def test_patterns_of_severities_that_match_no_file_are_reported(
    folder: Path, capsys: Capture
) -> None:
    (folder / "ptcompile.toml").write_text('[per-file-severity]\n"prd/" = {PTC5 = "note"}\n')
    assert "per-file-severity: 'prd/' matches no file" in here(capsys, "lint", ".").err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('severity = "note"', "severity: must be a table, such as {PTC801"),
        (
            '[severity]\nPTC801 = "off"',
            "severity: PTC801: 'off' is not a severity; it must be error, warning or note",
        ),
        ('[severity]\nPTC80x = "note"', "severity: no rule 'PTC80x'"),
        ("per-file-severity = 1", 'per-file-severity: must be a table, such as {"charts/"'),
        (
            '[per-file-severity]\n"a" = {PTC801 = 1}',
            "per-file-severity: PTC801: '1' is not a severity",
        ),
    ],
)
def test_wrong_severities_in_the_configuration_are_usage_errors(
    text: str, sentence: str, folder: Path, capsys: Capture
) -> None:
    (folder / "ptcompile.toml").write_text(text)
    ran = here(capsys, "lint", "m")
    assert ran.status == 2, ran.err
    assert sentence in ran.err, ran.err


def test_python_takes_severities_too() -> None:
    severity = {"PTC502": "warning", "ALL": "note"}
    diagnostics = ptcompile.lint(POD, severity=severity).diagnostics
    assert [(d.code, d.severity, d.rule_severity) for d in diagnostics] == [
        ("PTC501", "note", "error"),
        ("PTC502", "warning", "error"),
    ]
    with pytest.raises(ValueError, match="not a severity"):
        ptcompile.lint(POD, severity={"ALL": "off"})


def test_an_error_of_a_spec_stays_an_error() -> None:
    spec = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: a}\nspec: {gpus: 1}\n"
    for verb in (ptcompile.lint, ptcompile.compile):
        assert {
            d.severity for d in verb(spec, severity={"ALL": "note"}).diagnostics if d.blocks_compile
        } == {"error"}


def test_compile_applies_severities_to_the_findings_of_rules() -> None:
    spec = smallest("resources: {gpu: 8}")
    result = ptcompile.compile(spec)
    assert result.ok
    assert [d.severity for d in result.diagnostics if d.code == "PTC109"] == ["warning"]
    result = ptcompile.compile(spec, severity={"best-effort-gpus": "error"})
    assert not result.ok
    assert result.manifests == ()
