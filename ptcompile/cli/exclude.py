"""The files excluded from a folder: those that git ignores, those that the configuration excludes,
and kustomize patches.
"""

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
    from ptcompile.cli.config import Config

DEFAULT_EXCLUDES = frozenset({"node_modules", "venv", "__pycache__"})
"""Folders that are excluded if the configuration does not set `exclude`."""
_MAX_GITIGNORE_BYTES = 1 << 17
"""Size limit of a .gitignore: about six thousand lines, each of which takes time for every file."""
_MAX_KUSTOMIZATION_BYTES = 1 << 20


def exclusions(config: Config, searched: Iterable[str]) -> Callable[[str], bool]:
    """Return a predicate: whether a path found in one of the `searched` folders or globs is
    excluded. The path of a folder ends in a slash.

    Patterns are those of .gitignore, relative to the folder of the configuration or of the
    .gitignore file. Outside a repository, a .gitignore counts only in a searched folder: anyone may
    write one above it, such as in /tmp. A kustomize patch is only part of an object; lint it in the
    output of `kustomize build`.
    """
    tops = frozenset(os.path.abspath(_without_glob(path)) for path in searched)
    patterns = tuple(
        os.fsencode(line) for line in (*(config.exclude or ()), *config.extend_exclude)
    )
    config_patterns: tuple[_Patterns, ...] = ()
    if patterns:
        config_patterns = (_Patterns(os.path.abspath(config.folder), matcher(patterns)),)

    folders: dict[str, _Folder] = {}
    patches = cache(_patch_files)

    def folder_of(path: str) -> _Folder:
        chain = []
        while path not in folders:
            chain.append(path)
            parent = os.path.dirname(path)
            is_configured = any(path.startswith(patterns.base) for patterns in config_patterns)
            if parent == path or (_is_root(path) and not is_configured):
                break
            path = parent

        for path in reversed(chain):
            folders[path] = _describe_folder(
                path, folders.get(os.path.dirname(path)), config_patterns, tops
            )

        return folders[path]

    def is_excluded(path: str) -> bool:
        parent, name = os.path.split(path.rstrip(os.sep))
        is_folder = path.endswith(os.sep)
        if config.exclude is None and is_folder and name in DEFAULT_EXCLUDES:
            return True
        folder = folder_of(os.path.abspath(parent))
        if folder.excluded or folder.ignored:
            return True
        if any(
            _is_ignored(patterns, folder.path, name, is_folder)
            for patterns in (folder.config_patterns, folder.ignores)
        ):
            return True

        # a kustomization may list patches in the folders below it
        grandparent, folder_name = os.path.split(folder.path)
        return name in patches(folder.path) or f"{folder_name}/{name}" in patches(grandparent)

    return is_excluded


def unmatched_patterns(
    config: Config, inputs: Iterable[str], visited: Iterable[str]
) -> Iterator[str]:
    """Yield a sentence for each pattern of the configuration that matches none of the files and
    folders of a run.

    `inputs` are the files that are read, `visited` all files and folders that were found, including
    excluded ones.
    """
    per_file = (
        ("per-file-ignores", config.per_file_ignores),
        ("per-file-severity", config.per_file_severity),
    )
    if not (
        config.per_file_ignores
        or config.per_file_severity
        or config.exclude
        or config.extend_exclude
    ):
        return

    outside = os.path.join(os.pardir, "")

    def inside(paths: Iterable[str]) -> list[str]:
        relative = (
            os.path.relpath(path, config.folder) + os.sep * path.endswith(os.sep) for path in paths
        )
        return [path for path in relative if not path.startswith(outside)]

    files_read = inside(inputs)
    paths_visited = inside(visited)
    for key, table in per_file:
        for pattern, _ in table:
            if not any(matches(pattern, path) for path in files_read):
                yield f"{key}: {pattern!r} matches no file; correct or remove it"

    for key, patterns in (
        ("exclude", config.exclude or ()),
        ("extend-exclude", config.extend_exclude),
    ):
        for pattern in patterns:
            name = pattern.removeprefix("!").strip("/")
            # the content of excluded and of hidden folders is not visited
            is_unvisited = (
                name.startswith(("#", "."))
                or "/." in name
                or os.path.lexists(os.path.join(config.folder, name))
            )
            if not is_unvisited and not any(matches(pattern, path) for path in paths_visited):
                yield f"{key}: {pattern!r} matches no file; correct or remove it"


