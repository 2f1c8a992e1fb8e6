"""How much is written out of what references stand for: `$(X)` in a pod, `$X` in a script.

Variables that name one another twice double at each step: 1 KB of manifest can stand for more than any machine holds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

EXPANDED: Final = 1 << 17
"""Characters that references may put into a container's variables, into its command line, and into its script: 128 KiB
each, the longest string that Linux hands to a program (MAX_ARG_STRLEN, 4 KiB pages)."""


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
