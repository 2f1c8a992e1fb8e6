"""`ptcompile watch` as a process, in a real browser: edit, and it changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptcompile.cli import main
from tests.page.browser import CHROMIUM, Browser, browser

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: registry.example.com/train:1
  script: train.py
  nodes: 2
"""
SHOWN = "document.querySelector('iframe')?.contentDocument"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Path, str, subprocess.Popen[bytes]]]:
    """A spec, the address of its page, and the process."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    command = [sys.executable, "-m", "ptcompile", "watch", str(spec), "--target", "job"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr is not None
    address = process.stderr.readline().decode().split()[1]
    try:
        yield spec, address, process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def until(asked: Callable[[], bool]) -> None:
    for _ in range(3000):
        if asked():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_edit_and_it_changes(watched: tuple[Path, str, subprocess.Popen[bytes]]) -> None:
    spec, address, _ = watched
    with browser() as tab:
        tab.call("Page.navigate", url=address)
        until(lambda: "--nnodes=2" in _text(tab))
        spec.write_text(SPEC.replace("nodes: 2", "nodes: 5"), encoding="utf-8")
        until(lambda: "--nnodes=5" in _text(tab))
        assert "--nnodes=2" not in _text(tab)
        spec.write_text(SPEC.replace("nodes: 2", "noodes: 5"), encoding="utf-8")
        until(lambda: "PTC021" in _text(tab))
        note = f"{SHOWN}.querySelector('.note').closest('li').id"
        assert tab.run(note) == "spec-7", "the error is at its line"
        new = spec.with_name("new.yaml")  # as editors save: another file in its place
        new.write_text(SPEC.replace("train:1", "train:2"), encoding="utf-8")
        new.replace(spec)
        until(lambda: "train:2" in _text(tab))
        assert "PTC021" not in _text(tab)
        tab.call("Runtime.evaluate", expression="1")
        assert not [one for one in tab.said() if "Security Policy" in one]
        origin = address.rpartition("/")[0].rpartition("/")[0]
        assert {url for url in tab.asked_for() if not url.startswith((origin, "about:"))} == set()


def _text(tab: Browser) -> str:
    found: str = tab.run(f"({SHOWN} && {SHOWN}.body ? {SHOWN}.body.textContent : '')") or ""
    return found


def test_ctrl_c_ends_it(watched: tuple[Path, str, subprocess.Popen[bytes]]) -> None:
    _, _, process = watched
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(30) == 0


def test_what_cannot_be_watched(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["-"], [str(tmp_path / "none.yaml")], [str(tmp_path)]):
        with pytest.raises(Exception, match=r"watch needs a file|no such file|not a regular file|is a directory"):
            main(["watch", *words])
