"""Results on a terminal: folded to its width and in color; the same text without either when piped."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ptcompile.cli import files, presentation
from ptcompile.cli.presentation import HELP, PATCH, RESULT, fold, paint, with_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.cli.presentation import Styles


RESET = "\x1b[0m"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
LONG = "registry.example.com/" + "a" * 200 + ":1"
SPEC = f"""\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {{name: train}}
spec:
  image: registry.example.com/train:1
  script: train.py
  nodes: 2
  env: {{LONG: {LONG}}}
  resources: {{cpu: 4, memory: 8Gi}}
"""
COMMANDS = [
    ("simulate", "spec.yaml"),
    ("explain", "spec.yaml"),
    ("explain", "spec.yaml", "env"),
    ("explain", "spec.elastic"),
    ("diff", "spec.yaml", "--set", "spec.nodes=3", "--set", f"spec.env.OTHER={LONG}"),
    ("compile", "spec.yaml", "--check", "-o", "old.yaml"),
    ("lint", "pod.yaml", "--diff", "--unsafe-fixes"),
    ("help",),
    ("simulate", "--help"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "old.yaml").write_text("a: 1\n")
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i:1, comand: [a]}]}\n"
    (tmp_path / "pod.yaml").write_text(pod)
    return tmp_path


def run(words: tuple[str, ...], folder: Path, **env: str) -> str:
    """Return what a command prints into a pipe."""
    command = [sys.executable, "-m", "ptcompile", *words]
    done = subprocess.run(
        command, cwd=folder, env={**_environment(), **env}, capture_output=True, timeout=120
    )
    return done.stdout.decode()


def run_on_terminal(words: tuple[str, ...], folder: Path, columns: int) -> str:
    """Return what a command prints to standard output on a terminal."""
    master, slave = pty.openpty()
    env = {**_environment(), "TERM": "xterm", "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "ptcompile", *words]
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=slave, stderr=subprocess.DEVNULL
    ) as process:
        os.close(slave)
        chunks = []
        while True:
            try:
                chunk = os.read(master, 1 << 16)
            except OSError:  # Linux: the other end is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        process.wait(timeout=120)
    os.close(master)
    return b"".join(chunks).decode().replace("\r\n", "\n")


def _environment() -> dict[str, str]:
    excluded = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")
    return {name: value for name, value in os.environ.items() if name not in excluded}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_terminal_gets_color_and_a_pipe_does_not(words: tuple[str, ...], folder: Path) -> None:
    piped, shown = run(words, folder), run_on_terminal(words, folder, 100)
    colored = run(words, folder, FORCE_COLOR="1")
    assert "\x1b" not in piped
    assert ESCAPES.search(shown)
    assert colored != piped
    assert ESCAPES.sub("", colored) == piped


@pytest.mark.parametrize("words", COMMANDS[:5], ids=" ".join)
def test_only_a_terminal_gets_folded_lines(words: tuple[str, ...], folder: Path) -> None:
    shown = ESCAPES.sub("", run_on_terminal(words, folder, 70))
    assert max(map(len, shown.splitlines())) <= 70


@pytest.mark.parametrize("words", [COMMANDS[0], COMMANDS[2], COMMANDS[4]], ids=" ".join)
def test_nothing_is_cut_when_piped(words: tuple[str, ...], folder: Path) -> None:
    piped = run(words, folder)
    assert LONG in piped
    assert "…" not in piped
    assert " ..." not in piped


def test_folded_rows_begin_below_the_value() -> None:
    assert fold("  label        one two three four five six seven eight\n", 40) == (
        "  label        one two three four five\n               six seven eight\n"
    )
    assert fold("    ~  one two three four five six seven eight nine\n", 40) == (
        "    ~  one two three four five six seven\n       eight nine\n"
    )
    assert fold("  path: one two three four five six seven eight\n", 40) == (
        "  path: one two three four five six\n    seven eight\n"
    )


def test_rows_begin_below_a_value_only_in_the_left_half() -> None:
    assert fold("    long_label_of_a_row  one two three four five\n", 40) == (
        "    long_label_of_a_row  one two three\n      four five\n"
    )
    assert fold(f"  label_of_16_char  {'a ' * 16}\n", 40).splitlines()[1].startswith(" " * 20), (
        "half is room enough"
    )
    assert fold(f"{'':30}{'word ' * 4}\n", 40).splitlines()[1].index("w") == 20, (
        "never beyond the middle"
    )
    assert fold(f"  label  a {'b' * 32} c\n", 40) == f"  label  a\n    {'b' * 32} c\n", (
        "a word that needs the room"
    )
    assert fold("a" * 40 + "\n", 30) == "a" * 40 + "\n", "no terminal is narrower than 40"


STYLED = [
    (RESULT, "  + a: 1", "\x1b[32m  + a:\x1b[0m 1"),
    (RESULT, "  - a: 1", "\x1b[31m  - a:\x1b[0m 1"),
    (RESULT, "  ~ a: 1", "\x1b[33m  ~ a:\x1b[0m 1"),
    (RESULT, "Job/a -> Job/b, 1", "\x1b[1mJob/a -> Job/b\x1b[0m, 1"),
    (RESULT, "spec.nodes: 1", "\x1b[1mspec.nodes:\x1b[0m 1"),
    (RESULT, "  NAME  RANK", "\x1b[1m  NAME  RANK\x1b[0m"),
    (RESULT, "  pods  5", "\x1b[36m  pods\x1b[0m  5"),
    (RESULT, "   12 | a", "\x1b[34m   12 |\x1b[0m a"),
    (PATCH, "@@ -1 +1 @@ a", "\x1b[36m@@ -1 +1 @@\x1b[0m a"),
    (PATCH, "--- a", "\x1b[1m--- a\x1b[0m"),
    (PATCH, "-a", "\x1b[31m-a\x1b[0m"),
    (PATCH, "+a", "\x1b[32m+a\x1b[0m"),
]


@pytest.mark.parametrize(("styles", "text", "colored"), STYLED)
def test_each_style_colors_its_part(
    styles: Styles, text: str, colored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert paint(text, styles) == colored


def test_a_very_long_line_ends_with_an_ellipsis() -> None:
    rows = fold("word " * 1000, 80).splitlines()
    assert len(rows) == 6
    assert rows[-1].endswith("…")
    assert max(map(len, rows)) <= 80


@given(st.text(st.sampled_from("ab +-~:./\n|")), st.integers(1, 200))
def test_folding_and_color_lose_nothing(text: str, width: int) -> None:
    text += "\n"
    folded = fold(text, width)
    assert "".join(folded.split()) == "".join(text.split()) or "…" in folded
    assert all(len(row) <= max(width, 40) for row in folded.splitlines())
    for styles in (RESULT, PATCH, HELP):
        colored = text
        for pattern, style in styles:
            colored = pattern.sub(f"{style}\\g<0>{RESET}", colored)
        assert ESCAPES.sub("", colored) == text


def test_color_is_off_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert paint("  + a: 1\n", RESULT) == "  + a: 1\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert paint("  + a: 1\n", RESULT) == "\x1b[32m  + a:\x1b[0m 1\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("  + a: 1\n", RESULT) == "  + a: 1\n"


def test_white_space_is_kept() -> None:
    """Tabs and other spaces within a line are part of a value."""
    assert (
        fold("name  a\tb " + "c" * 20 + "\x0bd " + "e" * 20, 40)
        == "name  a\tb " + "c" * 20 + "\x0bd\n      " + "e" * 20 + "\n"
    )


LINE, ERASE = "ptcompile: {} of 4 files", "\r\x1b[K"


class Terminal(io.TextIOWrapper):
    """A standard error that reports whether it is a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), "utf-8")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def shown(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal, with a clock that advances half a second per reading. Not a fixture: pytest replaces standard
    error.
    """
    terminal = Terminal(terminal=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    ticks = iter(range(10_000))
    monkeypatch.setattr(presentation, "monotonic", lambda: next(ticks) / 2)
    return terminal


def _failing() -> None:
    for one in with_progress("abcd", 4):
        if one == "b":
            raise KeyboardInterrupt


def test_progress_starts_after_a_second_and_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    assert list(with_progress("abcd", 4)) == [*"abcd"]
    assert shown.shown() == LINE.format(1) + ERASE + LINE.format(2) + ERASE + LINE.format(3) + ERASE


def test_the_progress_line_is_erased_before_other_output(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    for one in with_progress("abcd", 4):
        if one == "b":
            files.print_error("a note")
    assert f"{LINE.format(1)}{ERASE}a note\n{LINE.format(2)}" in shown.shown()


def test_the_progress_line_is_erased_if_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        _failing()
    assert shown.shown() == LINE.format(1) + ERASE


def test_the_progress_line_is_erased_before_the_result(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    shown = on_terminal(monkeypatch)
    presentation.show_progress("1 of 4 files")
    files.write_stdout("result\n")
    assert shown.shown() == LINE.format(1) + ERASE
    assert capsysbinary.readouterr().out == b"result\n"


@pytest.mark.parametrize("dumb", [True, False])
def test_there_is_no_progress_line_without_a_capable_terminal(
    monkeypatch: pytest.MonkeyPatch, dumb: bool
) -> None:
    shown = on_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb" if dumb else "xterm")
    shown.terminal = dumb
    assert list(with_progress("abcd", 4)) == [*"abcd"]
    assert not shown.shown()
    monkeypatch.setattr(sys, "stderr", None)
    assert list(with_progress("abcd", 4)) == [*"abcd"]
