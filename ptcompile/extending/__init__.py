"""What plugins add: rules, passes and targets, as one value that the verbs take.

A plugin is an installed package. It is loaded only where the project's configuration, or a caller, names it, and never
from the files that are linted. Its author imports from here alone: `Rule` and `Found` for rules, `Job` and `Context`
for passes, `Target` for targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Edit, Fix, field_path
from ptcompile.diagnostics.terms import Authority, Severity, Stage
from ptcompile.ir.job import Context, Job, Pass, Target, map_templates
from ptcompile.linter.rule import Finding as Found, found_at
from ptcompile.registry.targets import target_named

Json = Mapping[str, Any]

__all__ = [
    "NONE",
    "Context",
    "Edit",
    "Extensions",
    "Fix",
    "Found",
    "Job",
    "Loaded",
    "Pass",
    "Rule",
    "Target",
    "field_path",
    "found_at",
    "map_templates",
    "target_named",
]


class Rule(NamedTuple):
    """A question about one object. Unlike a built-in rule it is given plain data, and carries its own code."""

    code: str
    """The plugin's prefix and three digits, such as ACME001."""
    name: str
    """Lower-case words joined by hyphens, such as cost-center."""
    check: Callable[[Json, Sequence[Json]], Iterable[Found]]
    """object, the objects of its stream -> findings. Pure: no I/O, and it changes neither argument."""
    kinds: tuple[str, ...] = ()
    """The kinds it is asked of, as `Job` or `batch/v1/Job`; TrainingJob is a spec. Empty: every kind."""
    severity: Severity = "warning"
    stage: Stage = "style"
    authority: Authority = "ptcompile"
    page: str = ""
    """What `ptcompile explain CODE` prints: a sentence, then paragraphs. Empty: the docstring of `check`."""


class Loaded(NamedTuple):
    """A plugin that was loaded."""

    name: str
    version: str


class Extensions(NamedTuple):
    """All that plugins and the configuration add to ptcompile."""

    plugins: tuple[Loaded, ...] = ()
    rules: tuple[Rule, ...] = ()
    """Of plugins, then those that the configuration declares; in the order of their codes."""
    passes: tuple[tuple[str, Pass], ...] = ()
    """By name; they run after the built-in ones, in this order."""
    targets: Mapping[str, Target] = MappingProxyType({})

    @property
    def codes(self) -> dict[str, str]:
        """The code of every rule, by name."""
        return {rule.name: rule.code for rule in self.rules}


NONE = Extensions()
