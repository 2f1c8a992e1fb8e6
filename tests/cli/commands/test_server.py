"""`ptcompile server`: what the client sends before any message."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import ROOT

pytest.importorskip("pygls")


@pytest.mark.parametrize("length", ["abc", "-5", "1e3", "99999999999999", "9" * 5000, "67108865", ""])
@pytest.mark.parametrize("name", ["Content-Length", "content-length "])
def test_a_length_that_no_message_has_ends_the_server(name: str, length: str, tmp_path: Path) -> None:
    """pygls waits for more or allocates the whole length."""
    done = subprocess.run(
        [sys.executable, "-m", "ptcompile", "server", "--untrusted"],
        input=f"{name}: {length}\r\n\r\n{{}}".encode(),
        capture_output=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("ptcompile: the client sent Content-Length: ")
    assert len(line) < 200
