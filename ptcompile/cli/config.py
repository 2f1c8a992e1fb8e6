"""The project's lint settings: `ptcompile.toml`, or `[tool.ptcompile]` of `pyproject.toml`.

The nearest file from the current directory up to the root of the repository is used; only the
command line overrides it. It must not name files outside the repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.files import is_inside, leads_out, read_found, root_of
from ptcompile._internal.lazy import cached_property
from ptcompile._internal.limits import MAX_SECONDS
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import spelling_help
from ptcompile.cli import files
from ptcompile.cli.files import UsageError
from ptcompile.diagnostics import Severity
from ptcompile.diagnostics.codes import CODES
from ptcompile.diagnostics.selection import (
    NO_CODES,
    Selection,
    selected_names,
    selection,
    severities,
)
from ptcompile.kubernetes.unstructured import Json, JsonDict, nested_value
from ptcompile.kubernetes.versions import parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any, TypeVar

    from ptcompile.api.options import LintOptions, UnknownKinds
    from ptcompile.diagnostics import Diagnostic
    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile

    T = TypeVar("T")

FILES = ("ptcompile.toml", "pyproject.toml")
_MAX_BYTES = 1 << 18
"""Size limit of a configuration file."""
_MAX_DOTS = 100
"""Limit of dots per key: tomllib's memory use is quadratic in them."""


_MAX_ENTRIES = 500
"""Limit of entries of a list or table: each pattern is compared with each file."""


def kustomizations_beside(folder: str) -> tuple[str, ...]:
    """Return the texts of the kustomizations that may complete or patch a file in a folder."""
    texts = []
    for kustomization in files.kustomizations_near(folder):
        try:
            texts.append(read_found(kustomization).decode(errors="replace"))
        except OSError:  # such as a link out of the repository
            continue

    return tuple(texts)


