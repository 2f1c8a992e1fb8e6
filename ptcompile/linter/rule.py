"""The rule and the finding, the interface of every rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Authority, Fix, Path, Severity, Stage, field_path
from ptcompile.linter.subject import Subject


class Finding(NamedTuple):
    """One finding of a rule. The runner adds the rule's name, stage, authority and severity."""

    path: Path
    """Path from the root of the object; `on_key` points at its last key instead of the value."""
    message: str
    """One sentence that begins with the field's path, as the API server writes it."""
    help: str | None = None
    """How to fix it: lower case, imperative, no full stop."""
    fix: Fix | None = None
    on_key: bool = False
    severity: Severity | None = None
    """Set if the finding is more or less certain than the rule's others."""


def found_at(
    path: Path,
    text: str,
    help: str | None,
    fix: Fix | None = None,
    *,
    on_key: bool = False,
    severity: Severity | None = None,
) -> Finding:
    """Return a finding whose message begins with the field's path, as most do."""
    return Finding(path, f"{field_path(path)}: {text}", help, fix, on_key, severity)


class Rule(NamedTuple):
    """One check of an object that an API server would accept. The module's docstring is its page.

    The page has a title line, then the sections What, Why, Example, Fix and Source. The example is a diff with every
    line of both sides: lines with `-` are bad, lines with `+` good. The bad line that the finding is reported at ends
    in `# <--`. The words that trigger the rule are in the table of its family (`ptcompile.linter`).
    """

    name: str
    """A key of `codes.CODES`; the module has the same name, with underscores."""
    check: Callable[[Subject], Iterable[Finding]]
    severity: Severity
    """Error: no cluster could run it as written. Warning: depends on something outside the files. Note: a fact."""
    stage: Stage
    """When the mistake shows. "apply" is an operator's webhook that reads other objects, which may exist already."""
    authority: Authority
