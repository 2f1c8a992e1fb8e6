"""Installed packages with entry points of ptcompile: listing, loading, and name clashes.

The current directory is excluded, because it may be an untrusted repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, EntryPoint, distributions
from operator import attrgetter

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import spelling_help
from ptcompile.diagnostics.codes import CODES
from ptcompile.extending import Extensions, Loaded, Pass, Rule, Target
from ptcompile.kubernetes.unstructured import Json, nested_value
from ptcompile.operators.targets import TARGETS as BUILTIN_TARGETS

RULES, PASSES, TARGETS = GROUPS = ("ptcompile.rules", "ptcompile.passes", "ptcompile.targets")


class Plugin(NamedTuple):
    """An installed package with entry points of ptcompile."""

    name: str
    """The package name, as `plugins` in the configuration expects it."""
    version: str
    """The version of the package."""
    rules: tuple[str, ...] = ()
    """The prefixes of its rule codes."""
    passes: tuple[str, ...] = ()
    """The names of its passes."""
    targets: tuple[str, ...] = ()
    """The names of its targets."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in self._asdict().items()
        }


def installed() -> tuple[Plugin, ...]:
    """Return every plugin, sorted by name."""
    packages = {
        package.metadata["Name"]: package
        for package in reversed([*distributions(path=_folders())])
        if _has_groups(package)
    }
    return tuple(_plugin(packages[name]) for name in sorted(packages))


def distribution(name: str) -> Distribution | None:
    """Return the installed package with this name, or None."""
    return next(iter(distributions(name=name, path=_folders())), None)


def _plugin(package: Distribution) -> Plugin:
    names = (
        tuple(sorted(point.name for point in package.entry_points if point.group == group))
        for group in GROUPS
    )
    return Plugin(package.metadata["Name"], package.version, *names)


def _has_groups(package: Distribution) -> bool:
    return any(point.group in GROUPS for point in package.entry_points)


def _folders() -> list[str]:
    cwd = os.path.realpath(os.getcwd())
    return [
        folder for folder in sys.path if os.path.isabs(folder) and os.path.realpath(folder) != cwd
    ]


class ExtensionError(ValueError):
    """Raised for plugins that cannot be used and invalid declared rules; the text has one
    sentence for each.
    """


def load(plugins: Iterable[str], rules: Iterable[Json], passes: Iterable[str]) -> Extensions:
    """Import the plugins with these names, and read declared rules. Raises `ExtensionError` that
    lists all mistakes.

    `passes` are the names of the built-in passes. Equal codes, names, passes or targets are an
    error that names both owners: nothing is replaced silently.
    """
    # imported here: it loads CEL, which few configurations need
    from ptcompile.extending.declared import declared_rule

    loader = _Loader(passes)
    for name in sorted(set(plugins)):
        loader.plugin(name)
    for index, table in enumerate(rules):
        owner = f"rule[{index}]"
        try:
            loader.add_rule(declared_rule(table), owner)
        except ValueError as error:
            code = nested_value(table, "code")
            name = f" ({code})" if isinstance(code, str) else ""
            loader.errors.append(f"{owner}{name}: {error}")

    if loader.errors:
        raise ExtensionError("\n  ".join(loader.errors))

    ordered = tuple(sorted(loader.rules, key=attrgetter("code")))
    return Extensions(tuple(loader.loaded), ordered, tuple(loader.passes.items()), loader.targets)


class _Loader:
    """Everything loaded so far, and the owner of each name."""

    def __init__(self, passes: Iterable[str]) -> None:
        self.errors: list[str] = []
        self.loaded: list[Loaded] = []
        self.rules: list[Rule] = []
        self.passes: dict[str, Pass] = {}
        self.targets: dict[str, Target] = {}
        builtin_names = [*CODES, *CODES.values(), *(f"pass {name}" for name in passes)]
        self._owners = dict.fromkeys(
            [*builtin_names, *(f"target {target}" for target in BUILTIN_TARGETS)], "ptcompile"
        )

    def plugin(self, name: str) -> None:
        """Load the plugin of an installed package; add what is wrong with it to the errors."""
        package = distribution(name)
        if package is None:
            names = [plugin.name for plugin in installed()]
            help = spelling_help(name, names, "ptcompile plugins lists those that are")
            self.errors.append(f"plugin {name!r} is not installed; {help}")
            return

        points = sorted(
            (point for point in package.entry_points if point.group in GROUPS),
            key=attrgetter("name"),
        )
        if not points:
            self.errors.append(
                f"plugin {name!r} {package.version} is not a plugin: it has no entry points "
                f"{RULES}, {PASSES} or {TARGETS}"
            )
            return

        self.loaded.append(Loaded(package.metadata["Name"], package.version))
        for point in points:
            try:
                self._add(point, point.load(), package)
            except (Exception, SystemExit) as error:  # an import of third-party code
                cause = (
                    str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
                )
                location = f"{point.group} {point.name} = {point.value}"
                self.errors.append(
                    f"plugin {name!r} {package.version} is broken ({location}): "
                    f"{' '.join(cause.split())}"
                )

    def _add(self, point: EntryPoint, value: Any, package: Distribution) -> None:
        """Add what an entry point of a plugin gives: rules, a pass or a target."""
        name = point.name
        plugin = package.metadata["Name"]
        owner = f"{plugin} {package.version}"

        if point.group == RULES:
            self._add_rules(name, value, plugin, owner)
        elif point.group == PASSES:
            if not callable(value):
                raise ValueError(
                    f"a pass must be a function of a job and a context, not {type(value).__name__}"
                )
            self._claim_name(f"pass {name}", owner)
            self.passes[name] = value
        else:
            if not isinstance(value, Target) or value.name != name:
                raise ValueError(
                    f"a target must be a ptcompile.extending.Target with the name {name!r}"
                )
            self._claim_name(f"target {name}", owner)
            self.targets[name] = value

    def _add_rules(self, prefix: str, rules: Any, plugin: str, owner: str) -> None:
        from ptcompile.extending.declared import check_code

        if not isinstance(rules, tuple | list) or not all(isinstance(rule, Rule) for rule in rules):
            raise ValueError("rules must be a tuple of ptcompile.extending.Rule")

        for rule in rules:
            check_code(rule.code, rule.name)
            if rule.code[:-3] != prefix:
                raise ValueError(
                    f"code must begin with {prefix}, the name of the entry point, not {rule.code!r}"
                )
            self.add_rule(rule._replace(owner=f"rule of plugin {plugin}"), owner)

    def add_rule(self, rule: Rule, owner: str) -> None:
        self._claim_name(rule.code, owner)
        self._claim_name(rule.name, owner)
        self.rules.append(rule)

    def _claim_name(self, name: str, owner: str) -> None:
        if name in self._owners:
            raise ValueError(f"{name} is already used by {self._owners[name]}")
        self._owners[name] = owner
