"""`ptcompile.toml`, or `[tool.ptcompile]` of `pyproject.toml`: what a project has decided for `lint`.

The nearest file counts, from the current directory up to the root of the repository, and nothing is merged with it but
the command line. It names no file outside of the repository.
"""

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ptcompile.cli import files
from ptcompile.cli.files import UsageError
from ptcompile.cli.trust import inside, root_of
from ptcompile.findings.selection import named
from ptcompile.kubernetes.names import suggest

FILES: Final = ("ptcompile.toml", "pyproject.toml")


class Config(NamedTuple):
    """What a file says; `folder` is where its globs and paths begin."""

    folder: str = "."
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    cluster: str | None = None
    kubernetes_version: str | None = None
    fail_on: str = "error"
    schemas: tuple[str, ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()

    def selected(self) -> list[str] | None:
        """The selectors of what is looked for; None for everything."""
        return None if self.select is None else [*self.select, *self.extend_select]

    def ignored_in(self, path: str) -> list[str]:
        """The selectors that are ignored in one file, by its path from the folder or by its name alone."""
        if not self.per_file_ignores:
            return []
        from fnmatch import fnmatchcase

        relative = os.path.relpath(path, self.folder).replace(os.sep, "/")
        name = relative.rpartition("/")[2]
        return [
            selector
            for glob, selectors in self.per_file_ignores
            if fnmatchcase(relative, glob) or fnmatchcase(name, glob)
            for selector in selectors
        ]


def load(path: str | None, *, isolated: bool = False) -> Config:
    """The configuration of a file, or of the nearest one. Raises `UsageError` with every mistake in it."""
    if isolated and path is None:
        return Config()
    found = path or _nearest()
    if found is None:
        return Config()
    table = _table(found)
    return Config() if table is None else _config(table, found)


def _nearest() -> str | None:
    """The nearest file up to the root of the repository; outside of one that of the current directory alone."""
    try:
        folder = os.getcwd()
    except OSError:  # it was deleted
        return None
    root = root_of(folder) or folder
    while True:
        for name in FILES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (name == FILES[0] or b"[tool.ptcompile" in files.read(path)):
                return path
        if folder == root:
            return None
        folder = os.path.dirname(folder)


def _table(path: str) -> Mapping[str, Any] | None:
    import tomllib  # with datetime and large expressions: for those who have a configuration

    try:
        data = tomllib.loads(files.read(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    if os.path.basename(path) != "pyproject.toml":
        return data
    tool = data.get("tool")
    table = tool.get("ptcompile") if isinstance(tool, Mapping) else None
    return table if isinstance(table, Mapping) else None


def _config(table: Mapping[str, Any], path: str) -> Config:
    wrong: list[str] = []
    given: dict[str, Any] = {"folder": os.path.dirname(os.path.abspath(path))}
    for key, value in table.items():
        if key not in _READ:
            near = suggest(key, _READ)
            wrong.append(f"{key}: unknown key" + (f"; did you mean {near}?" if near else f": {', '.join(_READ)}"))
            continue
        try:
            given[key.replace("-", "_")] = _READ[key](value)
        except ValueError as error:
            wrong.append(f"{key}: {error}")
    root = root_of(given["folder"]) or given["folder"]
    for key in ("cluster", "schemas"):
        told = given.get(key, ())
        for one in (told,) if isinstance(told, str) else told:
            if not inside(os.path.join(given["folder"], one), root):
                wrong.append(f"{key}: {one} leads out of {root}; name such a file on the command line")
    if wrong:
        raise UsageError("\n  ".join([f"{path}: invalid ptcompile configuration", *wrong]))
    config = Config(**given)
    if config.cluster is not None:
        config = config._replace(cluster=os.path.join(config.folder, config.cluster))
    return config._replace(schemas=tuple(os.path.join(config.folder, path) for path in config.schemas))


def _selectors(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError('a list of codes or names, such as ["PTC3", "missing-shm"]')
    named(value)
    return tuple(value)


def _by_file(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, Mapping):
        raise ValueError('a table, such as {"charts/**" = ["PTC8"]}')
    return tuple((str(glob), _selectors(selectors)) for glob, selectors in value.items())


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a string")
    return value


def _paths(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError('a list of files and folders, such as ["crds"]')
    return tuple(value)


def _globs(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError('a list of patterns as in .gitignore, such as ["charts/", "*-patch.yaml"]')
    return tuple(value)


def _severity(value: object) -> str:
    if value not in ("error", "warning"):
        raise ValueError('"error" or "warning"')
    return str(value)


_READ: Final = {
    "select": _selectors,
    "extend-select": _selectors,
    "ignore": _selectors,
    "per-file-ignores": _by_file,
    "cluster": _text,
    "kubernetes-version": _text,
    "fail-on": _severity,
    "schemas": _paths,
    "exclude": _globs,
    "extend-exclude": _globs,
}
