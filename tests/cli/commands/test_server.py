"""`ptcompile server`: what the client sends before any message."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from ptcompile.cli.commands.server import _ClientInput
from ptcompile.cli.files import UsageError
from tests.cli.running import ROOT

pytest.importorskip("pygls")


@pytest.mark.parametrize(
    "length", ["abc", "-5", "1e3", "99999999999999", "9" * 5000, "67108865", ""]
)
@pytest.mark.parametrize("name", ["Content-Length", "content-length "])
def test_a_length_that_no_message_has_is_refused(name: str, length: str) -> None:
    """pygls waits for more or allocates the whole length."""
    stream = _ClientInput(io.BytesIO(f"{name}: {length}\r\n\r\n{{}}".encode()))
    with pytest.raises(UsageError, match=r"^the client sent Content-Length: ") as refused:
        stream.readline()
    assert len(str(refused.value)) < 180


@pytest.mark.parametrize("header", ["Content-Length: abc", f"content-length : {'9' * 5000}"])
def test_such_a_length_ends_the_server(header: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ptcompile", "server", "--untrusted"],
        input=f"{header}\r\n\r\n{{}}".encode(),
        capture_output=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("ptcompile: the client sent Content-Length: ")
    assert len(line) < 200


@pytest.mark.parametrize("length", ["0", "2", "67108864", "0000000002"])
def test_a_length_that_a_message_may_have_is_read(length: str) -> None:
    assert _ClientInput(io.BytesIO(f"content-length:  {length} \r\n".encode())).readline() == (
        f"Content-Length: {length}\r\n".encode()
    )


def test_a_message_has_one_length() -> None:
    stream = _ClientInput(
        io.BytesIO(b"Content-Length: 2\r\n\r\n" * 2 + b"Content-Length: 2\r\nContent-Length: 9\r\n")
    )
    for _ in range(5):
        stream.readline()
    with pytest.raises(UsageError, match="Content-Length twice"):
        stream.readline()


def test_other_headers_are_read_as_they_are() -> None:
    stream = _ClientInput(io.BytesIO(b"Content-Type: a; charset=utf-8\r\n" + b"x" * 5000))
    assert stream.readline() == b"Content-Type: a; charset=utf-8\r\n"
    assert stream.readline() == b"x" * 4096  # a header without an end
