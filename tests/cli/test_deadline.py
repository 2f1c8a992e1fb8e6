"""The deadline of a command: what is finished is reported, nothing half done is written, and the run fails."""

from __future__ import annotations

import os
import signal
import time
from argparse import Namespace
from collections.abc import Callable
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ptcompile import cli
from ptcompile.api import explain
from ptcompile.cli import config
from ptcompile.cli.commands import COMMANDS, explain as explain_command, lint as judge, watch
from ptcompile.cli.files import InputFile, UsageError
from tests.cli.lints import Counted
from tests.cli.running import here, spec
from tests.growing import bad_keys

Capture = pytest.CaptureFixture[str]

BAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: a:1, comand: [a]}]}\n"
SECONDS = ("--timeout", "2")


def endless(*_arguments: object) -> Any:
    """Stand for work that takes too long."""
    time.sleep(60)


def endless_at(monkeypatch: pytest.MonkeyPatch, method: str, name: str) -> None:
    """Let the work of lint on the file of this name take too long."""
    usual: Callable[[judge.FileLinter, InputFile], Any] = getattr(judge.FileLinter, method)

    def work(linter: judge.FileLinter, file: InputFile) -> Any:
        return endless() if file.name.endswith(name) else usual(linter, file)

    monkeypatch.setattr(judge.FileLinter, method, work)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of three files with a finding each, of which the second takes too long to lint."""
    monkeypatch.chdir(tmp_path)
    endless_at(monkeypatch, "__call__", "b.yaml")
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text(BAD, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("words", [(), ("--exit-zero",), ("--baseline", "known.toml")])
def test_lint_reports_the_files_that_are_finished(
    files: Path, words: tuple[str, ...], capsys: Capture
) -> None:
    known = '[[finding]]\ncode = "PTC302"\nfile = "c.yaml"\n'
    (files / "known.toml").write_text(known, encoding="utf-8")
    ran = here(capsys, "lint", *SECONDS, *words, "--output-format", "concise", ".")
    assert ran.status == 2
    assert [line.split(": ")[0] for line in ran.out.splitlines()] == [
        "./a.yaml:4:43",
        "./b.yaml:1:1",
    ], ran.out
    assert "PTC080 not-finished: not finished: 1 of 3 files were checked" in ran.out


def test_a_file_that_takes_too_long_has_no_finding_but_that(files: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", *SECONDS, "b.yaml")
    assert ran.status == 2
    assert "0 of 1 files were checked" in ran.out
    assert "1 error" in ran.err


def test_an_unfinished_run_writes_no_baseline(files: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", *SECONDS, ".", "--write-baseline", "known.toml")
    assert ran.status == 2
    assert "PTC080" in ran.out
    assert not (files / "known.toml").exists()


@pytest.mark.parametrize("words", [("--fix", "fix"), ("--diff", "fix"), ("--add-ignore", "report")])
def test_an_unfinished_run_changes_no_file(
    files: Path, words: tuple[str, str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    option, method = words
    endless_at(monkeypatch, method, "b.yaml")
    ran = here(capsys, "lint", *SECONDS, option, ".")
    assert (ran.status, ran.out) == (2, "")
    assert "not finished after 2 s" in ran.err
    assert {path.read_text() for path in files.iterdir()} == {BAD}


def test_only_finished_files_are_cached(
    many: Path, asked: Counted, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = many / "pod.yaml"
    with monkeypatch.context() as patch:
        endless_at(patch, "__call__", last.name)
        assert here(capsys, "lint", "--timeout", "4", str(many)).status == 2
    asked.clear()
    assert here(capsys, "lint", str(many)).status < 2
    assert [Path(name).name for name in asked] == [last.name]


def test_the_configuration_sets_a_deadline(files: Path, capsys: Capture) -> None:
    (files / "ptcompile.toml").write_text("timeout = 2\n", encoding="utf-8")
    assert "PTC080" in here(capsys, "lint", ".").out
    assert "PTC080" not in here(capsys, "lint", "--isolated", "a.yaml").out


READ_NO_INPUT = {"init", "rules", "targets", "schema", "plugins", "completion"}
HAVE_THEIR_OWN = {"server", "mcp"}
"""Commands with a time for each answer."""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_configured_deadline_is_that_of_every_command_that_reads_input(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ptcompile.toml").write_text("timeout = 7\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    seconds: list[float | None] = []

    def run(options: Namespace) -> int:
        seconds.append(options.timeout)
        return 0

    command = COMMANDS[name]
    module = import_module(f"ptcompile.cli.commands.{command.module}")
    monkeypatch.setattr(module, command.function, run)
    required = [
        word
        for action in cli.build_parser(name)._actions
        if action.required
        for word in (*action.option_strings[:1], next(iter(action.choices or ["a.yaml"])))
    ]
    assert cli.main([name, *required]) == 0
    assert cli.main([name, *required, "--timeout", "9"]) == 0
    has_no_deadline = name in READ_NO_INPUT | HAVE_THEIR_OWN
    assert seconds == [None if has_no_deadline else 7, 9]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("a.yaml", 7), ("-", 7), ("*.yaml", 7), ("PTC302", None), ("spec.nodes", None)],
)
def test_the_configured_deadline_is_that_of_an_explained_file_and_not_of_a_word(
    word: str, expected: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ptcompile.toml").write_text("timeout = 7\n", encoding="utf-8")
    (tmp_path / "a.yaml").write_text(BAD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    seconds: list[float | None] = []

    def run(options: Namespace) -> int:
        seconds.append(options.timeout)
        return 0

    monkeypatch.setattr(explain_command, "run", run)
    assert cli.main(["explain", word]) == 0
    assert seconds == [expected]


@pytest.mark.parametrize("value", ["0", "-1", "true", '"1"', "1e9", "nan"])
def test_a_deadline_is_a_number_of_seconds(value: str, tmp_path: Path) -> None:
    path = tmp_path / "ptcompile.toml"
    path.write_text(f"timeout = {value}\n", encoding="utf-8")
    with pytest.raises(UsageError) as error:
        config.load(str(path))
    assert "timeout: must be a number of seconds" in str(error.value)


def test_untrusted_runs_have_a_deadline(
    files: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "UNTRUSTED_SECONDS", 2.0)
    assert "PTC080" in here(capsys, "lint", "--untrusted", ".").out


def passes_at(monkeypatch: pytest.MonkeyPatch, name: str, number: int = 1) -> None:
    """Let the deadline pass in the call of this number of a function that writes."""
    module, _, function = name.rpartition(".")
    usual = getattr(cli.files, function) if module == "files" else getattr(os, function)
    calls = count(1)

    def call(*arguments: Any, **options: Any) -> Any:
        if next(calls) == number:
            signal.raise_signal(signal.SIGALRM)
        return usual(*arguments, **options)

    monkeypatch.setattr(cli.files if module == "files" else os, function, call)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("words", [("--fix", "--unsafe-fixes"), ("--add-ignore",)])
def test_the_deadline_holds_while_files_are_written(
    tmp_path: Path,
    words: tuple[str, ...],
    number: int,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text(BAD, encoding="utf-8")
    passes_at(monkeypatch, "files._write_temporary", number)
    ran = here(capsys, "lint", "--timeout", "60", *words, ".")
    assert (ran.status, ran.out) == (2, "")
    assert "not finished after 60 s" in ran.err
    assert [path.read_text() for path in tmp_path.iterdir()] == [BAD] * 3


def test_the_deadline_holds_while_a_baseline_is_written(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.yaml").write_text(BAD, encoding="utf-8")
    passes_at(monkeypatch, "os.fsync")
    known = tmp_path / "known.toml"
    ran = here(capsys, "lint", "--timeout", "60", tmp_path / "a.yaml", "--write-baseline", known)
    assert ran.status == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


def test_no_temporary_file_is_left(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted right after it has made the file, the command would not know about it."""

    def make(path: str, mode: str, **options: Any) -> Any:
        file = Path(path).open(mode, **options)  # noqa: SIM115
        signal.raise_signal(signal.SIGALRM)
        return file

    monkeypatch.setattr(cli.files, "open", make, raising=False)
    folder = tmp_path / "made"
    ran = here(
        capsys,
        "compile",
        "--timeout",
        "60",
        spec(tmp_path),
        "--target",
        "job",
        "-o",
        folder / "out.yaml",
    )
    assert ran.status == 2
    assert list(folder.iterdir()) == []


