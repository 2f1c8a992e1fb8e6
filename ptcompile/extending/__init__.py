"""Extensions by plugins: rules, passes and targets, as one value that the verbs accept.

A plugin is an installed package. It is loaded only if the project's configuration or a caller names
it, never because of the files being linted. Plugin authors import only from here: `Rule` and
`Found` for rules, `Job` and `Context` for passes, `Target` and the types of its fields for targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Edit, Fix, Problem, field_path
from ptcompile.diagnostics.terms import Authority, Severity, Stage
from ptcompile.ir.job import (
    Context,
    Derived,
    IndexedGroup,
    Job,
    Pass,
    Target,
    Wiring,
    map_templates,
)
from ptcompile.kubernetes.unstructured import Json
from ptcompile.linter.rule import Finding as Found, found_at
from ptcompile.operators.targets import target_named

__all__ = [
    "NONE",
    "Context",
    "Derived",
    "Edit",
    "Extensions",
    "Fix",
    "Found",
    "IndexedGroup",
    "Job",
    "Loaded",
    "Pass",
    "Problem",
    "Rule",
    "Target",
    "Wiring",
    "field_path",
    "found_at",
    "map_templates",
    "target_named",
]


class Rule(NamedTuple):
    """A check of one object. Unlike a built-in rule, it receives plain data and carries its own
    code.
    """

    code: str
    """The plugin's prefix and three digits, such as ACME001."""
    name: str
    """Lower-case words joined by hyphens, such as cost-center."""
    check: Callable[[Json, Sequence[Json]], Iterable[Found]]
    """Called with the object and the objects of its stream; yields findings. Pure: no I/O, and no
    changes to its arguments.
    """
    kinds: tuple[str, ...] = ()
    """The kinds it applies to, as `Job` or `batch/v1/Job`; TrainingJob is a spec. Empty means
    every kind.
    """
    severity: Severity = "warning"
    stage: Stage = "style"
    authority: Authority = "ptcompile"
    page: str = ""
    """The page for `ptcompile explain CODE`: a sentence, then paragraphs. If empty, the
    docstring of `check`.
    """
    url: str = ""
    """The address of the page that reports link to. They never link to ptcompile's own site for
    the rule.
    """
    owner: str = ""
    """Set when a plugin or a configuration is loaded: `rule of plugin acme-ptcompile`, `rule of
    ptcompile.toml`. Text reports print it.
    """


class Loaded(NamedTuple):
    """A loaded plugin."""

    name: str
    version: str


class Extensions(NamedTuple):
    """Everything that plugins and the configuration add to ptcompile."""

    plugins: tuple[Loaded, ...] = ()
    """The installed packages that were loaded."""
    rules: tuple[Rule, ...] = ()
    """Rules of plugins, then those declared in the configuration; sorted by code."""
    passes: tuple[tuple[str, Pass], ...] = ()
    """Passes with their names; they run after the built-in ones, in this order."""
    targets: Mapping[str, Target] = MappingProxyType({})
    """Targets by name."""

    @property
    def codes(self) -> dict[str, str]:
        """The code of each rule, keyed by rule name."""
        return {rule.name: rule.code for rule in self.rules}


NONE = Extensions()
