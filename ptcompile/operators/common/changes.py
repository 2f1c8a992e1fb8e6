"""What each release of an operator changed in what we write, as data: one row a change, with its source.

The rows are in each operator's `changes`. A target asks `there("runtime-patches", versions)`, and never compares
versions itself. "facts/trainer" is docs/facts/trainer.md, a page of the documentation.
"""

from __future__ import annotations

from functools import cache

from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.all import OPERATORS
from ptcompile.operators.record import resolve
from ptcompile.typed import NamedTuple


class Change(NamedTuple):
    """One thing that some releases have and others do not."""

    operator: str
    """A field of `Versions`."""
    since: Version
    """The first release that has it."""
    what: str
    source: str
    until: Version | None = None
    """The last release that has it; None where the newest does."""


@cache
def changes() -> dict[str, Change]:
    """The changes of all operators, by a name of ours. A row that no target asks for is there for people."""
    return {name: row for one in OPERATORS if one.changes for name, row in resolve(one.folder, one.changes).items()}


def there(name: str, versions: Versions) -> bool:
    """Whether the cluster's release has the change of this name.

    Raises:
        KeyError: there is no such row, which is a bug.
    """
    change = changes()[name]
    version: Version = getattr(versions, change.operator)
    return change.since <= version and (change.until is None or version <= change.until)
