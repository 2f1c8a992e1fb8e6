"""Reading named and found files, and writing results completely or not at all, never outside the
tree.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache

from ptcompile._internal import files as disk
from ptcompile._internal.files import SUFFIXES, is_inside, leads_out, link_resolver, root_of
from ptcompile._internal.limits import limits, lower
from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


_untrusted = [False]


def enter_untrusted_mode() -> None:
    """Apply `--untrusted`: lower limits, no excerpts of files outside the tree, no named links
    out of it.
    """
    _untrusted[0] = True
    lower()


def is_untrusted() -> bool:
    """Return whether `--untrusted` was given."""
    return _untrusted[0]


KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def kustomizations_near(folder: str) -> list[str]:
    """Return the kustomizations of a folder and of the one above it: they may combine or patch
    its files.
    """
    above = os.path.join(folder, os.pardir)
    paths = (os.path.join(place, name) for place in (folder, above) for name in KUSTOMIZATIONS)
    return [path for path in paths if os.path.isfile(path)]


def hides_lines(path: str) -> bool:
    """Return whether `--untrusted` keeps lines of a file out of reports because the file is
    outside the tree.
    """
    try:
        cwd = os.getcwd()
    except OSError:
        return is_untrusted()
    return is_untrusted() and path != "<stdin>" and not is_inside(path, root_of(cwd) or cwd)


_NOTHING: Mapping[str, bytes] = {}
BUG = "this is a bug in ptcompile"
"""Part of every message about an internal error; tests and the fuzzer look for it."""
_STDIN = frozenset({"-", "/dev/stdin"})
ERASE: list[str] = []
"""Text that erases the progress line on the terminal; printed before any other output."""


_MAX_DETAILS = 200
"""Limit of the further lines of an error: a file may have a mistake in each of its lines."""


class UsageError(Exception):
    """Raised for a request that cannot be fulfilled. The exit status is 2.

    Its arguments are the message for the user and further lines.
    """

    def __str__(self) -> str:
        """Return the message with its further lines."""
        return "\n".join(self.args)


class InputFile(NamedTuple):
    """One input: its display name, its bytes, and whether the user named it or it was found in a
    directory.
    """

    name: str
    content: bytes
    named: bool

    def text(self) -> str:
        """Return the content for display; invalid UTF-8 is replaced."""
        return self.content.decode("utf-8-sig", errors="replace")


def read_all(
    paths: Sequence[str],
    exclude: Callable[[str], bool] | None = None,
    *,
    require_match: bool = False,
) -> tuple[list[InputFile], list[str]]:
    """Return the files that the paths name or contain, and a sentence for each path that cannot be
    read.

    `exclude` returns whether a found file or folder is excluded; named ones never are.
    `require_match` adds a sentence for each folder without files and each glob without matches. A
    file that several paths name is read once. A link out of the tree is read only if it is named.
    """
    inputs: list[InputFile] = []
    unreadable: list[str] = []
    seen: set[str] = set()
    resolve = link_resolver()
    for path, named in _expand_all(paths, exclude or (lambda _: False), unreadable, require_match):
        if path not in _STDIN:
            real, tree = resolve(path)
            if real in seen:
                # already read under another name
                continue
            seen.add(real)
            if tree is not None and (not named or is_untrusted()):
                hint = "" if named else "; name it to read it"
                unreadable.append(f"{path}: a link that leads out of {tree}{hint}")
                continue

        try:
            content = _read_bytes(path)
        except OSError as error:
            unreadable.append(f"{path}: {reason(error)}")
            continue

        inputs.append(InputFile("<stdin>" if path in _STDIN else path, content, named))

    return inputs, unreadable


def read(path: str) -> bytes:
    """Return the bytes of a file that the user named. Raises `UsageError` if it cannot be read;
    with `--untrusted`, also for a link out of its tree.
    """
    reject_link_out(path)
    if path.startswith(BUILT_IN):
        from ptcompile.api.reference import starter_profile

        return starter_profile(path.removeprefix(BUILT_IN)).encode()
    try:
        return _read_bytes(path)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None


BUILT_IN = "built-in:"
"""What the name of a starter profile begins with, in place of a file's."""
_CLOUDS_BY_VENDOR = {
    "aws": "eks",
    "gcp": "gke",
    "google": "gke",
    "azure": "aks",
    "oci": "oke",
    "oracle": "oke",
}


