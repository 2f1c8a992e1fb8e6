"""Agreement of compile and lint on a spec: the same findings, lines and verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from ptcompile import Diagnostic
from ptcompile.compiler.reader import load_profile
from ptcompile.linter import every_rule
from tests.cli.running import here, process
from tests.conftest import ALL, Case, pair_name
from tests.making import FIRST_LINE, smallest, text

ONE_WORD = text('image: ghcr.io/acme/train:1\ncommand: ["python train.py --epochs 3"]')
"""A command that the kernel takes for one program name, so no pod can start."""

MOVING = smallest("nodes: 2").replace("img:1", "ghcr.io/acme/train:latest")


def summaries(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[str, str, object]]:
    return [(diagnostic.name, diagnostic.severity, diagnostic.span) for diagnostic in diagnostics]


@pytest.mark.parametrize(
    "case", [one for one in ALL if one.name not in ("bad-kind", "bad-empty")], ids=pair_name
)
def test_compile_and_lint_report_the_same(case: Case) -> None:
    """The cases bad-kind and bad-empty are left out: compile only reports that they contain no TrainingJob."""
    profile, _ = load_profile(case.cluster)
    if profile is None:
        return
    linted = ptcompile.lint(case.spec, filename="spec.yaml", cluster=profile).diagnostics
    assert summaries(case.compile().diagnostics) == summaries(linted)


def test_error_of_a_rule_gives_no_manifest() -> None:
    result = ptcompile.compile(ONE_WORD)
    (diagnostic,) = result.diagnostics
    assert (diagnostic.name, diagnostic.severity, diagnostic.path) == (
        "command-in-one-word",
        "error",
        ("spec", "command", 0),
    )
    assert diagnostic.span is not None
    assert diagnostic.span.line == FIRST_LINE + 1
    assert not result.ok
    assert result.manifests == ()


def test_other_documents_of_the_stream_are_compiled() -> None:
    result = ptcompile.compile(f"{ONE_WORD}---\n{smallest(name='other')}")
    assert not result.ok
    assert [manifest["metadata"]["name"] for manifest in result.manifests] == ["other"]
    assert [diagnostic.document for diagnostic in result.diagnostics] == [0]


def test_warning_does_not_stop_compile() -> None:
    result = ptcompile.compile(MOVING)
    assert [diagnostic.name for diagnostic in result.diagnostics] == ["latest-image"]
    assert result.ok
    assert result.manifests


def test_lint_can_be_disabled() -> None:
    result = ptcompile.compile(ONE_WORD, lint=False)
    assert result.ok
    assert result.diagnostics == ()
    assert result.manifests


def test_unselected_rules_do_not_run() -> None:
    assert ptcompile.compile(ONE_WORD, ignore=["command-in-one-word"]).ok
    assert ptcompile.compile(MOVING, select=["PTC3"]).diagnostics == ()
    assert not ptcompile.compile(smallest("nods: 2"), ignore=["ALL"]).ok, (
        "what does not compile is no matter of choice"
    )
    with pytest.raises(ValueError, match="no rule"):
        ptcompile.compile(ONE_WORD, ignore=["no-such-rule"])


def test_comment_in_the_spec_ignores_a_finding_of_a_rule() -> None:
    meant = ONE_WORD.replace(
        'epochs 3"]', 'epochs 3"]  # ptcompile: ignore[command-in-one-word] the image has it'
    )
    result = ptcompile.compile(meant)
    assert result.ok
    assert result.diagnostics == ()
    assert result.manifests


def test_comments_cannot_ignore_compile_errors() -> None:
    wrong = smallest("nods: 2  # ptcompile: ignore[spec-unknown-field]")
    result = ptcompile.compile(wrong)
    assert [diagnostic.name for diagnostic in result.diagnostics] == [
        "spec-unknown-field",
        "bad-ignore",
    ]
    assert not result.ok
    assert result.manifests == ()
    assert result.meant == ()


def test_finding_of_every_role_is_reported_once() -> None:
    both = text("image: ghcr.io/acme/train:latest\nscript: t.py\nmaster: {}\nworker: {replicas: 3}")
    for target in ("pytorchjob", "volcano", "jobset"):
        diagnostics = ptcompile.compile(both, target=target).diagnostics
        assert [(diagnostic.name, diagnostic.path) for diagnostic in diagnostics] == [
            ("latest-image", ("spec", "image"))
        ]


def test_findings_of_derived_retries_point_at_their_spec_field() -> None:
    body = "image: img:1\nargs: [--backend, gloo]\nrestartPolicy: OnFailure\nnodes: 2"
    (diagnostic,) = ptcompile.compile(text(body), target="job").diagnostics
    assert (diagnostic.name, diagnostic.path) == ("job-restarts-alone", ("spec", "restartPolicy"))


def test_finding_of_a_role_restart_policy_points_at_the_role() -> None:
    body = "image: img:1\nscript: t.py\nmaster: {restartPolicy: Always}\nworker: {replicas: 1}"
    diagnostics = ptcompile.compile(text(body), target="pytorchjob").diagnostics
    assert [
        diagnostic.path for diagnostic in diagnostics if diagnostic.name == "endless-restart-policy"
    ] == [("spec", "master", "restartPolicy")]


def test_the_command_line_prints_errors_and_warnings_of_rules(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(ONE_WORD)
    refused = here(capsys, "spec.yaml", "-o", "out.yaml")
    assert (refused.status, refused.out) == (1, "")
    assert "error[PTC" in refused.err
    assert not Path("out.yaml").exists()
    assert here(capsys, "spec.yaml", "--no-lint").status == 0
    Path("spec.yaml").write_text(MOVING)
    warned = here(capsys, "spec.yaml")
    assert warned.status == 0
    assert "kind: Job" in warned.out
    assert "1 warning" in warned.err


def test_project_configuration_applies_to_compile(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(ONE_WORD)
    Path("ptcompile.toml").write_text('ignore = ["command-in-one-word"]\n')
    assert here(capsys, "spec.yaml").status == 0
    Path("ptcompile.toml").write_text('[per-file-ignores]\n"*.yaml" = ["command-in-one-word"]\n')
    assert here(capsys, "spec.yaml").status == 0


def test_no_rule_is_loaded_without_lint() -> None:
    code = "import sys, ptcompile.cli as c; c.main(['--no-lint', '-']); print(*sys.modules, file=sys.stderr)"
    ran = process(stdin=MOVING.encode(), flags=("-c", code))
    assert ran.status == 0
    loaded = [name for name in ran.err.split() if name.startswith("ptcompile.")]
    assert loaded
    assert not [name for name in loaded if ".rules" in name or ".simulation" in name]


def test_compile_and_lint_agree_on_severity() -> None:
    """The checks of a spec give a problem the severity of its rule's page."""
    pages = {rule.name: rule.severity for rule in every_rule()}
    seen = {
        (diagnostic.name, diagnostic.severity)
        for case in ALL
        for diagnostic in case.compile().diagnostics
        if diagnostic.name in pages
    }
    assert seen
    graded = {("literal-variable", "warning")}  # an error if the launcher reads the text
    assert {(name, severity) for name, severity in seen if severity != pages[name]} <= graded


