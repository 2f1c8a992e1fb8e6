"""A limit on the evaluation of users' schemas: how often their parts are evaluated in one call of
`lint`.

A schema with m alternatives and a list of n items take m x n evaluations, and each reference can
double them. The API server can afford that, but an untrusted file must not block `lint`. Unchecked
parts are reported as a finding.
"""

from __future__ import annotations

from contextvars import ContextVar

from ptcompile.diagnostics import Path, Problem

ASK_SERVER = "check with the API server: kubectl apply --dry-run=server"
"""Help if only the server can tell."""
EVALUATIONS_PER_CALL = 600_000
_EVALUATIONS_PER_VALUE = 20
"""Evaluations that each value of an object adds, so a large file gets as many as the same
objects in small files.
"""


def unchecked_problem(path: Path, message: str, help: str = ASK_SERVER) -> Problem:
    """Return the warning that a definition was not applied, so a missing finding does not imply
    that the object is valid.
    """
    return Problem(
        "unread-rule", path, message, help, severity="warning", stage="style", authority="ptcompile"
    )


class OutOfEvaluationsError(Exception):
    """Raised when a call's schemas need more evaluations than are left."""


class Evaluations:
    """Number of evaluations left and their current depth; `ran_out` is set when they were too
    few.
    """

    __slots__ = ("depth", "ran_out", "remaining")

    def __init__(self, remaining: int = EVALUATIONS_PER_CALL) -> None:
        self.remaining = remaining
        self.depth = 0
        self.ran_out = False

    def grant(self, values: int) -> None:
        """Add the evaluations for this number of values."""
        self.remaining = max(self.remaining, 0) + _EVALUATIONS_PER_VALUE * values

    def spend(self, count: int) -> None:
        """Subtract evaluations. Raises OutOfEvaluationsError if fewer are left."""
        self.remaining -= count
        if self.remaining < 0:
            self.ran_out = True
            raise OutOfEvaluationsError


_current: ContextVar[Evaluations | None] = ContextVar("_current", default=None)


def current_evaluations() -> Evaluations:
    """Return the evaluations of the running call, or new ones outside a call."""
    return _current.get() or Evaluations()


enter = _current.set
leave = _current.reset
