"""Which files of a folder are left out: those that git ignores, that the configuration names, and kustomize patches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache

from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from pathspec import PathSpec

    from ptcompile.cli.config import Config

DEFAULT: Final = frozenset({"node_modules", "venv", "__pycache__"})
"""Folders that are left out where the configuration has no `exclude` of its own."""
_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def excluding(config: Config) -> Callable[[str], bool]:
    """Whether a path that was found in a folder is left out; a folder's ends in a slash.

    Patterns are those of .gitignore, from the folder of the configuration, or of the .gitignore file, on. A kustomize
    patch is a part of an object, and is judged in what `kustomize build` prints.
    """
    patterns = (*(config.exclude or ()), *config.extend_exclude)
    folders: dict[str, _Folder] = {}

    def excluded(path: str) -> bool:
        above, name = os.path.split(path.rstrip(os.sep))
        end = os.sep if path.endswith(os.sep) else ""
        if config.exclude is None and end and name in DEFAULT:
            return True
        folder = folders.get(above)
        if folder is None:
            folder = folders[above] = _folder(os.path.abspath(above))
        full = os.path.join(folder.place, name) + end
        if patterns and _matches(patterns, os.path.abspath(config.folder), full):
            return True
        if folder.ignores and any(_matches(*ignore, full) for ignore in folder.ignores):
            return True
        return _patch(full) if end else name in folder.patches

    return excluded


class _Folder(NamedTuple):
    """What is the same for all files of a folder."""

    place: str
    """Its absolute path."""
    ignores: tuple[tuple[tuple[str, ...], str], ...]
    patches: frozenset[str]
    """Its files that a kustomization names as patches."""


def _folder(place: str) -> _Folder:
    above, inner = os.path.split(place)
    named = [one.removeprefix(f"{inner}/") for one in _patches(above) if one.startswith(f"{inner}/")]
    return _Folder(place, _ignores(place), _patches(place).union(named))


def _matches(patterns: tuple[str, ...], folder: str, path: str) -> bool:
    relative = os.path.relpath(path, folder).replace(os.sep, "/") + ("/" if path.endswith(os.sep) else "")
    relative = os.fsencode(relative).decode(errors="replace")  # pathspec encodes it again, where RE2 is installed
    return not relative.startswith("../") and _spec(patterns).match_file(relative)


@cache
def _spec(patterns: tuple[str, ...]) -> PathSpec[Any]:
    from pathspec import GitIgnoreSpec  # only where a folder is walked

    return GitIgnoreSpec.from_lines(patterns)


@cache
def _ignores(folder: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The .gitignore files that count in a folder, up to the root of its repository: their lines, and their folders."""
    found = _lines(os.path.join(folder, ".gitignore"))
    own = ((found, folder),) if found else ()
    above = os.path.dirname(folder)
    if above == folder or os.path.exists(os.path.join(folder, ".git")):
        return own
    return (*own, *_ignores(above))


def _lines(path: str) -> tuple[str, ...]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return tuple(file.read().splitlines())
    except OSError:
        return ()


def _patch(path: str) -> bool:
    """Whether a kustomization in a folder, or in the one above it, names the folder, whose path ends in a slash."""
    folder, name = os.path.split(path)
    above, inner = os.path.split(folder)
    return name in _patches(folder) or f"{inner}/{name}" in _patches(above)


@cache
def _patches(folder: str) -> frozenset[str]:
    """The files that the kustomization of a folder patches objects with, as it writes them."""
    for name in _KUSTOMIZATIONS:
        text = "\n".join(_lines(os.path.join(folder, name)))
        if text:
            return frozenset(_named(text))
    return frozenset()


def _named(text: str) -> Iterator[str]:
    from ptcompile.documents.source import read

    for document in read(text).documents:
        for key in ("patches", "patchesStrategicMerge", "patchesJson6902", "components"):
            listed = document.data.get(key)
            for one in listed if isinstance(listed, list) else ():
                path = one.get("path") if isinstance(one, dict) else one
                if isinstance(path, str) and "\n" not in path:
                    yield path.removeprefix("./")
