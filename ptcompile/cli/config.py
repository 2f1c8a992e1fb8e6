"""`ptcompile.toml`, or `[tool.ptcompile]` of `pyproject.toml`: what a project has decided for `lint`.

The nearest file counts, from the current directory up to the root of the repository, and nothing is merged with it but
the command line. It names no file outside of the repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from ptcompile._internal.files import is_inside, leads_out, root_of
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import closest_match
from ptcompile.cli import files
from ptcompile.cli.files import UsageError
from ptcompile.diagnostics.selection import NO_CODES, selected_names
from ptcompile.kubernetes.versions import parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any, Final

    from ptcompile.extending import Extensions
else:
    Extensions = object  # as text, NamedTuple would compile it

FILES: Final = ("ptcompile.toml", "pyproject.toml")
_MOST: Final = 1 << 18
"""Bytes of a configuration."""
_MOST_DOTS: Final = 100
"""More of them in one key, and tomllib takes memory with the square of their number."""


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
    plugins: tuple[str, ...] = ()
    rule: tuple[Mapping[str, Any], ...] = ()
    extensions: Extensions | None = None
    """What the plugins and the declared rules are; None where there are neither."""

    @property
    def codes(self) -> Mapping[str, str]:
        """The codes of rules that plugins and the configuration add, by name."""
        return NO_CODES if self.extensions is None else self.extensions.codes

    def selected(self) -> list[str] | None:
        """The selectors of what is looked for; None for everything."""
        return None if self.select is None else [*self.select, *self.extend_select]

    def ignored(self, path: str) -> list[str]:
        """The selectors of what is not told of one file."""
        return [*self.ignore, *self.ignored_in(path)]

    def ignored_in(self, path: str) -> list[str]:
        """Return the selectors that are ignored in one file; patterns are those of .gitignore, as in `exclude`."""
        if not self.per_file_ignores:
            return []
        from ptcompile.cli.gitignore import matches

        relative = os.path.relpath(path, self.folder)
        return [
            selector
            for pattern, selectors in self.per_file_ignores
            if matches(pattern, relative)
            for selector in selectors
        ]


def load(path: str | None, *, isolated: bool = False, start: str | None = None) -> Config:
    """The configuration of a file, or of the nearest one from `start` upwards, else from the current directory.

    Raises `UsageError` with every mistake in it.
    """
    if isolated and path is None:
        return Config()
    found = path or _nearest(start)
    if found is None:
        return Config()
    table = _table(found)
    return Config() if table is None else _config(table, found)


def extensions() -> Extensions | None:
    """What the nearest configuration adds to ptcompile. Raises `UsageError` with every mistake in it."""
    return load(None).extensions


def _nearest(start: str | None) -> str | None:
    """Return the nearest file up to the root of the repository; outside of one only the folder itself is searched."""
    try:
        folder = os.path.abspath(start or os.getcwd())
    except OSError:  # it was deleted
        return None
    root = root_of(folder) or folder
    while True:
        for name in FILES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and _configures(path):
                return path
        if folder == root:
            return None
        folder = os.path.dirname(folder)


def _configures(path: str) -> bool:
    """Return whether a file that was found is a configuration. Raises `UsageError` for one that cannot be read."""
    if tree := leads_out(path):
        if os.path.basename(path) != FILES[0]:
            return False  # most have nothing to do with ptcompile
        raise UsageError(f"{path}: a link that leads out of {tree}; name it with --config to use it")
    return os.path.basename(path) == FILES[0] or b"[tool.ptcompile" in files.read(path)


def _table(path: str) -> Mapping[str, Any] | None:
    import tomllib  # with datetime and large expressions: for those who have a configuration

    content = files.read(path)
    if len(content) > _MOST:
        raise UsageError(f"{path}: larger than {_MOST} bytes, which is the limit for a configuration")
    try:
        text = content.decode()
        if line := _line_of_long_key(text):
            raise UsageError(f"{path}: line {line} has a key with more than {_MOST_DOTS} dots")
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    except ValueError:  # int() refuses what would take it too long
        raise UsageError(f"{path}: a number has more than {sys.get_int_max_str_digits()} digits") from None
    except RecursionError:
        raise UsageError(f"{path}: arrays or inline tables are nested too deeply") from None
    if os.path.basename(path) != "pyproject.toml":
        return data
    tool = data.get("tool")
    table = tool.get("ptcompile") if isinstance(tool, Mapping) else None
    return table if isinstance(table, Mapping) else None


def _line_of_long_key(text: str) -> int | None:
    import re

    part = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
    key = re.search(rf"(?<![A-Za-z0-9_-]){part}(?:[ \t]*+\.[ \t]*+{part}){{{_MOST_DOTS + 1}}}", text)
    return text.count("\n", 0, key.start()) + 1 if key else None


def _config(table: Mapping[str, Any], path: str) -> Config:
    wrong: list[str] = []
    given: dict[str, Any] = {"folder": os.path.dirname(os.path.abspath(path))}
    given["extensions"] = _extensions(table, wrong)
    codes = Config(extensions=given["extensions"]).codes
    for key, value in table.items():
        if key not in _READ:
            near = closest_match(key, _READ)
            wrong.append(f"{key}: unknown key" + (f"; did you mean {near}?" if near else f": {', '.join(_READ)}"))
            continue
        try:
            given[key.replace("-", "_")] = _READ[key](value, codes) if key in _BY_CODE else _READ[key](value)
        except ValueError as error:
            wrong.append(f"{key}: {error}")
    root = root_of(given["folder"]) or given["folder"]
    for key in ("cluster", "schemas"):
        told = given.get(key, ())
        for one in (told,) if isinstance(told, str) else told:
            if not is_inside(os.path.join(given["folder"], one), root):
                wrong.append(f"{key}: {one} leads out of {root}; name such a file on the command line")
    if wrong:
        raise UsageError("\n  ".join([f"{path}: invalid ptcompile configuration", *wrong]))
    config = Config(**given)
    if config.cluster is not None:
        config = config._replace(cluster=os.path.join(config.folder, config.cluster))
    return config._replace(schemas=tuple(os.path.join(config.folder, path) for path in config.schemas))


def _extensions(table: Mapping[str, Any], wrong: list[str]) -> Extensions | None:
    """What plugins and declared rules add; what is wrong with them is put to the other mistakes."""
    if not table.get("plugins") and not table.get("rule"):
        return None
    from ptcompile.api.reference import extensions
    from ptcompile.extending.plugins import ExtensionError

    try:
        return extensions(_names(table.get("plugins", [])), _tables(table.get("rule", [])))
    except ExtensionError as error:
        wrong.append(str(error))
    except ValueError:  # their own keys say so
        pass
    return None


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError('a list of installed packages, such as ["acme-ptcompile"]')
    return tuple(value)


def _tables(value: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise ValueError('tables, each as [[tool.ptcompile.rule]] with code = "ACME101"')
    return tuple(value)


def _selectors(value: object, codes: Mapping[str, str] = NO_CODES) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError('a list of codes or names, such as ["PTC3", "missing-shm"]')
    selected_names(value, codes)
    return tuple(value)


def _by_file(value: object, codes: Mapping[str, str] = NO_CODES) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, Mapping):
        raise ValueError('a table, such as {"charts/" = ["PTC8"]}')
    return tuple((str(glob), _selectors(selectors, codes)) for glob, selectors in value.items())


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


_BY_CODE: Final = frozenset({"select", "extend-select", "ignore", "per-file-ignores"})
"""Keys that name codes, those of plugins among them."""
_READ: Final[dict[str, Any]] = {
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
    "plugins": _names,
    "rule": _tables,
}


def settings(options: Namespace) -> Config:
    """The configuration with the command line laid over it. Raises `UsageError`."""
    config = load(options.config, isolated=options.isolated)
    for option in ("select", "extend_select", "ignore"):
        try:
            selected_names(_split(getattr(options, option)), config.codes)
        except ValueError as error:
            raise UsageError(f"--{option.replace('_', '-')}: {error}") from None
    version = options.kubernetes_version or config.kubernetes_version
    if version is not None:
        try:
            parse_version(version)
        except ValueError as error:
            raise UsageError(f"--kubernetes-version: {error}") from None
    select = tuple(_split(options.select)) or config.select
    schemas = tuple(options.schemas) or config.schemas
    if schemas:
        from ptcompile.apiserver.crds.loader import read_definitions

        try:
            read_definitions(schemas)
        except ValueError as error:
            raise UsageError(f"--schemas: {error}") from None
    return config._replace(
        schemas=schemas,
        select=select,
        extend_select=(*config.extend_select, *_split(options.extend_select)),
        ignore=(*config.ignore, *_split(options.ignore)),
        cluster=options.cluster or config.cluster,
        kubernetes_version=version,
        fail_on=options.fail_on or config.fail_on,
    )


def _split(values: Sequence[str]) -> list[str]:
    return [one for value in values for one in value.split(",")]
