"""Reading what is named or found, and writing results whole or not at all, never out of the tree."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from ptcompile._internal import files as disk
from ptcompile._internal.files import is_inside, leads_out, link_resolver, root_of
from ptcompile._internal.limits import limits, lower
from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TextIO


_untrusted: list[bool] = [False]


def enter_untrusted_mode() -> None:
    """`--untrusted`: the lower limits, no frames of files outside of the tree, no named links out of it."""
    _untrusted[0] = True
    lower()


def is_untrusted() -> bool:
    """Whether `--untrusted` was given."""
    return _untrusted[0]


def hidden(path: str) -> bool:
    """Whether `--untrusted` keeps the lines of a file from reports: it lies outside of the tree."""
    try:
        here = os.getcwd()
    except OSError:
        return is_untrusted()
    return is_untrusted() and path != "<stdin>" and not is_inside(path, root_of(here) or here)


SUFFIXES = (".yaml", ".yml", ".json")
BUG = "this is a bug in ptcompile"
"""Part of every message about an internal error; tests and the fuzzer look for it."""
_STDIN = frozenset({"-", "/dev/stdin"})
ERASE: list[str] = []
"""What erases a line of progress that is on the terminal, before anything else is written."""


class UsageError(Exception):
    """What was asked for cannot be done: a message for the person who typed it, and exit status 2."""


class InputFile(NamedTuple):
    """One input: its name as people know it, its bytes, and whether it was named or found in a directory."""

    name: str
    content: bytes
    named: bool

    def text(self) -> str:
        """The content for people to read: what is not UTF-8 is replaced."""
        return self.content.decode("utf-8-sig", errors="replace")


def read_all(
    paths: Sequence[str], exclude: Callable[[str], bool] | None = None, *, require_match: bool = False
) -> tuple[list[InputFile], list[str]]:
    """Return the files that the paths name or contain, and a sentence for each path that cannot be read.

    `exclude` returns whether a file or folder that was found rather than named is left out. `require_match` adds a
    sentence for each folder without files and each glob without matches. A file in two spellings is read once. A link
    out of the tree is read only if it is named.
    """
    inputs: list[InputFile] = []
    unreadable: list[str] = []
    seen: set[str] = set()
    place = link_resolver()
    for path, named in _expand_all(paths, exclude or (lambda _: False), unreadable, require_match):
        if path not in _STDIN:
            real, tree = place(path)
            if real in seen:
                continue  # the same file in another spelling
            seen.add(real)
            if tree is not None and (not named or is_untrusted()):
                how = "" if named else "; name it to read it"
                unreadable.append(f"{path}: a link that leads out of {tree}{how}")
                continue
        try:
            content = _read(path)
        except OSError as error:
            unreadable.append(f"{path}: {reason(error)}")
            continue
        inputs.append(InputFile("<stdin>" if path in _STDIN else path, content, named))
    return inputs, unreadable


def read(path: str) -> bytes:
    """One file's bytes. Raises `UsageError` where it cannot be read."""
    try:
        return _read(path)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None


_NOT_A_FOLDER: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Why a path that a glob might enter is not a folder: nothing in it can match."""


def _expand_all(
    paths: Sequence[str], exclude: Callable[[str], bool], unreadable: list[str], require_match: bool
) -> Iterator[tuple[str, bool]]:
    """Yield the files of all paths, and whether each was named. Add a sentence to `unreadable` for each folder that
    cannot be read and, if `require_match`, for each path without files.
    """
    for path in paths:
        matched, problems = False, len(unreadable)
        for file in _expand(path, exclude, unreadable):
            matched = True
            yield file
        if require_match and not matched and len(unreadable) == problems:
            unreadable.append(f"{path}: {_reason_for_no_match(path)}; --allow-empty accepts that")


def _expand(path: str, exclude: Callable[[str], bool], unreadable: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield a file itself, and the manifests of a directory or glob in order; True for a path that was named."""

    is_folder = os.path.isdir(path)
    globbed = not is_folder and "*" in path and not os.path.exists(path)

    def report(error: OSError) -> None:
        if error.errno not in _NOT_A_FOLDER and not (globbed and exclude(os.path.join(error.filename, ""))):
            unreadable.append(f"{error.filename}: {reason(error)}")

    if is_folder:
        yield from ((file, False) for file in walk(path, exclude, report))
    elif globbed:
        matches = sorted(match for match in set(_glob(path, report)) if os.path.isfile(match))
        yield from ((match, False) for match in matches if not exclude(match))
    else:
        yield path, True


