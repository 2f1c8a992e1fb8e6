"""The commands, their options and their exit status."""

from __future__ import annotations

import argparse
import gc
import json
from pathlib import Path

import pytest

import ptcompile
from ptcompile import cli
from ptcompile.registry.targets import TARGETS
from tests.cli.running import here, process, spec

Capture = pytest.CaptureFixture[str]


def test_version(capsys: Capture) -> None:
    ran = here(capsys, "--version")
    assert (ran.status, ran.out) == (0, f"ptcompile {ptcompile.__version__}\n")


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("compile", "--help"), ("lint", "--help")])
def test_help_goes_to_standard_output_and_has_examples(words: tuple[str, ...], capsys: Capture) -> None:
    ran = here(capsys, *words)
    assert (ran.status, ran.err) == (0, "")
    assert "ptcompile" in ran.out
    if words[0] != "lint":
        assert len(ran.out) > 400


USAGE: list[tuple[tuple[str, ...], str]] = [
    ((), "--help"),
    (("lint",), "--help"),
    (("--nonsense",), "--nonsense"),
    (("--target",), "--target"),
    (("--target", "pytorch", "SPEC"), "pytorchjob"),
    (("--format", "toml", "SPEC"), "toml"),
    (("lint", "--output-format", "xml", "SPEC"), "xml"),
    (("lint", "--kubernetes-version", "latest", "SPEC"), "latest"),
    (("complie", "SPEC"), "complie"),
    (("schema", "job"), "job"),
]


@pytest.mark.parametrize(("words", "told"), USAGE, ids=[" ".join(words) or "nothing" for words, _ in USAGE])
def test_wrong_usage(words: tuple[str, ...], told: str, tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, *[str(spec(tmp_path)) if word == "SPEC" else word for word in words])
    assert (ran.status, ran.out) == (2, "")
    assert told in ran.err


def test_an_option_is_never_guessed(tmp_path: Path, capsys: Capture) -> None:
    assert here(capsys, "--targ", "pod", spec(tmp_path)).status == 2


IDLE = "resources: {gpu: 8}\nelastic: {nprocPerNode: 1}"
"""A warning: seven GPUs are not used."""


@pytest.mark.parametrize(("body", "status"), [("", 0), (IDLE, 0), ("spot: true", 1), ("nods: 1", 1)])
@pytest.mark.parametrize("command", ["compile", "lint"])
def test_exit_status(body: str, status: int, command: str, tmp_path: Path, capsys: Capture) -> None:
    """0: clean or only warnings; 1: findings that fail the run."""
    assert here(capsys, command, spec(tmp_path, body=body)).status == status


def test_a_warning_does_not_stop_the_manifests(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, spec(tmp_path, body=IDLE))
    assert "warning[" in ran.err
    assert ran.out.startswith("apiVersion: v1\nkind: Pod\n")


def test_targets(capsys: Capture) -> None:
    ran = here(capsys, "targets")
    titles, _, table = ran.out.partition("\n\n")
    assert [line.split()[0] for line in titles.splitlines()] == list(TARGETS)
    assert table.splitlines()[0].split() == list(TARGETS)
    assert list(json.loads(here(capsys, "targets", "--format", "json").out)["targets"]) == list(TARGETS)
    assert "podSpecOverrides" in here(capsys, "targets", "--versions").out


@pytest.mark.parametrize("what", ["spec", "cluster"])
def test_schema(what: str, capsys: Capture) -> None:
    assert json.loads(here(capsys, "schema", what).out)["$id"] == f"{what}.schema.json"


def test_lint_reports_on_standard_output(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", spec(tmp_path, body="nods: 1"))
    assert ran.status == 1
    assert "spec.nods" in ran.out
    assert "1 file, 1 document, 1 error" in ran.err


@pytest.mark.parametrize("body", ["", "nods: 1"])
def test_lint_in_json_is_always_json(body: str, tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", "--output-format", "json", spec(tmp_path, body=body))
    report = json.loads(ran.out)
    assert len(report["diagnostics"]) == ran.status == int(bool(body))


def test_an_unknown_kind_is_counted(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "x.yaml").write_text("apiVersion: x.y/v1\nkind: Foo\nmetadata: {name: a}\n", encoding="utf-8")
    ran = here(capsys, "lint", tmp_path / "x.yaml")
    assert ran.status == 0
    assert "not checked: 1 (Foo)" in ran.err
    ran = here(capsys, "lint", "--unknown-kinds", "error", tmp_path / "x.yaml")
    assert ran.status == 1


def test_a_clean_lint_reports_the_number_of_files(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", spec(tmp_path))
    assert (ran.status, ran.out) == (0, "")
    assert "1 file, 1 document, 0 errors, 0 warnings" in ran.err


def test_findings_for_programs(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "--output-format", "json", spec(tmp_path, body="nods: 1"))
    (found,) = json.loads(ran.err.rpartition("}\n")[0] + "}")["diagnostics"]
    assert found["name"] == "spec-unknown-field"
    ran = here(capsys, "--output-format", "concise", spec(tmp_path, body="nods: 1"))
    assert ":7:3: error PTC021 spec-unknown-field: spec.nods" in ran.err


def test_linting_a_manifest_imports_no_pydantic(tmp_path: Path) -> None:
    """CONTRIBUTING.md#house-rules: heavy modules are imported only where they are used."""
    (tmp_path / "p.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", encoding="utf-8")
    ran = process("lint", tmp_path / "p.yaml", flags=("-X", "importtime"))
    assert ran.status == 0
    loaded = {line.rpartition("|")[2].strip() for line in ran.err.splitlines()}
    assert "ptcompile.apiserver" in loaded
    assert not {"pydantic", "jsonschema", "deepdiff", "ruamel.yaml", "asyncio", "email", "pathlib"} & loaded


@pytest.mark.parametrize("command", ["compile", "lint", "simulate"])
def test_a_spec_without_a_mistake_needs_no_pydantic(command: str, tmp_path: Path) -> None:
    ran = process(command, spec(tmp_path), flags=("-X", "importtime"))
    loaded = {line.rpartition("|")[2].strip() for line in ran.err.splitlines()}
    assert ran.status == 0
    assert "ptcompile.spec.reader" in loaded
    assert not {"pydantic", "jsonschema", "deepdiff", "ruamel.yaml", "asyncio"} & loaded


def test_only_the_console_command_starts_processes_by_default(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that calls `main` must not be forked unexpectedly."""
    seen: list[int | None] = []

    def lint(options: argparse.Namespace) -> int:
        seen.append(options.jobs)
        return 0

    monkeypatch.setattr(cli, "_lint", lint)
    monkeypatch.setattr(cli.files, "exit_process", lambda status: None)
    here(capsys, "lint", spec(tmp_path))
    here(capsys, "lint", "--jobs", "3", spec(tmp_path))
    monkeypatch.setattr("sys.argv", ["ptcompile", "lint", "a.yaml"])
    cli.run()
    gc.enable()
    assert seen == [1, 3, None]
