"""Reading files: only regular ones, never more than the limit, and only inside their tree unless a
user named them.

Every file that ptcompile reads for a user goes through `read` (a user named it) or `read_found` (it
was found in a folder).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from ptcompile._internal.limits import limits

SUFFIXES = (".yaml", ".yml", ".json")
"""Ends of the names of files that may have manifests."""
_DEVICES = "/dev/"
_CHUNK = 1 << 20
"""Bytes per read of a file that is larger than its reported size."""
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
"""O_NONBLOCK: opening a pipe without a writer would wait for one."""


def read(path: str | os.PathLike[str], most: int | None = None) -> bytes:
    """Return the bytes of a regular file: at most one more than `most`, by default the limit for
    one file.

    Raises OSError for anything that is not a regular file. The caller reports a file that is too
    large.
    """
    most = (limits().characters if most is None else most) + 1
    with open(path, "rb", buffering=0, opener=_open) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        content = file.read(min(status.st_size + 1, most))  # read() allocates its whole argument
        if content is None:  # such as /proc/kmsg, which calls itself a regular file
            raise OSError("not a regular file")
        while len(content) < most and (more := file.read(min(most - len(content), _CHUNK))):
            content += more
        return content


def _open(path: str, _flags: int) -> int:
    """Open a file for `open`, with flags under which a pipe does not block."""
    return os.open(path, _FLAGS)


def read_found(path: str, most: int | None = None) -> bytes:
    """Return the bytes of a file that was found rather than named, as `read` does. Also raises
    OSError for links out of its tree.
    """
    os.lstat(path)  # most files that are searched for do not exist
    if tree := leads_out(path):
        raise OSError(0, f"a link that leads out of {tree}")
    return read(path, most)


def walk(
    top: str, on_error: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each folder with the names of its folders and files, as os.walk does.

    A folder that cannot be read is passed over; `on_error` is called with the reason. Folders that
    are links are not entered. Before Python 3.12, os.walk recurses and fails for a thousand
    folders.
    """
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                items = [(entry.name, _is_folder(entry), entry.is_symlink()) for entry in entries]
        except OSError as error:
            if on_error is not None:
                on_error(error)
            continue

        links = {name for name, _, is_link in items if is_link}
        inner = [name for name, is_folder, _ in items if is_folder]
        yield folder, inner, [name for name, is_folder, _ in items if not is_folder]
        pending += [os.path.join(folder, name) for name in reversed(inner) if name not in links]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def root_of(folder: str) -> str | None:
    """Return the root of the repository that contains a folder by name, ignoring links, or None
    outside a repository.
    """
    folder = os.path.abspath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def is_inside(path: str, folder: str) -> bool:
    """Return whether a path, with all links followed, is in a folder."""
    top = os.path.realpath(folder)
    return os.path.realpath(path).startswith(os.path.join(top, ""))


def leads_out(path: str) -> str | None:
    """Return the tree that contains a path by name but not after its links are followed, or None.

    The tree is the repository or, outside one, the path's own folder.
    """
    if os.path.abspath(path).startswith(_DEVICES):
        return None
    folder = os.path.dirname(os.path.abspath(path))
    root = root_of(folder)
    if root is None:
        if os.path.islink(path) and not is_inside(path, folder):
            return folder
        return None
    return None if is_inside(path, root) else root


def link_resolver() -> Callable[[str], tuple[str, str | None]]:
    """Return a function from a file to its path with all links followed and the tree that it leads
    out of, or None.

    Each folder is examined once, for its first file; a file that is a link is examined itself.
    """
    folders: dict[str, tuple[str, str | None]] = {}

    def resolve(path: str) -> tuple[str, str | None]:
        """Return the real path, and the tree that a link leads out of, or None."""
        if os.path.islink(path):
            return os.path.realpath(path), leads_out(path)
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder), leads_out(path)
        real_folder, tree = folders[folder]
        return os.path.join(real_folder, name), tree

    return resolve
