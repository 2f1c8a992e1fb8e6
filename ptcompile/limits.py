"""The one budget: how much is read of an input, and how much is made of it. Above a limit stands a finding `too-large`.

`SECURITY.md` has the same table for readers. `lower()` is for input of strangers (`--untrusted`).
"""

from __future__ import annotations

from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Limits(NamedTuple):
    """Limits for one file, or for what is given as one text."""

    characters: int = 64 * 1024 * 1024
    """Characters or bytes."""
    lines: int = 4_000_000
    documents: int = 10_000
    """Documents, empty ones included."""
    findings: int = 10_000
    """Findings that are reported of a file."""
    roles: int = 256
    """Roles of a spec; tasks of a Volcano Job with the plugin svc, which tells each pod the hosts of every task."""
    comments: int = 4_000
    """Names in comments such as `# ptcompile: ignore[PTC302]`."""
    page: int = 2_500
    """Values and lines of texts in a spec and its profile that a page explains: about 4 ms each."""


TRUSTED: Final = Limits()
UNTRUSTED: Final = Limits(
    characters=8 * 1024 * 1024, lines=400_000, documents=2_000, findings=2_000, roles=64, comments=500, page=500
)

_in_force: list[Limits] = [TRUSTED]


def limits() -> Limits:
    """The limits in force."""
    return _in_force[0]


def lower() -> None:
    """Put the limits for input of strangers in force, for the rest of this process."""
    _in_force[0] = UNTRUSTED
