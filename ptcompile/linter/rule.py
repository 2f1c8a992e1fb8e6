"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Authority, Fix, Path, Severity, Stage, field_path
from ptcompile.linter.subject import Subject


class Finding(NamedTuple):
    """One answer of a rule. The runner adds who says so, when, and how bad it is."""

    path: Path
    """From the root of the object; `on_key` means the last key of it and not its value."""
    message: str
    """One sentence that begins with the field's path, as the API server writes it."""
    help: str | None = None
    """How to fix it: lower case, imperative, no full stop."""
    fix: Fix | None = None
    on_key: bool = False
    severity: Severity | None = None
    """Where this answer is less certain, or more, than the rule's others."""


def found_at(
    path: Path,
    text: str,
    help: str | None = None,
    fix: Fix | None = None,
    *,
    on_key: bool = False,
    severity: Severity | None = None,
) -> Finding:
    """A finding whose message begins with the field's path, as most do."""
    return Finding(path, f"{field_path(path)}: {text}", help, fix, on_key, severity)


class Rule(NamedTuple):
    """One question, asked of an object that an API server would accept. The module's docstring is its page.

    The page has a title line, then the sections What, Why, Example, Fix and Source. The example is a diff with every
    line of both sides: those that begin with `-` are bad, those with `+` good. The bad line that the finding is
    reported at ends in `# <--`. Its words are in the table of its family (`ptcompile.linter`).
    """

    name: str
    """A key of `codes.CODES`; the module is called the same, with underscores."""
    check: Callable[[Subject], Iterable[Finding]]
    severity: Severity
    """Error: no cluster could run it as written. Warning: it hangs on something outside the files. Note: neither."""
    stage: Stage
    """When it shows. "apply" is an operator's webhook that looks at other objects, and so may be satisfied already."""
    authority: Authority
