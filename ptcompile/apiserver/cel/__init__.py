"""CEL expressions within a budget: an interpreter, since no runtime for Python bounds what an expression takes.

An expression pays for every step and for every character it makes, as on the API server, which stops an expression at a
million units. Loaded when a rule is first evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ptcompile.apiserver.cel.evaluation import UnknownNameError, compiled
from ptcompile.apiserver.cel.library import UncheckedError
from ptcompile.apiserver.cel.syntax import CelSyntaxError, parse
from ptcompile.apiserver.cel.values import CelError, CostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.cel.evaluation import Run
    from ptcompile.apiserver.cel.values import StepBudget

__all__ = ["CelError", "CostError", "UncheckedError", "checked", "evaluate", "fresh_budget"]

PER_CALL: Final = 1_000_000
"""Steps of one evaluation: `PerCallLimit` of the API server (apiserver `pkg/apis/cel/config.go`)."""
_LEAST: Final = 10_000
_PER_VALUE: Final = 100
"""Steps for each value of an object, so that the time of a run grows as the size of its input."""
_OVERHEAD: Final = 5
"""Steps that an evaluation costs by itself."""


def fresh_budget(value: Any) -> StepBudget:
    """Return the budget of one object's rules."""
    return [_LEAST + _PER_VALUE * _count(value)]


def _count(value: Any) -> int:
    """Count the values of an object, a long text as several."""
    total, left = 0, [value]
    while left:
        one = left.pop()
        total += 1
        if isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, list):
            left += one
        elif isinstance(one, str):
            total += len(one) // 50
    return total


def evaluate(text: str, names: Mapping[str, Any], budget: StepBudget) -> Any:
    """Return the value of an expression. It may take half of the budget, so that one rule does not hide the others.

    Raises CelError if it fails, CostError if it takes too much, and UncheckedError if it cannot be evaluated here.
    """
    program = _program(text, frozenset(names))
    given = min(budget[0] // 2, PER_CALL)
    own = [given - _OVERHEAD]
    try:
        return program({**names, "": own})
    except RecursionError:
        raise UncheckedError("the expression is nested too deeply") from None
    finally:
        budget[0] -= given - max(own[0], 0)


def checked(text: str, names: frozenset[str]) -> str | None:
    """Return what is wrong with an expression as such, or None."""
    try:
        _program(text, names)
    except UncheckedError as error:
        return str(error)
    return None


@lru_cache(maxsize=1024)
def _program(text: str, names: frozenset[str]) -> Run:
    try:
        return compiled(parse(text), names)
    except (CelSyntaxError, UnknownNameError) as error:
        raise UncheckedError(str(error)) from None
    except RecursionError:
        raise UncheckedError("the expression is nested too deeply") from None
