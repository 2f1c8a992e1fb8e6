"""The plugins that are installed, from the metadata of packages; nothing of them is imported for that.

The current directory is left out: it may be a stranger's repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions

from ptcompile.typed import NamedTuple

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
