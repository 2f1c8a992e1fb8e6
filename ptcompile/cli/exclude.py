"""Which files of a folder are left out: those that git ignores, that the configuration names, and kustomize patches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from ptcompile._internal import files as disk
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.cli import files
from ptcompile.cli.gitignore import Matcher, lines_of, matcher, matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.cli.config import Config

DEFAULT: Final = frozenset({"node_modules", "venv", "__pycache__"})
"""Folders that are left out where the configuration has no `exclude` of its own."""
_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_MOST_PATTERNS: Final = 1 << 17
"""Bytes of a .gitignore: some six thousand lines, each of which costs time for every file."""
_MOST_KUSTOMIZATION: Final = 1 << 20


def exclusions(config: Config) -> Callable[[str], bool]:
    """Return whether a path that was found in a folder is left out; a folder's path ends in a slash.

    Patterns are those of .gitignore, relative to the folder of the configuration or of the .gitignore file. A
    kustomize patch is a part of an object, and is judged in what `kustomize build` prints.
    """
    patterns = tuple(os.fsencode(line) for line in (*(config.exclude or ()), *config.extend_exclude))
    own = _Patterns(os.path.abspath(config.folder), matcher(patterns)) if patterns else None
    known: dict[str, _Folder] = {}
    patches = cache(_patches)

    def folder_of(place: str) -> _Folder:
        chain = []
        while place not in known:
            chain.append(place)
            above = os.path.dirname(place)
            if above == place or (_is_root(place) and (own is None or not place.startswith(own.base))):
                break
            place = above
        for place in reversed(chain):
            known[place] = _folder(place, known.get(os.path.dirname(place)), own)
        return known[place]

    def excluded(path: str) -> bool:
        above, name = os.path.split(path.rstrip(os.sep))
        is_folder = path.endswith(os.sep)
        if config.exclude is None and is_folder and name in DEFAULT:
            return True
        folder = folder_of(os.path.abspath(above))
        if folder.excluded or folder.ignored or _named_by(folder, name, is_folder):
            return True
        higher, inner = os.path.split(folder.place)
        return name in patches(folder.place) or f"{inner}/{name}" in patches(higher)

    return excluded


def unmatched_patterns(config: Config, inputs: Iterable[str], visited: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each pattern of the configuration that matches none of the files and folders of a run.

    `inputs` are the files that are read, `visited` the files and folders that were found, those left out among them.
    """
    if not (config.per_file_ignores or config.exclude or config.extend_exclude):
        return
    outside = os.path.join(os.pardir, "")

    def inside(paths: Iterable[str]) -> list[str]:
        relative = (os.path.relpath(path, config.folder) + os.sep * path.endswith(os.sep) for path in paths)
        return [path for path in relative if not path.startswith(outside)]

    files_read, found = inside(inputs), inside(visited)
    for pattern, _ in config.per_file_ignores:
        if not any(matches(pattern, path) for path in files_read):
            yield f"per-file-ignores: {pattern!r} matches no file; correct or remove it"
    for key, patterns in (("exclude", config.exclude or ()), ("extend-exclude", config.extend_exclude)):
        for pattern in patterns:
            name = pattern.removeprefix("!").strip("/")
            # what lies in a folder that is left out is not visited, and neither are hidden folders
            known = name.startswith(("#", ".")) or "/." in name or os.path.lexists(os.path.join(config.folder, name))
            if not known and not any(matches(pattern, path) for path in found):
                yield f"{key}: {pattern!r} matches no file; correct or remove it"


class _Patterns(NamedTuple):
    """Lines of patterns, and the folder that their paths are relative to."""

    base: str
    verdict: Matcher


class _Folder(NamedTuple):
    """What all files of a folder share."""

    place: str
    """Absolute path."""
    own: _Patterns | None
    """Patterns of the configuration, if the folder lies below it."""
    ignores: tuple[_Patterns, ...]
    """Patterns of the .gitignore files up to the root of the repository, the nearest first."""
    excluded: bool
    """Whether the configuration excludes the folder or one above it."""
    ignored: bool
    """Whether git ignores the folder or one above it."""


def _folder(place: str, above: _Folder | None, own: _Patterns | None) -> _Folder:
    name = os.path.basename(place)
    inside = own is not None and (place == own.base or (above is not None and above.own is not None))
    ignores = _patterns(place)
    excluded = ignored = False
    if above is not None:
        if not _is_root(place):
            ignores = (*ignores, *above.ignores)
            ignored = above.ignored or _ignored(above.ignores, above.place, name, True)
        excluded = above.excluded or (above.own is not None and _ignored((above.own,), above.place, name, True))
    return _Folder(place, own if inside else None, ignores, excluded, ignored)


def _is_root(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, ".git"))


def _named_by(folder: _Folder, name: str, is_folder: bool) -> bool:
    """Return whether the patterns of the configuration or of git name a file or a folder of a folder."""
    if folder.own is not None and _ignored((folder.own,), folder.place, name, is_folder):
        return True
    return _ignored(folder.ignores, folder.place, name, is_folder)


def _ignored(patterns: tuple[_Patterns, ...], place: str, name: str, is_folder: bool) -> bool:
    """Return what the first patterns say that have a line for a name in a folder."""
    for base, verdict in patterns:
        relative = os.path.join(place, name)[len(os.path.join(base, "")) :].replace(os.sep, "/")
        found = verdict(os.fsencode(relative), is_folder)
        if found is not None:
            return found
    return False


def _patterns(folder: str) -> tuple[_Patterns, ...]:
    """Return the patterns of a folder's .gitignore, if it has one. git does not follow a link there."""
    path = os.path.join(folder, ".gitignore")
    if os.path.islink(path):
        files.print_error(f"ptcompile: {path}: a link, which git does not follow; its patterns are not used\n")
        return ()
    content = _content(path, _MOST_PATTERNS)
    return (_Patterns(folder, matcher(lines_of(content))),) if content else ()


def _content(path: str, most: int) -> bytes:
    """Return the bytes of a file that decides what is left out; none, with a sentence, if it cannot be used."""
    try:
        content = disk.read_found(path, most)
    except FileNotFoundError:
        return b""
    except OSError as error:
        files.print_error(f"ptcompile: {path}: {files.reason(error)}; it is not used\n")
        return b""
    if len(content) > most:
        files.print_error(f"ptcompile: {path}: larger than {most} bytes; it is not used\n")
        return b""
    return content


def _patches(folder: str) -> frozenset[str]:
    """Return the files that the kustomization of a folder patches objects with, as it writes them."""
    for name in _KUSTOMIZATIONS:
        content = _content(os.path.join(folder, name), _MOST_KUSTOMIZATION)
        if content:
            return frozenset(_named(content.decode(errors="replace")))
    return frozenset()


def _named(text: str) -> Iterator[str]:
    from ptcompile.source.documents import read

    for document in read(text).documents:
        for key in ("patches", "patchesStrategicMerge", "patchesJson6902", "components"):
            listed = document.data.get(key)
            for one in listed if isinstance(listed, list) else ():
                path = one.get("path") if isinstance(one, dict) else one
                if isinstance(path, str) and "\n" not in path:
                    yield path.removeprefix("./")
