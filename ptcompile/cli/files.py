"""Reading what was named on the command line, and writing results: whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ptcompile.source import MAX_STREAM

SUFFIXES = (".yaml", ".yml", ".json")


class UsageError(Exception):
    """What was asked for cannot be done: a message for the person who typed it, and exit status 2."""


class File(NamedTuple):
    """One input: its name as people know it, its bytes, and whether it was named or found in a directory."""

    name: str
    content: bytes
    named: bool


def read_all(paths: Sequence[str]) -> tuple[list[File], list[str]]:
    """The files behind the paths, and a sentence for each that cannot be read."""
    found: list[File] = []
    unreadable: list[str] = []
    for path, named in _expand(paths):
        try:
            content = _stdin() if path == "-" else _read(path)
        except OSError as error:
            unreadable.append(f"{path}: {_reason(error)}")
            continue
        found.append(File("<stdin>" if path == "-" else path, content, named))
    return found, unreadable


def read(path: str) -> bytes:
    """One file's bytes. Raises `UsageError` where it cannot be read."""
    try:
        return _stdin() if path == "-" else _read(path)
    except OSError as error:
        raise UsageError(f"{path}: {_reason(error)}") from None


def _expand(paths: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Files as they are, directories and globs as the manifests in them, sorted; True for what was named."""
    for path in paths:
        if os.path.isdir(path):
            yield from ((one, False) for one in _walk(path))
        elif "*" in path and not os.path.exists(path):
            from glob import glob

            yield from ((one, False) for one in sorted(glob(path, recursive=True)) if os.path.isfile(one))
        else:
            yield path, True


def _walk(top: str) -> Iterator[str]:
    for folder, inner, names in os.walk(top):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))


def _read(path: str) -> bytes:
    """At most one byte more than a file may have: the reader says that it is too large, and nothing is exhausted."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode) and path != "/dev/stdin":
            raise OSError("not a regular file")
        return file.read(MAX_STREAM + 1)


def _stdin() -> bytes:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read(MAX_STREAM + 1)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def write_files(contents: dict[str, str]) -> None:
    """Every file or none: all are written beside their places first, then moved. Raises `UsageError`."""
    ready: list[tuple[str, str]] = []
    try:
        for path, text in contents.items():
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            temporary = f"{path}.{os.getpid()}.tmp"
            ready.append((temporary, path))
            with open(temporary, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            if os.path.exists(path):
                os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        while ready:
            os.replace(*ready[0])
            ready.pop(0)
    except OSError as error:
        raise UsageError(f"{error.filename or 'output'}: {_reason(error)}") from None
    finally:
        for temporary, _ in ready:
            if os.path.exists(temporary):
                os.unlink(temporary)


def write_stdout(text: str) -> int:
    """The result on standard output; 0, or 2 where nobody can take it."""
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    except OSError as error:
        say(f"ptcompile: cannot write the result: {_reason(error)}\n")
        return 2
    return 0


def say(text: str) -> None:
    """Something for people, on standard error; lost in silence only where there is no standard error."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.buffer.write(text.encode(errors="backslashreplace"))
        sys.stderr.buffer.flush()
    except OSError:
        pass


def fault(error: BaseException) -> int:
    """Say in one line what went wrong and where; 2. The traceback is behind PTCOMPILE_DEBUG."""
    if isinstance(error, UsageError):
        say(f"ptcompile: {error}\n")
        return 2
    if os.environ.get("PTCOMPILE_DEBUG"):
        raise error
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
    say(
        f"ptcompile: this is a fault of ptcompile, not of your files: {type(error).__name__}: {error}{where}\n"
        "  = help: run it again with PTCOMPILE_DEBUG=1 and report what it prints\n"
    )
    return 2


def leave(status: int) -> None:
    """End the process without tearing everything down, once what was written is out."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        status = 2
    os._exit(status) if not _watched() else sys.exit(status)


def _watched() -> bool:
    """Whether something waits for the interpreter's end, such as a coverage measurement."""
    return "coverage" in sys.modules or sys.gettrace() is not None
