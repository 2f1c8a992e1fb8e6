"""Checks that are imported when a manifest first has what they check: few pods have every field."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def later(reference: str) -> Callable[..., None]:
    """The check `module:name` of this package, imported when it is first called."""

    def check(*given: Any) -> None:
        _resolved(reference)(*given)

    return check


@cache
def _resolved(reference: str) -> Callable[..., None]:
    module, _, name = reference.partition(":")
    found: Callable[..., None] = getattr(import_module(f"ptcompile.validate.core.{module}"), name)
    return found
