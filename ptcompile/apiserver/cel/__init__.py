"""CEL expressions within a budget, evaluated by an interpreter, because no Python runtime limits
the work of an expression.

An expression pays for each step and each character that it produces, as on the API server, which
stops an expression at a million units. Loaded when a rule is first evaluated.
"""

from __future__ import annotations

from functools import lru_cache

from ptcompile.apiserver.cel.evaluation import UnknownNameError, compile_tree
from ptcompile.apiserver.cel.library import UncheckedError
from ptcompile.apiserver.cel.syntax import CelSyntaxError, parse
from ptcompile.apiserver.cel.values import CelError, CostError
from ptcompile.kubernetes.unstructured import Json, values_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.cel.evaluation import Run
    from ptcompile.apiserver.cel.values import StepBudget

__all__ = ["CelError", "CostError", "UncheckedError", "evaluate", "fresh_budget", "why_invalid"]

STEPS_PER_CALL_MAX = 1_000_000
"""Maximum steps of one evaluation: `PerCallLimit` of the API server (apiserver
`pkg/apis/cel/config.go`).
"""
_MIN_STEPS = 10_000
_STEPS_PER_VALUE = 100
"""Steps per value of an object, so the run time grows linearly with the input."""
_STEPS_PER_EVALUATION = 5
"""Fixed cost of an evaluation in steps."""


def fresh_budget(value: Any) -> StepBudget:
    """Return the budget of one object's rules."""
    return [_MIN_STEPS + _STEPS_PER_VALUE * _count_values(value)]


def _count_values(value: Any) -> int:
    """Count the values of an object; a long text counts as several."""
    return sum(1 + len(node) // 50 if isinstance(node, str) else 1 for node in values_in(value))


def evaluate(text: str, names: Json, budget: StepBudget) -> Any:
    """Return the value of an expression. It may use half of the budget, so one rule cannot prevent
    the others from running.

    Raises CelError if it fails, CostError if it costs too much, and UncheckedError if it is not
    supported.
    """
    program = _program(text, frozenset(names))
    share = min(budget[0] // 2, STEPS_PER_CALL_MAX)
    remaining = [share - _STEPS_PER_EVALUATION]
    try:
        return program({**names, "": remaining})
    except RecursionError:
        raise UncheckedError("the expression is nested too deeply") from None
    finally:
        budget[0] -= share - max(remaining[0], 0)


def why_invalid(text: str, names: frozenset[str]) -> str | None:
    """Return why an expression is invalid for any values, or None."""
    try:
        _program(text, names)
    except UncheckedError as error:
        return str(error)
    return None


@lru_cache(maxsize=1024)
def _program(text: str, names: frozenset[str]) -> Run:
    try:
        return compile_tree(parse(text), names)
    except (CelSyntaxError, UnknownNameError) as error:
        raise UncheckedError(str(error)) from None
    except RecursionError:
        raise UncheckedError("the expression is nested too deeply") from None
