"""The commands, their options and their exit status."""

from __future__ import annotations

import argparse
import gc
import json
from pathlib import Path

import pytest

import ptcompile
from ptcompile import cli
from ptcompile.cli.commands import COMMANDS, lint
from ptcompile.operators.targets import TARGETS
from tests.cli.running import here, process, spec

Capture = pytest.CaptureFixture[str]


def test_the_version_is_printed(capsys: Capture) -> None:
    ran = here(capsys, "--version")
    assert (ran.status, ran.out) == (0, f"ptcompile {ptcompile.__version__}\n")


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("compile", "--help"), ("lint", "--help")])
def test_help_goes_to_standard_output_and_has_examples(
    words: tuple[str, ...], capsys: Capture
) -> None:
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


@pytest.mark.parametrize(
    ("words", "message"), USAGE, ids=[" ".join(words) or "nothing" for words, _ in USAGE]
)
def test_wrong_usage_exits_with_2(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: Capture
) -> None:
    ran = here(capsys, *[str(spec(tmp_path)) if word == "SPEC" else word for word in words])
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


def test_an_option_is_never_guessed(tmp_path: Path, capsys: Capture) -> None:
    assert here(capsys, "--targ", "pod", spec(tmp_path)).status == 2


IDLE = "resources: {gpu: 8}\nelastic: {nprocPerNode: 1}"
"""A warning: seven GPUs are not used."""


@pytest.mark.parametrize(
    ("body", "status"), [("", 0), (IDLE, 0), ("spot: true", 1), ("nods: 1", 1)]
)
@pytest.mark.parametrize("command", ["compile", "lint"])
def test_the_findings_decide_the_exit_status(
    body: str, status: int, command: str, tmp_path: Path, capsys: Capture
) -> None:
    """0: clean or only warnings; 1: findings that fail the run."""
    assert here(capsys, command, spec(tmp_path, body=body)).status == status


def test_a_warning_does_not_stop_the_manifests(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, spec(tmp_path, body=IDLE))
    assert "warning[" in ran.err
    assert ran.out.startswith("apiVersion: v1\nkind: Pod\n")


def test_targets_prints_a_row_for_each_target(capsys: Capture) -> None:
    ran = here(capsys, "targets")
    titles, _, table = ran.out.partition("\n\n")
    assert [line.split()[0] for line in titles.splitlines()] == list(TARGETS)
    assert table.splitlines()[0].split() == list(TARGETS)
    assert list(json.loads(here(capsys, "targets", "--format", "json").out)["targets"]) == list(
        TARGETS
    )
    assert "podSpecOverrides" in here(capsys, "targets", "--versions").out


@pytest.mark.parametrize("what", ["spec", "cluster"])
def test_schema_prints_the_named_schema(what: str, capsys: Capture) -> None:
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
    (tmp_path / "x.yaml").write_text(
        "apiVersion: x.y/v1\nkind: Foo\nmetadata: {name: a}\n", encoding="utf-8"
    )
    ran = here(capsys, "lint", tmp_path / "x.yaml")
    assert ran.status == 0
    assert ran.err.startswith("ptcompile: nothing was checked: 1 file, 1 document, 0 errors")
    assert ran.err.endswith("not checked: 1 (x.y/v1 Foo)\n")
    assert here(capsys, "lint", "--fail-on", "unchecked", tmp_path / "x.yaml").status == 1
    job = spec(tmp_path)
    ran = here(capsys, "lint", "--fail-on", "unchecked", tmp_path / "x.yaml", job)
    assert ran.status == 0
    assert "nothing was checked" not in ran.err
    ran = here(capsys, "lint", "--unknown-kinds", "error", tmp_path / "x.yaml")
    assert ran.status == 1


