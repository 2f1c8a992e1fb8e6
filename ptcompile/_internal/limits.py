"""How much is read and made of an input, trusted or not.

`SECURITY.md` has the same table for readers. `lower()` is for input of strangers (`--untrusted`).
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple

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


EXPANDED: Final = 1 << 17
"""Characters that references may put into a container's variables, into its command line, and into its script: 128 KiB
each, the longest string that Linux hands to a program (MAX_ARG_STRLEN, 4 KiB pages). Variables that name one another
twice double at each step, so 1 KB of manifest can stand for more than any machine holds."""


class Budget:
    """What is left of `EXPANDED`. The value that exceeds it stays as it is written, and so does every later one."""

    __slots__ = ("left", "refused")

    def __init__(self) -> None:
        self.left = EXPANDED
        self.refused: str | None = None
        """The first value that did not fit, as it is written."""

    def allows(self, size: int, written: str) -> bool:
        """Whether a reference in `written` may be replaced by so many characters."""
        self.left -= size
        if self.left >= 0:
            return True
        if self.refused is None:
            self.refused = written
        return False
