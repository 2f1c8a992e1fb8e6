"""`ptcompile server`: the language server for editors, on standard input and output."""

from __future__ import annotations

import argparse
import os

from ptcompile.cli.files import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_MAX_MESSAGE_BYTES = 1 << 26
_MAX_HEADER_BYTES = 1 << 12


class _ClientInput:
    """Standard input, with headers that pygls would wait for or allocate any amount of memory
    for rejected.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._has_length = False
        self.read = stream.read

    def readline(self) -> bytes:
        """Return a header line. Raises `UsageError` for a length that no message has, and for a
        second one.
        """
        line = self._stream.readline(_MAX_HEADER_BYTES)
        name, _, value = line.partition(b":")
        if name.strip().lower() != b"content-length":
            self._has_length = self._has_length and bool(line.strip())
            return line
        if self._has_length:
            raise UsageError("the client sent Content-Length twice for one message")

        self._has_length = True
        length = value.strip()
        if not length.isdigit() or len(length) > 10 or int(length) > _MAX_MESSAGE_BYTES:
            text = length[:40].decode(errors="replace")
            raise UsageError(
                f"the client sent Content-Length: {text}, which is no length up to "
                f"{_MAX_MESSAGE_BYTES}"
            )

        return b"Content-Length: " + length + b"\r\n"


def run(options: argparse.Namespace) -> int:
    """Serve one editor until it closes the connection."""
    try:
        import pygls  # noqa: F401 - the extra
    except ImportError:
        raise UsageError(
            "the language server needs pygls: python -m pip install 'pygls>=2'"
        ) from None

    import gc
    import sys
    import tempfile
    from typing import cast

    from ptcompile.cli.workspace import Workspace
    from ptcompile.server.protocol import Server

    gc.enable()
    with tempfile.TemporaryDirectory(prefix="ptcompile-") as folder:

        def save(name: str, text: str) -> str:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            return path

        stdin = cast("BinaryIO", _ClientInput(sys.stdin.buffer))
        Server(Workspace, save).pygls.start_io(stdin)

    return 0