def _without_glob(path: str) -> str:
    """Return the folder that a glob searches; another path unchanged."""
    while "*" in path:
        path = os.path.dirname(path)
    return path


class _Patterns(NamedTuple):
    """Parsed lines of patterns, and the folder that they are relative to."""

    base: str
    verdict: Matcher


class _Folder(NamedTuple):
    """The properties that all files of a folder share."""

    path: str
    """Absolute path."""
    config_patterns: tuple[_Patterns, ...]
    """Those of the configuration, if it has any and the folder is in the configuration's folder."""
    ignores: tuple[_Patterns, ...]
    """Patterns of the .gitignore files up to the root of the repository, nearest first."""
    excluded: bool
    """Whether the configuration excludes the folder or a parent folder."""
    ignored: bool
    """Whether git ignores the folder or a parent folder."""
    reads_gitignore: bool
    """Whether the folder is in a repository or a searched folder."""


def _describe_folder(
    path: str,
    parent: _Folder | None,
    config_patterns: tuple[_Patterns, ...],
    tops: frozenset[str],
) -> _Folder:
    name = os.path.basename(path)
    inherited = parent.config_patterns if parent is not None else ()
    own_patterns = inherited or tuple(
        patterns for patterns in config_patterns if patterns.base == path
    )
    reads_gitignore = (
        (parent is not None and parent.reads_gitignore) or path in tops or _is_root(path)
    )
    ignores = _read_gitignore(path) if reads_gitignore else ()
    excluded = ignored = False
    if parent is not None:
        if not _is_root(path):
            ignores = (*ignores, *parent.ignores)
            ignored = parent.ignored or _is_ignored(parent.ignores, parent.path, name, True)
        excluded = parent.excluded or _is_ignored(inherited, parent.path, name, True)

    return _Folder(path, own_patterns, ignores, excluded, ignored, reads_gitignore)


def _is_root(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, ".git"))


def _is_ignored(patterns: tuple[_Patterns, ...], folder: str, name: str, is_folder: bool) -> bool:
    """Return the verdict of the first patterns with a match for the name in a folder."""
    for base, verdict in patterns:
        relative = os.path.join(folder, name)[len(os.path.join(base, "")) :].replace(os.sep, "/")
        ignored = verdict(os.fsencode(relative), is_folder)
        if ignored is not None:
            return ignored
    return False


def _read_gitignore(folder: str) -> tuple[_Patterns, ...]:
    """Return the patterns of a folder's .gitignore, if it has one. Like git, do not follow a
    link.
    """
    path = os.path.join(folder, ".gitignore")
    if os.path.islink(path):
        files.print_error(f"ptcompile: {path} is not used: git does not follow links")
        return ()
    content = _read_limited(path, _MAX_GITIGNORE_BYTES)
    if content:
        return (_Patterns(folder, matcher(lines_of(content))),)
    return ()


def _read_limited(path: str, limit: int) -> bytes:
    """Return the bytes of a file with exclusions, or none after printing why it cannot be used."""
    try:
        content = disk.read_found(path, limit)
    except FileNotFoundError:
        return b""
    except OSError as error:
        files.print_error(f"ptcompile: {path} is not used: {files.reason(error)}")
        return b""

    if len(content) > limit:
        files.print_error(f"ptcompile: {path} is not used: larger than {limit} bytes")
        return b""

    return content


def _patch_files(folder: str) -> frozenset[str]:
    """Return the paths of the patches that a folder's kustomization lists, as written there."""
    for name in files.KUSTOMIZATIONS:
        content = _read_limited(os.path.join(folder, name), _MAX_KUSTOMIZATION_BYTES)
        if content:
            from ptcompile.linter.unrendered import patches_in

            return frozenset(patches_in(content.decode(errors="replace")))
    return frozenset()
