"""Limits on what is read and produced per input, trusted or not.

`SECURITY.md` has the same table for users. `lower()` is for untrusted input (`--untrusted`).
"""

from __future__ import annotations

from contextvars import ContextVar

from ptcompile._internal.namedtuple import NamedTuple


class Limits(NamedTuple):
    """Limits per file, or per text that is passed as one source."""

    characters: int = 64 * 1024 * 1024
    """Characters or bytes."""
    lines: int = 4_000_000
    documents: int = 10_000
    """Documents, including empty ones."""
    findings: int = 10_000
    """Reported findings per file."""
    roles: int = 256
    """Roles of a spec; tasks of a Volcano Job whose plugin svc tells each pod the hosts of every
    task.
    """
    variants: int = 256
    """Jobs that the variants of one spec stand for."""
    comments: int = 4_000
    """Names in comments such as `# ptcompile: ignore[PTC302]`."""
    page: int = 2_500
    """Values and lines of text in a spec and its profile that a page can explain, at about 4 ms
    each.
    """


TRUSTED = Limits()
UNTRUSTED = Limits(
    characters=8 * 1024 * 1024,
    lines=400_000,
    documents=2_000,
    findings=2_000,
    roles=64,
    variants=32,
    comments=500,
    page=500,
)

_in_force: list[Limits] = [TRUSTED]
while_fixing: ContextVar[Limits | None] = ContextVar("while_fixing", default=None)
"""The limits in the rounds of a fix, in place of those in force."""


def limits() -> Limits:
    """Return the limits in force."""
    return while_fixing.get() or _in_force[0]


def lower() -> None:
    """Apply the limits for untrusted input for the rest of this process."""
    _in_force[0] = UNTRUSTED


MAX_SECONDS = 1e6
"""Limit of a deadline, as timers have one."""
UNTRUSTED_SECONDS = 120.0
"""Seconds after which a run on untrusted input ends; the largest input within the limits takes
about a tenth of it.
"""
UNTRUSTED_BYTES = 4 << 30
"""Address space of such a run, which is several times the memory that it uses."""


class NotFinishedError(BaseException):
    """Raised where the deadline interrupts a run. It is no `Exception`: code that survives any
    mistake must end too.
    """


EXPANDED = 1 << 17
"""Maximum number of characters that references may put into a container's variables, its command
line and its script.

128 KiB each: the longest string that Linux passes to a program (MAX_ARG_STRLEN with 4 KiB pages).
Variables that refer to each other twice double at each step, so 1 KB of manifest can stand for more
than any machine holds.
"""


class Budget:
    """The characters that references may still expand to, `EXPANDED` at first. The value that
    exceeds it is left unexpanded, and so is every later one.
    """

    __slots__ = ("left", "refused")

    def __init__(self) -> None:
        self.left = EXPANDED
        self.refused: str | None = None
        """The first value that did not fit, as it is written."""

    def allows(self, size: int, written: str) -> bool:
        """Return whether a reference in `written` may be replaced by `size` characters."""
        self.left -= size
        if self.left >= 0:
            return True
        if self.refused is None:
            self.refused = written
        return False