def test_files_are_replaced_all_or_none(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renaming takes no time worth a deadline: a run whose files are written is finished."""
    left: list[float] = []
    usual = os.replace

    def replace(*paths: Any) -> None:
        left.append(signal.getitimer(signal.ITIMER_REAL)[0])
        usual(*paths)

    monkeypatch.setattr(os, "replace", replace)
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text(BAD, encoding="utf-8")
    assert here(capsys, "lint", "--timeout", "60", "--add-ignore", tmp_path).status == 0
    assert left == [0, 0, 0]


@pytest.mark.parametrize("is_open", [False, True], ids=["nobody opens it", "nobody reads it"])
def test_a_pipe_does_not_outlast_the_deadline(
    is_open: bool, tmp_path: Path, capsys: Capture
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = tmp_path / "pod.yaml"
    path.write_text(bad_keys(400), encoding="utf-8")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if is_open else None
    ran = here(capsys, "lint", *SECONDS, path, "--output-format", "json", "--output-file", pipe)
    assert ran.status == 2
    if reader is not None:
        os.close(reader)


def test_other_commands_have_no_result(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptcompile.api.compile.compile_inputs", endless)
    ran = here(capsys, "compile", *SECONDS, spec(tmp_path), "--target", "job")
    assert (ran.status, ran.out) == (2, "")
    assert "--timeout SECONDS" in ran.err


def test_watch_has_a_deadline_for_each_page(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spec(tmp_path)
    shown: list[str] = []
    contents: list[Any] = [path.read_bytes(), b"slow", KeyboardInterrupt()]
    page = explain.explain_page

    def read(_path: str) -> Any:
        content = contents.pop(0)
        if isinstance(content, BaseException):
            raise content
        return content

    def slow(*arguments: Any) -> Any:
        return endless() if shown else page(*arguments)

    monkeypatch.setattr(explain, "explain_page", slow)
    monkeypatch.setattr(watch.Live, "show", lambda _live, text: shown.append(text))
    monkeypatch.setattr(watch, "_read_content", read)
    monkeypatch.setattr(watch, "_CHECK_SECONDS", 0.01)
    assert here(capsys, "watch", "--timeout", "3", path, "--target", "job").status == 0
    assert len(shown) == 2
    assert "Not finished after 3 s" in shown[1]