def _reason_for_no_match(path: str) -> str:
    """Return why a folder or glob gave no file."""
    excluded = any(_expand(path, lambda _: False, []))
    if not os.path.isdir(path):
        return "all matching files are excluded" if excluded else "no file matches"
    return "all its YAML and JSON files are excluded" if excluded else "contains no YAML or JSON file"


def _glob(pattern: str, on_error: Callable[[OSError], object]) -> Iterator[str]:
    """Yield the paths of a glob, as glob.glob does, but enter no links below `**`: a few loops would never end."""
    from fnmatch import filter as matching
    from glob import has_magic

    above, name = os.path.split(pattern)
    for folder in _glob(above, on_error) if has_magic(above) else (above,):
        if name == "**":
            for inside, inner, names in disk.walk(folder or os.curdir, on_error):
                inner[:] = [one for one in inner if not one.startswith(".")]
                below = inside if folder else inside[2:]  # without `./`
                yield below
                yield from (os.path.join(below, one) for one in names if not one.startswith("."))
        elif has_magic(name):
            every = _names(folder or os.curdir, on_error)
            visible = (one for one in every if not one.startswith(".") or name.startswith("."))
            yield from (os.path.join(folder, one) for one in matching(visible, name))
        elif os.path.lexists(os.path.join(folder, name)):
            yield os.path.join(folder, name)


def _names(folder: str, on_error: Callable[[OSError], object]) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        on_error(error)
        return []


def walk(
    top: str, exclude: Callable[[str], bool], on_error: Callable[[OSError], object] | None = None
) -> Iterator[str]:
    """Yield the YAML and JSON files of a folder in order, without hidden folders and what is excluded."""
    for folder, inner, names in disk.walk(top, on_error):
        visible = sorted(name for name in inner if not name.startswith("."))
        inner[:] = [name for name in visible if not exclude(os.path.join(folder, name, ""))]
        paths = (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))
        yield from (path for path in paths if not exclude(path))


def _read(path: str) -> bytes:
    return _stdin() if path in _STDIN else disk.read(path)


def _stdin() -> bytes:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read(limits().characters + 1)


def reason(error: OSError) -> str:
    """Why a file cannot be read or written, as a part of a sentence."""
    return (error.strerror or str(error)).lower()


def write_files(contents: dict[str, str]) -> None:
    """Every file or none: all are written beside their places first, then moved. Raises `UsageError`.

    A link is followed within its tree (`trust.leads_out`). What exists and is not a file, such as a device or a pipe,
    is written to and never replaced.
    """
    ready: list[tuple[str, str]] = []
    streams = {path: text for path, text in contents.items() if _is_stream(path)}
    path = ""
    try:
        for path, text in contents.items():
            if path not in streams:
                ready.append(_beside(path, text))
        while ready:
            os.replace(*ready[0])
            ready.pop(0)
        for path, text in streams.items():
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise UsageError(f"{path or 'output'}: {reason(error)}") from None
    finally:
        for temporary, _ in ready:
            if os.path.exists(temporary):
                os.unlink(temporary)


