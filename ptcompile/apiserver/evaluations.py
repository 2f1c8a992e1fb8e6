"""A bound on the work of schemas that users bring: how often their parts are evaluated in one call of `lint`.

A schema of m alternatives and a list of n items take m x n evaluations, and references can double them at each step.
The API server has time for that; a file of a stranger must not take ours. What is left unchecked is a finding.
"""

from __future__ import annotations

from contextvars import ContextVar

from ptcompile.diagnostics import Path, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ASK_SERVER: Final = "check with the API server: kubectl apply --dry-run=server"
"""The help where only the server knows."""
_IN_ALL: Final = 600_000
_PER_VALUE: Final = 20
"""Evaluations that each value of an object adds, so that a large file is checked like many small ones."""


def unchecked(path: Path, message: str, help: str = ASK_SERVER) -> Problem:
    """Return the warning that a definition was not applied, so that silence is not taken for approval."""
    return Problem("unread-rule", path, message, help, severity="warning", stage="style", authority="ptcompile")


class OutOfEvaluationsError(Exception):
    """The schemas of a call take more evaluations than they may."""


class Evaluations:
    """How many evaluations are left, and how deep they are; `ran_out` says that there were too few."""

    __slots__ = ("depth", "left", "ran_out")

    def __init__(self, left: int = _IN_ALL) -> None:
        self.left = left
        self.depth = 0
        self.ran_out = False

    def grant(self, values: int) -> None:
        """Add what some values of an object may take."""
        self.left = max(self.left, 0) + _PER_VALUE * values

    def spend(self, count: int) -> None:
        """Raises OutOfEvaluationsError when fewer are left."""
        self.left -= count
        if self.left < 0:
            self.ran_out = True
            raise OutOfEvaluationsError


_current: ContextVar[Evaluations | None] = ContextVar("_current", default=None)


def current() -> Evaluations:
    """Return those of the call that is running; new ones outside of any."""
    return _current.get() or Evaluations()


enter = _current.set
leave = _current.reset
