"""The verb `plugins` as a function, and what named plugins and declared rules add, for the other verbs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.extending.installed import Plugin, installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.extending import Extensions


def plugins() -> tuple[Plugin, ...]:
    """The installed packages with entry points of ptcompile, by name. None of them is imported."""
    return installed()


def extensions(plugins: Iterable[str] = (), rules: Iterable[Mapping[str, Any]] = ()) -> Extensions:
    """What plugins and declared rules add: the argument `extensions` of `compile`, `lint` and others.

    `plugins` are names of installed packages, which are imported; `rules` are tables as `[[tool.ptcompile.rule]]` has
    them. Raises ValueError with a sentence for each plugin that is missing or broken and each table that is wrong, and
    TypeError for one text in place of a list.
    """
    if isinstance(plugins, str):
        raise TypeError("plugins: a list of names, and not one text")
    from ptcompile.extending.loading import load
    from ptcompile.passes import PASSES

    return load(plugins, rules, [run.__name__ for run in PASSES])