def _is_stream(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _beside(path: str, text: str) -> tuple[str, str]:
    """Write a text beside its place; the temporary file, and where it is to go.

    Its name cannot be foreseen and nothing of that name is opened: in a shared folder a link may lie in wait there.
    """
    if path and (tree := leads_out(path)):
        raise OSError(0, f"a link that leads out of {tree}, where nothing is written")
    place = os.path.realpath(path) if path else path
    if os.path.isdir(place) or not path:
        raise IsADirectoryError(0, "is a directory" if path else "no file name")
    os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
    sweep(os.path.dirname(place))
    if os.path.exists(place) and not os.stat(place).st_mode & 0o222:
        raise OSError(0, "is read-only")  # root could, and a rename always can
    temporary = os.path.join(os.path.dirname(place), temporary_name())
    file = open(temporary, "x", encoding="utf-8", newline="\n")  # noqa: SIM115 - what was not made is not removed
    try:
        with file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(place):
            _like(place, temporary)
    except BaseException:  # Ctrl-C too
        os.unlink(temporary)
        raise
    return temporary, place


def _like(place: str, temporary: str) -> None:
    """Give a file the owner, as far as that is allowed, and the permissions of another one, without setuid."""
    there = os.stat(place)
    if hasattr(os, "chown"):
        try:  # noqa: SIM105 - contextlib would be a hundredth of a cold start
            os.chown(temporary, there.st_uid, there.st_gid)
        except OSError:  # root's alone, as a rule
            pass
    os.chmod(temporary, there.st_mode & 0o777)


def write_stdout(text: str) -> int:
    """The result on standard output; 0, or 2 where it cannot be written."""
    return write_bytes(text.encode())


def write_bytes(content: bytes) -> int:
    """The same for what is text already encoded, byte for byte."""
    print_error("", raw=True)
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as error:
        print_error(f"ptcompile: cannot write the result: {reason(error)}\n")
        return 2
    return 0


def print_error(text: str, *, raw: bool = False) -> None:
    """Something for people, on standard error; lost silently only without a standard error.

    Names of files and what was typed cannot steer the terminal, unless `raw` says that the text is our own.
    """
    if sys.stderr is None:
        return
    if not raw and not text.replace("\n", "").isprintable():
        from ptcompile.report.layout import printable

        text = "\n".join(printable(line) for line in text.split("\n"))
    text = "".join([*ERASE, text])
    ERASE.clear()
    try:
        sys.stderr.buffer.write(text.encode(errors="backslashreplace"))
        sys.stderr.buffer.flush()
    except OSError:
        pass


def colourful(stream: TextIO | None) -> bool:
    """Whether a stream is shown in colour: on a terminal, unless NO_COLOR or FORCE_COLOR says otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def fault(error: BaseException) -> int:
    """Say in one line what went wrong and where; 2. The traceback is behind PTCOMPILE_DEBUG."""
    if isinstance(error, UsageError):
        print_error(f"ptcompile: {error}\n")
        return 2
    if os.environ.get("PTCOMPILE_DEBUG"):
        raise error
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
    print_error(
        f"ptcompile: {BUG}, not in your files: {type(error).__name__}: {error}{where}\n"
        "  = help: run it again with PTCOMPILE_DEBUG=1 and report the output\n"
    )
    return 2


def exit_process(status: int) -> None:
    """End the process without tearing everything down, once what was written is out."""
    try:
        if sys.stdout is not None and not sys.stdout.closed:  # the language server ends by closing it
            sys.stdout.flush()
    except OSError:
        status = 2
    os._exit(status) if not _watched() else sys.exit(status)


def _watched() -> bool:
    """Whether something waits for the interpreter's end, such as a coverage measurement."""
    return "coverage" in sys.modules or sys.gettrace() is not None


_START: Final = ".ptcompile-"
_OLD: Final = 3600
"""Seconds after which no run is still writing a temporary file, whoever it was."""


def temporary_name() -> str:
    """A new name: it says which run has it, and cannot be foreseen."""
    return f"{_START}{_here()}-{os.getpid()}-{os.urandom(8).hex()}.tmp"


@cache
def sweep(folder: str) -> None:
    """Remove what runs left that were killed (SIGKILL); asked once for each folder."""
    from contextlib import suppress  # no cold start writes a file

    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if entry.name.startswith(_START) and entry.name.endswith(".tmp") and entry.is_file(follow_symlinks=False):
                old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD
                with suppress(OSError):
                    os.unlink(entry.path) if old or _is_over(entry.name) else None


def _is_over(name: str) -> bool:
    """Whether the run that wrote a temporary file of this name has surely ended: it was here, and is no more."""
    where, _, rest = name.removeprefix(_START).partition("-")
    number = rest.partition("-")[0]
    if not where or where != _here() or not (number.isascii() and number.isdigit()) or not 0 < int(number) < 1 << 31:
        return False
    try:
        os.kill(int(number), 0)  # asks, and sends nothing
    except ProcessLookupError:
        return True
    except OSError:  # it is someone else's
        pass
    return False


@cache
def _here() -> str:
    """Where numbers of processes mean the same: this boot of the machine, this container. Nothing where unknown."""
    from zlib import crc32  # no cold start writes a file

    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read(64)
        return f"{crc32(boot + str(os.stat('/proc/self/ns/pid').st_ino).encode()):08x}"
    except OSError:
        return ""