def test_a_clean_lint_reports_the_number_of_files(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", spec(tmp_path))
    assert (ran.status, ran.out) == (0, "")
    assert "1 file, 1 document, 0 errors, 0 warnings" in ran.err


def test_findings_are_printed_as_json(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "--output-format", "json", spec(tmp_path, body="nods: 1"))
    (diagnostic,) = json.loads(ran.err.rpartition("}\n")[0] + "}")["diagnostics"]
    assert diagnostic["name"] == "spec-unknown-field"
    ran = here(capsys, "--output-format", "concise", spec(tmp_path, body="nods: 1"))
    assert ":7:3: error PTC021 spec-unknown-field: spec.nods" in ran.err


def test_linting_a_manifest_imports_no_pydantic(tmp_path: Path) -> None:
    """CONTRIBUTING.md#house-rules: heavy modules are imported only where they are used."""
    (tmp_path / "p.yaml").write_text(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", encoding="utf-8"
    )
    ran = process("lint", tmp_path / "p.yaml", flags=("-X", "importtime"))
    assert ran.status == 0
    loaded = {line.rpartition("|")[2].strip() for line in ran.err.splitlines()}
    assert "ptcompile.apiserver" in loaded
    assert (
        not {"pydantic", "jsonschema", "deepdiff", "ruamel.yaml", "asyncio", "email", "pathlib"}
        & loaded
    )


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

    def run(options: argparse.Namespace) -> int:
        seen.append(options.jobs)
        return 0

    monkeypatch.setattr(lint, "run", run)
    monkeypatch.setattr(cli.files, "exit_process", lambda status: None)
    here(capsys, "lint", spec(tmp_path))
    here(capsys, "lint", "--jobs", "3", spec(tmp_path))
    monkeypatch.setattr("sys.argv", ["ptcompile", "lint", "a.yaml"])
    cli.run()
    gc.enable()
    assert seen == [1, 3, None]


@pytest.mark.parametrize("words", [("-V",), ("version",)])
def test_other_ways_to_ask_for_the_version_work(words: tuple[str, ...], capsys: Capture) -> None:
    assert here(capsys, *words) == here(capsys, "--version")


def test_the_overview_has_every_command_in_a_group(capsys: Capture) -> None:
    out = here(capsys, "help").out
    assert out == here(capsys, "--help").out
    listed = [
        line.split()[0]
        for line in out.partition("Examples:")[0].splitlines()
        if line.startswith("  ")
    ]
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example(command: str, capsys: Capture) -> None:
    ran = here(capsys, "help", command)
    assert ran == here(capsys, command, "--help")
    examples = ran.out.partition("Options:")[2]
    assert (
        f"\n  ptcompile {command}" in examples
        or f"   ptcompile {command} " in examples
        or command == "compile"
    )
    assert "ptcompile spec.yaml" in examples or command != "compile"


def test_help_suggests_a_known_command(capsys: Capture) -> None:
    assert here(capsys, "help", "lnt").err == "ptcompile: no command 'lnt'; did you mean lint?\n"


@pytest.mark.parametrize(
    "words",
    [
        ("lint", "A", "--select", "PTC1", "B"),
        ("lint", "--exit-zero", "A", "--isolated", "B"),
        ("explain", "A", "--format", "json", "env"),
        ("diff", "A", "--target", "job", "B"),
        ("compile", "A", "--target", "job", "B", "--no-lint"),
        ("A", "--target", "job", "B"),
        ("simulate", "A", "--target", "job", "B"),
        ("requires", "A", "--target", "job", "B"),
        ("convert", "A", "--target", "job", "B"),
        ("platform", "A", "--list", "B"),
    ],
    ids=" ".join,
)
def test_options_may_stand_between_files(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    files = {"A": str(spec(tmp_path, "a.yaml")), "B": str(spec(tmp_path, "b.yaml", job="b"))}
    ran = here(capsys, *[files.get(word, word) for word in words])
    assert "usage" not in ran.err
    assert "unrecognized" not in ran.err


def test_a_file_after_two_dashes_is_no_option(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec(tmp_path, "--target")
    assert here(capsys, "--target", "job", "--", "--target").status == 0


def test_wrong_usage_shows_the_usage_of_the_command(capsys: Capture) -> None:
    ran = here(capsys, "lint", "a.yaml", "--nonsense", "b.yaml")
    assert ran.err.startswith("usage: ptcompile lint ")
    assert ran.err.splitlines()[-1] == "ptcompile lint: error: unrecognized arguments: --nonsense"


def test_formats_and_outputs_have_one_name_everywhere(tmp_path: Path, capsys: Capture) -> None:
    path = spec(tmp_path, body="nods: 1")
    assert json.loads(here(capsys, "lint", "--format", "json", path).out)["diagnostics"]
    here(capsys, "lint", path, "-o", tmp_path / "out.txt")
    assert "PTC021" in (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert json.loads(here(capsys, "rules", "--format", "json").out)


def test_the_usage_shows_that_a_command_takes_several_files(capsys: Capture) -> None:
    assert here(capsys, "convert", "--help").out.startswith(
        "usage: ptcompile convert [OPTIONS] FILE ...\n"
    )
    assert here(capsys, "rehearse", "--help").out.startswith(
        "usage: ptcompile rehearse [OPTIONS] FILE\n"
    )


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_of_a_help_is_wider_than_the_terminal(
    width: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal would break it in the middle of a word."""
    monkeypatch.setenv("COLUMNS", str(width))
    for words in [["help"], *([name, "--help"] for name in COMMANDS)]:
        text = here(capsys, *words).out
        assert max(map(len, text.splitlines())) <= width, words


def test_words_of_a_help_are_whole_at_80_columns(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def words(width: int, name: str) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        return here(capsys, name, "--help").out.split()

    for name in COMMANDS:
        assert words(80, name) == words(400, name), name
