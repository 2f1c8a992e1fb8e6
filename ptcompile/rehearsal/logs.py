"""Logs of pods: bounded on the disk, read as streams, and the first error in them."""

from __future__ import annotations

import os
import re

from ptcompile.rehearsal.settings import RehearsalError

_match_error = re.compile(
    rb"[ \t]{0,200}(?:\[[\w|-]{1,40}\]:[ \t]{0,8}){0,2}"
    rb"(?P<error>(?:[\w.]{1,200}|torchrun: error): .{1,4000})"
).match
"""Matches a line that names an error. PyTorch prefixes lines with `[rank1]: `, torchrun's --tee
with `[default1]:`.
"""
_ERROR_MARKS = (b"Error", b"Exception", b"Timeout", b"torchrun: error")
_MAX_ERROR_LENGTH = 200
"""Maximum number of characters of an error."""
_CHUNK_BYTES = 1 << 20
_MAX_LINE_BYTES = 1 << 16
KEPT_BYTES = 32 << 20
"""Bytes that remain of the beginning and of the end of a log that is too long."""
MAX_BYTES = 4 * KEPT_BYTES
"""Size of a log at which its middle is dropped."""


class PodLog:
    """The log of all starts of a pod."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.error: str | None = None
        """First line of the last start that is an error, as far as it was searched."""
        self._first_error: str | None = None
        """The same of all starts."""
        self._position = 0
        """Bytes in which an error was searched already."""
        self.is_shortened = False
        """Whether its middle was dropped."""
        self._is_ended = False
        """Whether the pod has got SIGTERM: its errors from then on do not count."""

    def begin(self) -> None:
        """Prepare the search for a new start of the pod, after searching the rest of what the last
        start wrote.
        """
        self.search(is_whole=True)
        self._position = os.path.getsize(self.path)
        self._is_ended = False
        self.error = None

    def end(self) -> None:
        """Search no more of this start: the pod gets SIGTERM."""
        self.search(is_whole=True)
        self._is_ended = True

    def shorten(self) -> None:
        """Drop the middle of a log that is too long, after a search for an error in it.

        The pod appends meanwhile: what it writes during the copy may be dropped too.
        """
        self.search()
        size = os.path.getsize(self.path)
        if size <= MAX_BYTES:
            return

        with open(self.path, "r+b") as file:
            file.seek(size - KEPT_BYTES)
            end = file.read(KEPT_BYTES)
            file.seek(KEPT_BYTES)
            file.write(end)
            file.truncate()

        self.is_shortened = True
        self._position = 2 * KEPT_BYTES

    def first_error(self) -> str | None:
        """Return the first line that is an error, or None."""
        self.search(is_whole=True)
        return self._first_error

    def search(self, *, is_whole: bool = False) -> None:
        """Search an error in the part of the log that is new since the last search.

        `is_whole` is whether the last line is complete: a running pod may be writing it.
        """
        if self.error is not None or self._is_ended:
            return

        rest = b""
        with open(self.path, "rb") as file:
            file.seek(self._position)
            while chunk := file.read(_CHUNK_BYTES):
                self._position += len(chunk)
                *lines, rest = (rest + chunk).split(b"\n")
                rest = rest[:_MAX_LINE_BYTES]
                self.error = next(filter(None, map(_error_of, lines)), None)
                if self.error is not None:
                    break

        if self.error is None and is_whole:
            self.error = _error_of(rest)
        elif self.error is None and len(rest) < _MAX_LINE_BYTES:
            self._position -= len(rest)

        self._first_error = self._first_error or self.error


def _error_of(line: bytes) -> str | None:
    match = _match_error(line) if any(mark in line for mark in _ERROR_MARKS) else None
    if match is None:
        return None
    error = match["error"]
    name, _, _ = error.partition(b": ")
    if error.startswith(b"torchrun: error") or any(mark in name for mark in _ERROR_MARKS):
        return error.decode(errors="replace").strip()[:_MAX_ERROR_LENGTH]
    return None


def open_logs(folder: str, count: int) -> list[PodLog]:
    """Create an empty log for each pod in a folder, which is created if it is missing.

    Raises:
        RehearsalError: the folder or a log cannot be created.
    """
    logs = [PodLog(os.path.join(folder, f"pod{number}.log")) for number in range(count)]
    try:
        os.makedirs(folder, exist_ok=True)
        for log in logs:
            os.close(
                os.open(log.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            )
    except OSError as error:
        raise RehearsalError(f"no logs can be written to {folder}: {error.strerror}") from error

    return logs
