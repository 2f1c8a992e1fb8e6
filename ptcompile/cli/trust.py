"""Whose files are read and written: nothing that lies in a repository leads out of it by a link or a setting."""

from __future__ import annotations

import os
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_DEVICES: Final = "/dev/"
_untrusted: list[bool] = [False]


def distrust() -> None:
    """`--untrusted`: the lower limits, no frames of files outside of the tree, no named links out of it."""
    from ptcompile.limits import lower

    _untrusted[0] = True
    lower()


def untrusted() -> bool:
    """Whether `--untrusted` was given."""
    return _untrusted[0]


def root_of(folder: str) -> str | None:
    """The root of the repository that a folder is in, by its name and not by where links lead; None outside."""
    folder = os.path.abspath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def inside(path: str, folder: str) -> bool:
    """Whether a path, with all links followed, lies in a folder."""
    top = os.path.realpath(folder)
    return os.path.realpath(path).startswith(os.path.join(top, ""))


def leads_out(path: str) -> str | None:
    """The tree that a path lies in by name and leaves by a link; None if it leaves none.

    The tree is the repository, and where there is none the path's own folder.
    """
    if os.path.abspath(path).startswith(_DEVICES):
        return None
    folder = os.path.dirname(os.path.abspath(path))
    root = root_of(folder)
    if root is None:
        return folder if os.path.islink(path) and not inside(path, folder) else None
    return None if inside(path, root) else root


def places() -> Callable[[str], tuple[str, str | None]]:
    """What gives the place of each file of a run with all links followed, and the tree that it leads out of, or None.

    A folder is looked at once, for its first file; a file that is a link is looked at itself.
    """
    folders: dict[str, tuple[str, str | None]] = {}

    def place(path: str) -> tuple[str, str | None]:
        if os.path.islink(path):
            return os.path.realpath(path), leads_out(path)
        folder, name = os.path.split(path)
        found = folders.get(folder)
        if found is None:
            found = folders[folder] = os.path.realpath(folder), leads_out(path)
        return os.path.join(found[0], name), found[1]

    return place


def hidden(path: str) -> bool:
    """Whether `--untrusted` keeps the lines of a file from reports: it lies outside of the tree."""
    try:
        here = os.getcwd()
    except OSError:
        return untrusted()
    return untrusted() and path != "<stdin>" and not inside(path, root_of(here) or here)
