"""The folder of a rehearsal, leftovers of killed rehearsals, and the files that come along with
a training script.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ptcompile._internal.files import is_inside
from ptcompile._internal.spelling import pluralize
from ptcompile.rehearsal.settings import RehearsalError

PREFIX = "ptcompile-rehearsal-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
"""Flags with which a folder is opened that must not be a link."""
_LOCK = "lock"
"""File in the folder that the running rehearsal keeps locked; the kernel unlocks it when the
process ends.
"""


@contextmanager
def open_folder() -> Iterator[str]:
    """Create the folder of a rehearsal, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        path = os.path.join(folder, _LOCK)
        lock = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # other rehearsals never see it unlocked
            os.rename(f"{path}.new", path)
            yield folder
        finally:
            os.close(lock)


def remove_leftovers() -> list[str]:
    """Remove the folders of this user's rehearsals that were killed, and return their names."""
    try:
        top = tempfile.gettempdir()
        names = [name for name in os.listdir(top) if name.startswith(PREFIX)]
    except OSError:
        return []
    dead = [name for name in sorted(names) if _is_dead(os.path.join(top, name))]
    for name in dead:
        shutil.rmtree(os.path.join(top, name), ignore_errors=True)
    return dead


def _is_dead(path: str) -> bool:
    """Return whether a path is a folder of this user with a lock that no process holds. Follows
    no links.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder = os.open(path, _FOLDER)
            stack.callback(os.close, folder)
            if os.fstat(folder).st_uid != os.geteuid():
                return False
            lock = os.open(_LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False

        return True


MAX_FILES = 2000
MAX_BYTES = 64 << 20
"""Maximum number and total size of the files that come along."""
_MAX_VISITED = 20_000
"""Maximum number of directory entries that are looked at."""
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})


class FilesBeside(NamedTuple):
    """The script and the files next to it, as paths in its folder."""

    folder: str
    script: str
    paths: tuple[str, ...]
    """All files, including the script."""
    left_out: tuple[str, ...]
    """One clause for each reason for which files do not come along."""


def find_files(script: str) -> FilesBeside:
    """Return the script and the regular files in its folder and below, the nearest first, up to the
    limits.

    Hidden files, environments and links that lead out of the folder stay behind.
    """
    folder, name = os.path.split(os.path.abspath(script))
    paths = [name]
    size = os.path.getsize(script)
    links = too_many = 0
    for path in _walk(folder):
        full = os.path.join(folder, path)
        if path == name:
            continue
        if os.path.islink(full) and not is_inside(full, folder):
            links += 1
            continue

        try:
            status = os.stat(full)
        except OSError:
            continue

        if not stat.S_ISREG(status.st_mode):
            continue
        if len(paths) >= MAX_FILES or size + status.st_size > MAX_BYTES:
            too_many += 1
            continue

        paths.append(path)
        size += status.st_size

    reasons = []
    if links:
        reasons.append(f"{links} {'link leads' if links == 1 else 'links lead'} out of the folder")
    if too_many:
        reasons.append(f"{too_many} are above {MAX_FILES} files or {MAX_BYTES >> 20} MiB")

    return FilesBeside(folder, name, tuple(paths), tuple(reasons))


def _walk(folder: str) -> Iterator[str]:
    """Yield the paths of files and links to files, folder by folder. Follows no links to
    folders.
    """
    folders = [""]
    visited = 0
    while folders and visited < _MAX_VISITED:
        below = folders.pop(0)
        try:
            entries = sorted(os.scandir(os.path.join(folder, below)), key=lambda entry: entry.name)
        except OSError:
            continue

        for entry in entries:
            visited += 1
            path = os.path.join(below, entry.name)
            if entry.name.startswith("."):
                continue

            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_FOLDERS and not os.path.exists(
                    os.path.join(entry.path, "pyvenv.cfg")
                ):
                    folders.append(path)
            elif not entry.is_symlink() or not entry.is_dir():
                yield path


def make_beneath(top: str, path: str) -> str:
    """Make the folders of a path beneath another folder, and return the path without the links that
    it had.

    A link may lead to another place beneath `top`, as the kubelet allows in a `subPath`.

    Raises:
        RehearsalError: a link leads out of `top`, or a part of the path is no folder.
    """
    real = os.path.realpath(os.path.join(top, path))
    if real != top and not real.startswith(os.path.join(top, "")):
        raise RehearsalError(f"subPath {path} leads out of {top}: the kubelet refuses to mount it")

    below = os.path.relpath(real, top)
    folder = os.open(top, _FOLDER)
    try:
        for part in below.split("/"):
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
    except OSError as error:
        raise RehearsalError(f"subPath {path} of {top} cannot be mounted: {error}") from error
    finally:
        os.close(folder)

    return below


def copy_files(files: FilesBeside, target: str) -> None:
    """Copy the files into a new folder; files that vanished meanwhile are skipped."""
    for path in files.paths:
        copy = os.path.join(target, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        try:
            shutil.copyfile(os.path.join(files.folder, path), copy)
        except FileNotFoundError:
            continue


def describe_files(files: FilesBeside) -> str | None:
    """Return the sentence of the report about the files, or None if the script is alone."""
    if len(files.paths) == 1 and not files.left_out:
        return None
    count = pluralize(len(files.paths) - 1, "file")
    text = f"{count} next to {files.script} come along, as copies"
    return text + (f"; others do not: {'; '.join(files.left_out)}" if files.left_out else "")
