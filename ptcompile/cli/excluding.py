"""Which files of a folder are left out: those that git ignores, that the configuration names, and kustomize patches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache

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

    def excluded(path: str) -> bool:
        if config.exclude is None and path.endswith(os.sep) and os.path.basename(path.rstrip(os.sep)) in DEFAULT:
            return True
        full = os.path.abspath(path) + (os.sep if path.endswith(os.sep) else "")
        if patterns and _matches(patterns, os.path.abspath(config.folder), full):
            return True
        return any(_matches(*ignore, full) for ignore in _ignores(os.path.dirname(full.rstrip(os.sep)))) or _patch(full)

    return excluded


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
    """Whether a kustomization beside the file, or in the folder above, names it as a patch."""
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
