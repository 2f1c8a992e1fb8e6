"""explain reports the same findings as compile, including those of rules, at the same lines."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from ptcompile.compiler.reader import load_profile
from ptcompile.explainer import explanation
from tests.cli.running import here
from tests.conftest import ALL, Case, pair_name
from tests.making import gather, smallest, text

ONE_WORD = text(
    'image: ghcr.io/acme/train:latest\ncommand: ["python train.py"]\n'
    "nodes: 2\nresources: {gpu: 8, cpu: 8, memory: 64Gi}"
)
"""A spec with one error from a rule (no such program) and one warning (latest)."""
MEANT = ONE_WORD.replace(
    "latest\n", "latest  # ptcompile: ignore[latest-image] pinned by the registry\n"
)


@pytest.mark.parametrize("case", ALL, ids=pair_name)
def test_explain_and_compile_report_the_same_findings(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        explanation, "provenance", lambda _data, compiled, *_: [()] * len(compiled)
    )  # slow, and it reports no findings
    diagnostics = ptcompile.explain(
        case.spec, cluster=case.cluster, filename="spec.yaml", cluster_filename="cluster.yaml"
    ).diagnostics
    profile, wrong = load_profile(case.cluster, filename="cluster.yaml")
    assert diagnostics == (*(() if profile is None else wrong), *case.compile().diagnostics)


def test_a_spec_with_an_error_from_a_rule_is_still_explained() -> None:
    explained = ptcompile.explain(ONE_WORD)
    assert [(diagnostic.name, diagnostic.severity) for diagnostic in explained.diagnostics] == [
        ("latest-image", "warning"),
        ("command-in-one-word", "error"),
    ]
    assert all(diagnostic.span is not None for diagnostic in explained.diagnostics)
    assert not explained.ok
    assert explained.at("command")


def test_rules_can_be_disabled_and_selected() -> None:
    assert ptcompile.explain(ONE_WORD, lint=False).diagnostics == ()
    assert [
        diagnostic.name for diagnostic in ptcompile.explain(ONE_WORD, ignore=["PTC804"]).diagnostics
    ] == ["latest-image"]
    assert [
        diagnostic.name for diagnostic in ptcompile.explain(ONE_WORD, select=["PTC804"]).diagnostics
    ] == ["command-in-one-word"]
    with pytest.raises(ValueError, match="no rule"):
        ptcompile.explain(ONE_WORD, ignore=["no-such-rule"])


def test_suppression_comments_apply() -> None:
    assert [diagnostic.name for diagnostic in ptcompile.explain(MEANT).diagnostics] == [
        "command-in-one-word"
    ]
    unused = smallest("nodes: 2  # ptcompile: ignore[latest-image]")
    assert [diagnostic.name for diagnostic in ptcompile.explain(unused).diagnostics] == [
        "unused-ignore"
    ]


def test_a_comment_in_the_spec_does_not_affect_the_profile() -> None:
    profile = "kind: ClusterProfile\nspec: {gpus: 1}\n"
    spec = "# ptcompile: ignore-file[ALL]\n" + smallest()
    for found in (
        ptcompile.compile(spec, cluster=profile),
        ptcompile.explain(spec, cluster=profile),
    ):
        assert [diagnostic.name for diagnostic in found.diagnostics] == ["spec-unknown-field"]


def test_all_mistakes_are_reported() -> None:
    wrong = smallest("nods: 2\nvolumeMounts: [{name: dta, mountPath: /d}]")
    assert [diagnostic.message for diagnostic in ptcompile.explain(wrong).diagnostics] == [
        diagnostic.message for diagnostic in ptcompile.compile(wrong).diagnostics
    ]
    assert len(ptcompile.explain(wrong).diagnostics) == 2


def test_the_page_has_each_finding_once_with_its_targets() -> None:
    findings = gather(ONE_WORD).findings
    assert len(
        {(finding.diagnostic.name, finding.line, finding.targets) for finding in findings}
    ) == len(findings)
    (word,) = [finding for finding in findings if finding.diagnostic.name == "command-in-one-word"]
    assert word.targets == ("job", "pytorchjob", "volcano", "trainjob", "jobset")
    assert not [
        finding
        for finding in gather(ONE_WORD, lint=False).findings
        if finding.diagnostic.stage == "run"
    ]


def test_a_comment_needed_by_one_target_is_not_unused() -> None:
    """A Pod cannot express `nodes: 2`, which is its only finding."""
    findings = gather(MEANT).findings
    assert not [
        finding
        for finding in findings
        if finding.diagnostic.name in ("latest-image", "unused-ignore")
    ]


def test_the_command_fails_on_findings_that_are_not_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(ONE_WORD)
    ran = here(capsys, "explain", "spec.yaml", "command")
    compiled = here(capsys, "compile", "spec.yaml")
    assert (ran.status, ran.err) == (compiled.status, compiled.err) == (1, ran.err)
    assert "written by  the spec" in ran.out
    quiet = here(capsys, "explain", "spec.yaml", "command", "--no-lint")
    assert (quiet.status, quiet.err, quiet.out) == (0, "", ran.out)
    page = here(capsys, "explain", "spec.yaml", "--html", "page.html")
    assert (page.status, page.err) == (1, ran.err)
    assert "command-in-one-word" in Path("page.html").read_text()
    assert here(capsys, "explain", "spec.yaml", "--html", "page.html", "--no-lint").status == 0
    assert "command-in-one-word" not in Path("page.html").read_text()
    Path("ptcompile.toml").write_text('ignore = ["PTC804"]\n')
    assert here(capsys, "explain", "spec.yaml").status == 0