class Config(NamedTuple):
    """The settings of a configuration file. Its patterns and paths are relative to `folder`."""

    folder: str = "."
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    per_file_severity: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    cluster: str | None = None
    target: str | None = None
    """The target of specs that name none; the command line's is of all."""
    kubernetes_version: str | None = None
    fail_on: str = "error"
    baseline: str | None = None
    schemas: tuple[str, ...] = ()
    timeout: float | None = None
    """Seconds after which a run ends."""
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    rule: tuple[Json, ...] = ()
    extensions: Extensions | None = None
    """The loaded plugins and declared rules, or None if there are none."""

    @property
    def codes(self) -> Mapping[str, str]:
        """Codes of the rules that plugins and the configuration add, by rule name."""
        if self.extensions is None:
            return NO_CODES
        return self.extensions.codes

    @property
    def all_codes(self) -> Mapping[str, str]:
        """Codes of all rules, by rule name."""
        return {**CODES, **self.codes}

    def selectors(self) -> list[str] | None:
        """Return the selectors of the rules to report, or None for all rules."""
        if self.select is None:
            return None
        return [*self.select, *self.extend_select]

    def ignored_selectors(self, path: str) -> list[str]:
        """Return the selectors of the rules that are ignored in one file."""
        return [*self.ignore, *self.ignored_in(path)]

    def ignored_in(self, path: str) -> list[str]:
        """Return the selectors that `per-file-ignores` has for one file."""
        return [
            selector
            for selectors in self._matching_values(self.per_file_ignores, path)
            for selector in selectors
        ]

    def severities(self, path: str) -> dict[str, Severity]:
        """Return the configured severities of rules in one file by rule name; `per-file-severity`
        overrides `severity`, and later patterns override earlier ones.
        """
        tables = [self.severity, *self._matching_values(self.per_file_severity, path)]
        return {
            name: level
            for table in tables
            for name, level in severities(dict(table), self.codes).items()
        }

    def selection(self, path: str) -> Selection:
        """Return which rules are reported in one file, and with what severities."""
        return selection(
            self.selectors(), self.ignored_selectors(path), self.codes, self.severities(path)
        )

    def select_reported(self, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield the findings of a verb that this configuration reports, with its severities."""
        for diagnostic in diagnostics:
            selected = self.selection(diagnostic.filename or "-")
            if diagnostic.blocks_compile or selected.includes(diagnostic.name, diagnostic.stage):
                yield selected.with_severity(diagnostic)

    def lint_options(
        self,
        path: str,
        profile: ClusterProfile | None,
        *,
        webhooks: bool = True,
        unknown_kinds: UnknownKinds = "count",
        kustomizations: Callable[[str], tuple[str, ...]] = kustomizations_beside,
    ) -> LintOptions:
        """Return what judges one file, for the command line, editors, assistants, hooks and
        functions alike.

        `profile` is what `cluster` names, or None without one. `kustomizations` returns the
        texts of a folder's: a run over many files looks once into each folder.
        """
        from ptcompile.api.inputs import releases_of
        from ptcompile.api.options import LintOptions

        return LintOptions(
            profile=profile,
            versions=releases_of(profile, self.kubernetes_version),
            webhooks=webhooks,
            selection=self.selection(path),
            unknown_kinds=unknown_kinds,
            extensions=self.extensions,
            schemas=self.schemas,
            target=self.target,
            names_successors=True,
            kustomizations=kustomizations(os.path.dirname(path)) if os.path.basename(path) else (),
        )

    def _matching_values(self, table: Sequence[tuple[str, T]], path: str) -> Iterator[T]:
        """Yield the values of the patterns that match a file; these are patterns of .gitignore,
        as in `exclude`.
        """
        if not table:
            return
        from ptcompile.cli.gitignore import matches

        relative = os.path.relpath(path, self.folder)
        yield from (value for pattern, value in table if matches(pattern, relative))


def load(path: str | None, *, isolated: bool = False, start: str | None = None) -> Config:
    """Return the configuration in a file, or the nearest one from `start` upward (default: the
    current directory).

    Raises `UsageError` that lists every mistake in it.
    """
    if isolated and path is None:
        return Config()
    filename = path or _find_nearest(start)
    if filename is None:
        return Config()
    table: object = parse_toml(filename, files.read(filename), _MAX_BYTES)
    if os.path.basename(filename) == "pyproject.toml":
        table = nested_value(table, "tool", "ptcompile")
    if isinstance(table, Mapping):
        return _parse_config(table, filename)
    return Config()


def profile_path(options: Namespace, settings: Config) -> str | None:
    """Return the profile of --cluster, else the configuration's; None if `import --profile`
    writes one.
    """
    is_written = getattr(options, "profile", None) is not None
    return options.cluster or (None if is_written else settings.cluster)


def settings_of(options: Namespace) -> Config:
    """Return the configuration of a run, as its options say. Raises `UsageError` that lists
    every mistake in it.
    """
    if "configuration" not in options:
        if "isolated" in options:
            chosen = partial(load, options.config, isolated=options.isolated)
        else:
            chosen = partial(load, None)
        options.configuration = _Loaded(chosen)
    loaded: _Loaded = options.configuration
    return loaded.config


class _Loaded:
    """A configuration that is loaded once in each process: plugins cannot be pickled."""

    def __init__(self, load_it: Callable[[], Config]) -> None:
        self._load = load_it

    @cached_property
    def config(self) -> Config:
        return self._load()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle no configuration, for spawned processes."""
        return _Loaded, (self._load,)


def _find_nearest(start: str | None) -> str | None:
    """Return the nearest configuration file up to the root of the repository; outside a repository
    search only the folder.
    """
    try:
        folder = os.path.abspath(start or os.getcwd())
    except OSError:  # the folder was deleted
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
    """Return whether a file contains a configuration. Raises `UsageError` if it cannot be read."""
    if tree := leads_out(path):
        if os.path.basename(path) != FILES[0]:
            return False  # most such files do not configure ptcompile
        raise UsageError(
            f"{path}: a link that leads out of {tree}; name it with --config to use it"
        )
    return os.path.basename(path) == FILES[0] or b"[tool.ptcompile" in files.read(path)


def parse_toml(path: str, content: bytes, max_bytes: int) -> Json:
    """Return the data of a TOML file. Raises `UsageError` for one that is not TOML or is larger
    than that.
    """
    import tomllib  # slow to import: it compiles large regular expressions

    if len(content) > max_bytes:
        raise UsageError(f"{path}: larger than {max_bytes} bytes, which is the limit")

    try:
        text = content.decode()
        if line := _line_of_long_key(text):
            raise UsageError(f"{path}: line {line} has a key with more than {_MAX_DOTS} dots")
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    except ValueError:  # int() limits the number of digits
        raise UsageError(
            f"{path}: a number has more than {sys.get_int_max_str_digits()} digits"
        ) from None
    except RecursionError:
        raise UsageError(f"{path}: arrays or inline tables are nested too deeply") from None


def _line_of_long_key(text: str) -> int | None:
    import re

    part = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
    key = re.search(rf"(?<![A-Za-z0-9_-]){part}(?:[ \t]*+\.[ \t]*+{part}){{{_MAX_DOTS + 1}}}", text)
    return text.count("\n", 0, key.start()) + 1 if key else None


def _parse_config(table: Json, path: str) -> Config:
    """Return the configuration in a table. Raises `UsageError` with every mistake."""
    mistakes: list[str] = []
    values: JsonDict = {"folder": os.path.dirname(os.path.abspath(path))}
    values["extensions"] = _load_extensions(table, os.path.basename(path), mistakes)
    codes = Config(extensions=values["extensions"]).codes
    for key, value in table.items():
        if key not in _PARSERS:
            help = spelling_help(key, _PARSERS, f"the keys are {', '.join(_PARSERS)}")
            mistakes.append(f"{key}: unknown key; {help}")
            continue
        if isinstance(value, (list, Mapping)) and len(value) > _MAX_ENTRIES:
            mistakes.append(f"{key}: has {len(value)} entries; at most {_MAX_ENTRIES} are read")
            continue
        try:
            values[key.replace("-", "_")] = (
                _PARSERS[key](value, codes) if key in _SELECTOR_KEYS else _PARSERS[key](value)
            )
        except ValueError as error:
            mistakes.append(f"{key}: {error}")

    root = root_of(values["folder"]) or values["folder"]
    for key in ("cluster", "baseline", "schemas"):
        names = values.get(key, ())
        for name in (names,) if isinstance(names, str) else names:
            if "\0" in name:
                mistakes.append(f"{key}: must not contain null characters")
            elif not is_inside(os.path.join(values["folder"], name), root):
                mistakes.append(
                    f"{key}: {name} leads out of {root}; name such a file on the command line"
                )

    if mistakes:
        raise UsageError(
            f"{path}: invalid ptcompile configuration", *(f"  {mistake}" for mistake in mistakes)
        )

    config = Config(**values)
    return config._replace(
        cluster=config.cluster and profile_in(config.folder, config.cluster),
        baseline=config.baseline and os.path.join(config.folder, config.baseline),
        schemas=tuple(os.path.join(config.folder, path) for path in config.schemas),
    )


def profile_in(folder: str, name: str) -> str:
    """Return the profile that a setting names: a file in the folder, or a cloud's starter if no
    file has the name.
    """
    path = os.path.join(folder, name)
    starter = None if os.path.exists(path) else files.starter_named(name)
    return starter or path


def _load_extensions(table: Json, filename: str, mistakes: list[str]) -> Extensions | None:
    """Return what plugins and declared rules add; append their mistakes to `mistakes`."""
    if not table.get("plugins") and not table.get("rule"):
        return None

    from ptcompile.api.reference import extensions
    from ptcompile.extending.plugins import ExtensionError

    try:
        loaded = extensions(
            _parse_plugins(table.get("plugins", [])), _parse_rules(table.get("rule", []))
        )
        owned = (
            rule if rule.owner else rule._replace(owner=f"rule of {filename}")
            for rule in loaded.rules
        )
        return loaded._replace(rules=tuple(owned))
    except ExtensionError as error:
        mistakes += [line.strip() for line in str(error).splitlines()]
    except ValueError:  # reported when their keys are parsed
        pass

    return None


def _parse_rules(value: object) -> tuple[Json, ...]:
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise ValueError(
            'must be tables, each written as [[tool.ptcompile.rule]] with code = "ACME101"'
        )
    return tuple(value)


def _parse_selectors(value: object, codes: Mapping[str, str] = NO_CODES) -> tuple[str, ...]:
    selectors = _parse_texts('codes or names, such as ["PTC3", "missing-shm"]', value)
    selected_names(selectors, codes)
    return selectors


def _parse_per_file(
    parse: Callable[[object, Mapping[str, str]], T],
    example: str,
    value: object,
    codes: Mapping[str, str] = NO_CODES,
) -> tuple[tuple[str, T], ...]:
    """Return the values of a table by pattern of files."""
    if not isinstance(value, Mapping):
        raise ValueError(f'must be a table, such as {{"charts/" = {example}}}')
    return tuple((str(glob), parse(item, codes)) for glob, item in value.items())


def _parse_severities(
    value: object, codes: Mapping[str, str] = NO_CODES
) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise ValueError('must be a table, such as {PTC801 = "note", missing-shm = "error"}')
    table = {str(selector): str(level) for selector, level in value.items()}
    severities(table, codes)
    return tuple(table.items())


_parse_per_file_ignores = partial(_parse_per_file, _parse_selectors, '["PTC8"]')
_parse_per_file_severities = partial(_parse_per_file, _parse_severities, '{PTC8 = "note"}')


def _parse_string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _parse_texts(of_what: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ValueError(f"must be a list of {of_what}")
    return tuple(value)


_parse_paths = partial(_parse_texts, 'files and folders, such as ["crds"]')
_parse_patterns = partial(
    _parse_texts, 'patterns as in .gitignore, such as ["charts/", "*-patch.yaml"]'
)
_parse_plugins = partial(_parse_texts, 'installed packages, such as ["acme-ptcompile"]')


def _parse_severity(value: object) -> str:
    if value not in ("error", "warning", "unchecked"):
        raise ValueError('must be "error", "warning" or "unchecked"')
    return str(value)


def _parse_timeout(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MAX_SECONDS:
        raise ValueError("must be a number of seconds, such as 60")
    return float(value)


_SELECTOR_KEYS = frozenset(
    {"select", "extend-select", "ignore", "per-file-ignores", "severity", "per-file-severity"}
)
"""Keys whose values name codes, including those of plugins."""
_PARSERS: JsonDict = {
    "select": _parse_selectors,
    "extend-select": _parse_selectors,
    "ignore": _parse_selectors,
    "per-file-ignores": _parse_per_file_ignores,
    "severity": _parse_severities,
    "per-file-severity": _parse_per_file_severities,
    "cluster": _parse_string,
    "target": _parse_string,
    "kubernetes-version": _parse_string,
    "fail-on": _parse_severity,
    "baseline": _parse_string,
    "schemas": _parse_paths,
    "timeout": _parse_timeout,
    "exclude": _parse_patterns,
    "extend-exclude": _parse_patterns,
    "plugins": _parse_plugins,
    "rule": _parse_rules,
}


def load_with_options(options: Namespace) -> Config:
    """Return the configuration with the command line's options applied. Raises `UsageError`."""
    config = settings_of(options)
    for option in ("select", "extend_select", "ignore"):
        try:
            selected_names(_split_at_commas(getattr(options, option)), config.codes)
        except ValueError as error:
            raise UsageError(f"--{option.replace('_', '-')}: {error}") from None

    version = options.kubernetes_version or config.kubernetes_version
    if version is not None:
        try:
            parse_version(version)
        except ValueError as error:
            raise UsageError(f"--kubernetes-version: {error}") from None

    select = tuple(_split_at_commas(options.select)) or config.select
    schemas = tuple(options.schemas) or config.schemas
    check_schemas(schemas)

    return config._replace(
        schemas=schemas,
        select=select,
        extend_select=(*config.extend_select, *_split_at_commas(options.extend_select)),
        ignore=(*config.ignore, *_split_at_commas(options.ignore)),
        cluster=options.cluster or config.cluster,
        kubernetes_version=version,
        fail_on=options.fail_on or config.fail_on,
        baseline=options.baseline or config.baseline,
    )


def check_schemas(schemas: Sequence[str]) -> None:
    """Raise UsageError for a path that cannot be read or contains no definition."""
    if not schemas:
        return

    from ptcompile.apiserver.crds.loader import read_definitions

    for path in schemas:
        files.reject_link_out(path)
    try:
        read_definitions(schemas)
    except ValueError as error:
        raise UsageError(f"--schemas: {error}") from None


def _split_at_commas(values: Sequence[str]) -> list[str]:
    return [item for value in values for item in value.split(",")]