def starter_named(text: str) -> str | None:
    """Return the starter profile of the cloud that a text names, or None for any other text."""
    from ptcompile.api.reference import CLOUDS

    name = _CLOUDS_BY_VENDOR.get(text, text)
    return f"{BUILT_IN}{name}" if name in CLOUDS else None


def reject_link_out(path: str) -> None:
    """Raise `UsageError` for a named link out of its tree, with `--untrusted`."""
    if is_untrusted() and path not in _STDIN and (tree := leads_out(path)):
        raise UsageError(f"{path}: a link that leads out of {tree}")


_NOT_A_FOLDER = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors that mean that a path that a glob would enter is not a folder: nothing in it can match."""


def _expand_all(
    paths: Sequence[str], exclude: Callable[[str], bool], unreadable: list[str], require_match: bool
) -> Iterator[tuple[str, bool]]:
    """Yield the files of all paths, and whether each was named. Add a sentence to `unreadable` for
    each folder that cannot be read and, if `require_match`, for each path without files.
    """
    for path in paths:
        matched = False
        count_before = len(unreadable)
        for file in _expand(path, exclude, unreadable):
            matched = True
            yield file
        if require_match and not matched and len(unreadable) == count_before:
            unreadable.append(f"{path}: {_reason_for_no_match(path)}; --allow-empty accepts that")


def _expand(
    path: str, exclude: Callable[[str], bool], unreadable: list[str]
) -> Iterator[tuple[str, bool]]:
    """Yield a file itself, or the manifests of a directory or glob in order; True for a path
    that was named.
    """
    is_folder = os.path.isdir(path)
    globbed = not is_folder and "*" in path and not os.path.exists(path)

    def report(error: OSError) -> None:
        if error.errno not in _NOT_A_FOLDER and not (
            globbed and exclude(os.path.join(error.filename, ""))
        ):
            unreadable.append(f"{error.filename}: {reason(error)}")

    if is_folder:
        yield from ((file, False) for file in walk(path, exclude, report))
    elif globbed:
        matches = sorted(match for match in set(_glob(path, report)) if os.path.isfile(match))
        yield from ((match, False) for match in matches if not exclude(match))
    else:
        yield path, True


def _reason_for_no_match(path: str) -> str:
    """Return why a folder or glob matches no file."""
    excluded = any(_expand(path, lambda _: False, []))
    if not os.path.isdir(path):
        if excluded:
            return "all matching files are excluded"
        return "no file matches"
    if excluded:
        return "all its YAML and JSON files are excluded"
    return "contains no YAML or JSON file"


def _glob(pattern: str, on_error: Callable[[OSError], object]) -> Iterator[str]:
    """Yield the paths of a glob as glob.glob does, but do not follow links below `**`: loops
    could make it endless.
    """
    from fnmatch import filter as matching
    from glob import has_magic

    parent, name = os.path.split(pattern)
    for folder in _glob(parent, on_error) if has_magic(parent) else (parent,):
        if name == "**":
            for place, subfolders, names in disk.walk(folder or os.curdir, on_error):
                subfolders[:] = [entry for entry in subfolders if not entry.startswith(".")]
                # drop the leading `./`
                matched = place if folder else place[2:]
                yield matched
                yield from (
                    os.path.join(matched, entry) for entry in names if not entry.startswith(".")
                )
        elif has_magic(name):
            names = _list_folder(folder or os.curdir, on_error)
            visible = (
                entry for entry in names if not entry.startswith(".") or name.startswith(".")
            )
            yield from (os.path.join(folder, entry) for entry in matching(visible, name))
        elif os.path.lexists(os.path.join(folder, name)):
            yield os.path.join(folder, name)


def _list_folder(folder: str, on_error: Callable[[OSError], object]) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        on_error(error)
        return []


def walk(
    top: str, exclude: Callable[[str], bool], on_error: Callable[[OSError], object] | None = None
) -> Iterator[str]:
    """Yield the YAML and JSON files of a folder in order, without hidden folders and excluded
    paths.
    """
    for folder, subfolders, names in disk.walk(top, on_error):
        visible = sorted(name for name in subfolders if not name.startswith("."))
        subfolders[:] = [name for name in visible if not exclude(os.path.join(folder, name, ""))]
        paths = (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))
        yield from (path for path in paths if not exclude(path))


def _read_bytes(path: str) -> bytes:
    if path not in _STDIN:
        return disk.read(path)
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read(limits().characters + 1)


def reason(error: OSError) -> str:
    """Return why a file cannot be read or written, as part of a sentence."""
    return (error.strerror or str(error)).lower()


def write_files(contents: Mapping[str, str], previous: Mapping[str, bytes] = _NOTHING) -> list[str]:
    """Write every file or none: write all to temporary files first, then rename them. Raises
    `UsageError`.

    The deadline of the run holds between the temporary files and for a pipe without a reader, but
    not in the renaming.

    Return the files that no longer have their `previous` content, such as those that an editor
    saved meanwhile: they are not replaced. A link is followed within its tree (see `leads_out`). An
    existing device, pipe or other non-file is written to and never replaced.
    """
    if not contents:
        return []

    from ptcompile._internal.deadline import end_deadline, uninterrupted

    changed: list[str] = []
    ready: list[tuple[str, str]] = []
    streams = {path: text for path, text in contents.items() if _is_stream(path)}
    path = ""
    try:
        for path, text in contents.items():
            if path not in streams:
                with uninterrupted():
                    ready.append(_write_temporary(path, text))

        for path, text in streams.items():
            _write_stream(path, text)

        # all texts are written: a deadline must not stop between two renames
        end_deadline()
        by_destination = {os.path.realpath(path): path for path in previous if path in contents}
        while ready:
            temporary, destination = ready[0]
            path = by_destination.get(destination, "")
            # compare as late as possible: an editor may save the file at any time
            if path and _read_bytes(path) != previous[path]:
                changed.append(path)
                os.unlink(temporary)
            else:
                os.replace(temporary, destination)
            ready.pop(0)
    except OSError as error:
        raise UsageError(f"{path or 'output'}: {reason(error)}") from None
    finally:
        # after an error, these were not renamed
        for temporary, _ in ready:
            if os.path.exists(temporary):
                os.unlink(temporary)

    return changed


def names_folder(output: str) -> bool:
    """Return whether -o names a folder."""
    return output.endswith(os.sep) or os.path.isdir(output)


def path_for(name: str, folder: str, form: str, taken: Container[str]) -> str:
    """Return the path in `folder` for the output of a file. Raises `UsageError` if another file
    already takes that path.
    """
    stem = os.path.splitext(os.path.basename(name))[0].strip("<>")
    path = os.path.join(folder, f"{stem}.{form}")
    if path in taken:
        raise UsageError(f"two specs would be written to {path}: rename one of the files")
    return path


def delete(path: str) -> None:
    """Delete a file or a link. Raises `UsageError`."""
    try:
        os.unlink(path)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None


def _is_stream(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _write_stream(path: str, text: str) -> None:
    rest = memoryview(text.encode())
    # unbuffered: closing a file that a deadline interrupts would write what is buffered, and wait
    # again
    with open(path, "wb", buffering=0) as file:
        while rest:
            rest = rest[file.write(rest) :]


def _write_temporary(path: str, text: str) -> tuple[str, str]:
    """Write a text to a temporary file next to its destination. Return the temporary path and the
    destination.

    The name is unpredictable and the file must be new: in a shared folder, a link may have been
    planted.
    """
    if path and (tree := leads_out(path)):
        raise OSError(0, f"a link that leads out of {tree}, where nothing is written")

    destination = os.path.realpath(path) if path else path
    if os.path.isdir(destination) or not path:
        raise IsADirectoryError(0, "is a directory" if path else "no file name")

    os.makedirs(os.path.dirname(destination) or ".", exist_ok=True)
    sweep(os.path.dirname(destination))
    # a rename depends only on the folder's permissions; root may write every file
    if os.path.exists(destination) and (
        not os.stat(destination).st_mode & 0o222 or not os.access(destination, os.W_OK)
    ):
        raise OSError(0, "is read-only")
    # realpath ends at a loop
    if os.path.islink(destination):
        raise OSError(0, "a link that leads to itself")

    temporary = os.path.join(os.path.dirname(destination), temporary_name())
    file = open(temporary, "x", encoding="utf-8", newline="\n")  # noqa: SIM115 - what was not made is not removed
    try:
        with file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(destination):
            _copy_owner_and_mode(destination, temporary)
    except BaseException:
        # BaseException: Ctrl-C must remove the file too
        os.unlink(temporary)
        raise

    return temporary, destination


def _copy_owner_and_mode(original: str, temporary: str) -> None:
    """Copy the owner, as far as permitted, and the permissions without setuid from one file to
    another.
    """
    status = os.stat(original)
    if hasattr(os, "chown"):
        try:  # noqa: SIM105 - importing contextlib takes 1 % of a cold start
            os.chown(temporary, status.st_uid, status.st_gid)
        except OSError:
            # usually only root may change the owner
            pass
    os.chmod(temporary, status.st_mode & 0o777)


def write_stdout(text: str) -> int:
    """Write a result to standard output; return 0, or 2 if it cannot be written."""
    return write_bytes(text.encode())


def write_bytes(content: bytes) -> int:
    """Write encoded text to standard output unchanged; return 0, or 2 if it cannot be written."""
    write_stderr("")
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as error:
        print_error(f"ptcompile: cannot write the result: {reason(error)}")
        return 2

    return 0


def print_error(*lines: str) -> None:
    """Print lines to standard error. What a line quotes of a file, its name or an option cannot
    begin another line, control the terminal or give a CI runner a command.
    """
    from ptcompile.report.layout import safe_text

    write_stderr("".join(f"{safe_text(line)}\n" for line in lines))


def write_stderr(text: str) -> None:
    """Write a text to standard error unchanged. It is lost only if standard error is missing or
    closed.
    """
    if sys.stderr is None:
        return
    text = "".join([*ERASE, text])
    ERASE.clear()
    try:
        sys.stderr.buffer.write(text.encode(errors="backslashreplace"))
        sys.stderr.buffer.flush()
    except OSError:
        pass


def wants_color(stream: TextIO | None) -> bool:
    """Return whether to color a stream: NO_COLOR and FORCE_COLOR decide, else whether it is a
    terminal.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def report_error(error: BaseException) -> int:
    """Report an exception in one line with its location and return 2. With PTCOMPILE_DEBUG set,
    raise it instead.
    """
    if isinstance(error, UsageError):
        message, *details = error.args
        more = [f"  and {len(details) - _MAX_DETAILS} more"] if len(details) > _MAX_DETAILS else []
        print_error(f"ptcompile: {message}", *details[:_MAX_DETAILS], *more)
        return 2
    if os.environ.get("PTCOMPILE_DEBUG"):
        raise error

    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = ""
    if trace:
        where = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"

    print_error(
        f"ptcompile: {BUG}, not in your files: {type(error).__name__}: {error}{where}",
        "  = help: run it again with PTCOMPILE_DEBUG=1 and report the output",
    )

    return 2