def test_too_many_processes_are_an_error_in_both() -> None:
    spec = smallest(
        "nodes: 2\nresources: {gpu: 4, cpu: 8, memory: 8Gi}\nelastic: {nprocPerNode: 8}"
    )
    compiled = ptcompile.compile(spec).diagnostics
    made = ptcompile.compile(
        spec.replace("nprocPerNode: 8", "nprocPerNode: 4"), target="jobset"
    ).yaml()
    linted = ptcompile.lint(made.replace("--nproc-per-node=4", "--nproc-per-node=8")).diagnostics
    for diagnostics in (compiled, linted):
        assert ("more-processes-than-gpus", "error") in [
            (one.name, one.severity) for one in diagnostics
        ]


def test_help_names_spec_fields_and_works() -> None:
    """The rule's own help names manifest fields that a spec does not have."""
    body = "image: img:1\nargs: [--backend, gloo]\nnodes: 2\n"
    (diagnostic,) = ptcompile.compile(
        text(f"{body}restartPolicy: OnFailure"), target="jobset"
    ).diagnostics
    assert diagnostic.name == "lone-pod-restart"
    assert diagnostic.help is not None
    assert "runPolicy: {onPodFailure: RestartJob}" in diagnostic.help
    assert (
        ptcompile.compile(
            text(f"{body}runPolicy: {{onPodFailure: RestartJob}}"), target="jobset"
        ).diagnostics
        == ()
    )
    (diagnostic,) = ptcompile.compile(
        text(f"{body}restartPolicy: OnFailure"), target="job"
    ).diagnostics
    assert diagnostic.help == "remove it, or use a target that restarts all pods, such as jobset"
    assert ptcompile.compile(text(body), target="job").diagnostics == ()


def test_finding_of_a_derived_volume_points_at_the_resources() -> None:
    (diagnostic,) = ptcompile.compile(
        smallest("resources: {requests: {cpu: 1, memory: 1Gi}}")
    ).diagnostics
    assert (diagnostic.name, diagnostic.path) == ("unbounded-shm", ("spec", "resources"))
    assert "sharedMemory" in (diagnostic.help or "")


def test_ignored_findings_are_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = f"{MOVING}  resources: {{gpu: 8}}\n".replace(
        "latest\n", "latest  # ptcompile: ignore[PTC801] pinned\n"
    )
    result = ptcompile.compile(both, ignore=["PTC109"])
    assert sorted(diagnostic.name for diagnostic in result.meant) == [
        "best-effort-gpus",
        "latest-image",
    ]
    assert not {diagnostic.name for diagnostic in result.diagnostics} & {
        diagnostic.name for diagnostic in result.meant
    }
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(
        both.replace("nodes: 2", "nodes: 2\n  masterPort: 1234\n  names: {node: a}")
    )
    Path("ptcompile.toml").write_text('ignore = ["PTC109"]\n')
    errors = here(capsys, "spec.yaml", "--target", "job", "--target", "jobset", "-o", "out/").err
    assert "1 note, 2 ignored\n" in errors, errors
