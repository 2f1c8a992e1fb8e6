"""Installed packages with entry points of ptcompile: listed, loaded, and clashes of their names.

The current directory is left out: it may be a stranger's repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution, EntryPoint, distributions

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics.codes import CODES
from ptcompile.extending import Extensions, Loaded, Pass, Rule, Target
from ptcompile.extending.declared import check_code, rule
from ptcompile.registry.targets import TARGETS as OWN_TARGETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


RULES, PASSES, TARGETS = GROUPS = ("ptcompile.rules", "ptcompile.passes", "ptcompile.targets")


class Plugin(NamedTuple):
    """An installed package with entry points of ptcompile."""

    name: str
    """The package's own, which `plugins` of the configuration takes."""
    version: str
    rules: tuple[str, ...] = ()
    """The prefixes of its codes."""
    passes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in self._asdict().items()}


def installed() -> tuple[Plugin, ...]:
    """Every plugin, by name."""
    found = {one.metadata["Name"]: one for one in reversed([*distributions(path=_folders())]) if _has_groups(one)}
    return tuple(_plugin(found[name]) for name in sorted(found))


def distribution(name: str) -> Distribution | None:
    """The installed package of a name, or None."""
    return next(iter(distributions(name=name, path=_folders())), None)


def _plugin(one: Distribution) -> Plugin:
    names = {group: tuple(sorted(point.name for point in one.entry_points if point.group == group)) for group in GROUPS}
    return Plugin(one.metadata["Name"], one.version, names[RULES], names[PASSES], names[TARGETS])


def _has_groups(one: Distribution) -> bool:
    return any(point.group in GROUPS for point in one.entry_points)


def _folders() -> list[str]:
    here = os.path.realpath(os.getcwd())
    return [one for one in _absolute(sys.path) if os.path.realpath(one) != here]


def _absolute(folders: Iterable[str]) -> Iterable[str]:
    return (one for one in folders if os.path.isabs(one))


class ExtensionError(ValueError):
    """A plugin that cannot be used, or a declared rule that is wrong; the text is a sentence for each."""


def load(plugins: Iterable[str], rules: Iterable[Mapping[str, Any]], passes: Iterable[str]) -> Extensions:
    """Import the plugins of these names, and read declared rules. Raises `ExtensionError` with all that is wrong.

    `passes` are the names of the compiler's own. Equal codes, names, passes or targets are an error that names both
    owners: none is replaced in silence.
    """
    made = _Loader(passes)
    for name in sorted(set(plugins)):
        made.plugin(name)
    for at, table in enumerate(rules):
        try:
            made.add_rule(rule(table), f"rule[{at}]")
        except ValueError as error:
            made.wrong.append(f"rule[{at}]: {error}")
    if made.wrong:
        raise ExtensionError("\n  ".join(made.wrong))
    ordered = tuple(sorted(made.rules, key=lambda one: one.code))
    return Extensions(tuple(made.loaded), ordered, tuple(made.passes.items()), made.targets)


class _Loader:
    """What was loaded so far, and whose each name is."""

    def __init__(self, passes: Iterable[str]) -> None:
        self.wrong: list[str] = []
        self.loaded: list[Loaded] = []
        self.rules: list[Rule] = []
        self.passes: dict[str, Pass] = {}
        self.targets: dict[str, Target] = {}
        own = [*CODES, *CODES.values(), *(f"pass {name}" for name in passes)]
        self._owners = dict.fromkeys([*own, *(f"target {one}" for one in OWN_TARGETS)], "ptcompile")

    def plugin(self, name: str) -> None:
        found = distribution(name)
        if found is None:
            near = closest_match(name, [one.name for one in installed()])
            help = f"did you mean {near}?" if near else "ptcompile plugins lists those that are"
            self.wrong.append(f"plugin {name!r} is not installed; {help}")
            return
        points = sorted((one for one in found.entry_points if one.group in GROUPS), key=lambda one: one.name)
        if not points:
            self.wrong.append(f"plugin {name!r} {found.version} is not a plugin: it has no entry points {_any(GROUPS)}")
            return
        self.loaded.append(Loaded(found.metadata["Name"], found.version))
        for point in points:
            try:
                self._add(point, point.load(), found)
            except (Exception, SystemExit) as error:  # an import of third-party code
                said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
                where = f"{point.group} {point.name} = {point.value}"
                self.wrong.append(f"plugin {name!r} {found.version} is broken ({where}): {' '.join(said.split())}")

    def _add(self, point: EntryPoint, value: Any, found: Distribution) -> None:
        owner = f"{found.metadata['Name']} {found.version}"
        if point.group == RULES:
            for one in _rules(value):
                check_code(one.code, one.name)
                if one.code[:-3] != point.name:
                    raise ValueError(f"code {one.code!r}: the entry point says that its codes begin with {point.name}")
                self.add_rule(one, owner)
        elif point.group == PASSES:
            if not callable(value):
                raise ValueError(f"a pass is a function of a job and a context, and not {type(value).__name__}")
            self._own(f"pass {point.name}", owner)
            self.passes[point.name] = value
        elif point.group == TARGETS:
            if not isinstance(value, Target) or value.name != point.name:
                raise ValueError(f"a target is a ptcompile.extending.Target with the name {point.name!r}")
            self._own(f"target {point.name}", owner)
            self.targets[point.name] = value

    def add_rule(self, one: Rule, owner: str) -> None:
        self._own(one.code, owner)
        self._own(one.name, owner)
        self.rules.append(one)

    def _own(self, name: str, owner: str) -> None:
        if name in self._owners:
            raise ValueError(f"{name} is already used by {self._owners[name]}")
        self._owners[name] = owner


def _rules(value: Any) -> Sequence[Rule]:
    if not isinstance(value, tuple | list) or not all(isinstance(one, Rule) for one in value):
        raise ValueError("rules are a tuple of ptcompile.extending.Rule")
    return value


def _any(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