def exit_process(status: int) -> None:
    """End the process after flushing output, without the interpreter's cleanup."""
    try:
        # the language server closes stdout before it exits
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except OSError:
        status = 2
    if _needs_clean_exit():
        sys.exit(status)
    os._exit(status)


def _needs_clean_exit() -> bool:
    """Return whether something waits for the interpreter's end, such as a coverage measurement."""
    return "coverage" in sys.modules or sys.gettrace() is not None


_TEMPORARY_PREFIX = ".ptcompile-"
_STALE_SECONDS = 3600
"""Age at which a temporary file is certainly abandoned."""


def temporary_name() -> str:
    """Return a new, unpredictable name that identifies this run."""
    return f"{_TEMPORARY_PREFIX}{_process_namespace()}-{os.getpid()}-{os.urandom(8).hex()}.tmp"


@cache
def sweep(folder: str) -> None:
    """Remove temporary files that killed runs left in a folder; once per folder."""
    # imported here because no cold start writes a file
    from contextlib import suppress

    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if (
                entry.name.startswith(_TEMPORARY_PREFIX)
                and entry.name.endswith(".tmp")
                and entry.is_file(follow_symlinks=False)
            ):
                is_stale = time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS
                with suppress(OSError):
                    if is_stale or _writer_has_ended(entry.name):
                        os.unlink(entry.path)


def _writer_has_ended(name: str) -> bool:
    """Return whether the run that wrote a temporary file has certainly ended: it ran here and
    its process is gone.
    """
    namespace, _, rest = name.removeprefix(_TEMPORARY_PREFIX).partition("-")
    pid, _, _ = rest.partition("-")
    if (
        not namespace
        or namespace != _process_namespace()
        or not (pid.isascii() and pid.isdigit())
        or not 0 < int(pid) < 1 << 31
    ):
        return False

    try:
        # signal 0 only checks whether the process exists
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        # the process exists, but belongs to another user
        pass

    return False


@cache
def _process_namespace() -> str:
    """Return an id of this boot and container, within which process ids are unique, or "" if
    unknown.
    """
    # imported here because no cold start writes a file
    from zlib import crc32

    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read(64)
        return f"{crc32(boot + str(os.stat('/proc/self/ns/pid').st_ino).encode()):08x}"
    except OSError:
        return ""
