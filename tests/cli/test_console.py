"""The progress line: only on a terminal, and erased before anything else is printed."""

from __future__ import annotations

import io
import sys

import pytest

from ptcompile.cli import console, files
from ptcompile.cli.console import with_progress

LINE, ERASE = "ptcompile: {} of 4 files", "\r\x1b[K"


class Terminal(io.TextIOWrapper):
    """A standard error that reports whether it is a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), "utf-8")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def shown(self) -> str:
        found = self.buffer
        assert isinstance(found, io.BytesIO)
        return found.getvalue().decode()


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal, with a clock that advances half a second per reading. Not a fixture: pytest replaces standard
    error.
    """
    terminal = Terminal(terminal=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    ticks = iter(range(10_000))
    monkeypatch.setattr(console, "monotonic", lambda: next(ticks) / 2)
    return terminal


def _failing() -> None:
    for one in with_progress("abcd", 4):
        if one == "b":
            raise KeyboardInterrupt


def test_progress_starts_after_a_second_and_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    assert list(with_progress("abcd", 4)) == [*"abcd"]
    assert shown.shown() == LINE.format(1) + ERASE + LINE.format(2) + ERASE + LINE.format(3) + ERASE


def test_it_is_erased_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    for one in with_progress("abcd", 4):
        if one == "b":
            files.print_error("a note")
    assert f"{LINE.format(1)}{ERASE}a note\n{LINE.format(2)}" in shown.shown()


def test_it_is_erased_if_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        _failing()
    assert shown.shown() == LINE.format(1) + ERASE


def test_it_is_erased_before_the_result(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    shown = on_terminal(monkeypatch)
    console.show_progress("1 of 4 files")
    files.write_stdout("result\n")
    assert shown.shown() == LINE.format(1) + ERASE
    assert capsysbinary.readouterr().out == b"result\n"


@pytest.mark.parametrize("dumb", [True, False])
def test_there_is_no_progress_line_without_a_capable_terminal(monkeypatch: pytest.MonkeyPatch, dumb: bool) -> None:
    shown = on_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb" if dumb else "xterm")
    shown.terminal = dumb
    assert list(with_progress("abcd", 4)) == [*"abcd"]
    assert not shown.shown()
    monkeypatch.setattr(sys, "stderr", None)
    assert list(with_progress("abcd", 4)) == [*"abcd"]
