"""Numbers that may be written as a percentage: `maxUnavailable: 25%`."""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.validate.core import found as f

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PERCENT = Pattern(r"[0-9]+%").fullmatch


def amount_of(value: Any) -> int:
    """The number, of a percentage too; 0 for what is neither."""
    if type(value) is int:
        return value
    return int(value[:-1]) if type(value) is str and _PERCENT(value) else 0


def check_amount_or_percent(value: Any, path: Path, found: f.Found, *, most: bool = True) -> None:
    """A number of 0 or more, or a percentage; `most`: of 100 % at most."""
    if type(value) is int:
        f.check_not_negative(found, path, value)
    elif type(value) is str:
        if not _PERCENT(value):
            why = "a valid percent string must be a numeric string followed by an ending '%'"
            f.invalid(found, path, value, why, "write a number, or one with a % such as 25%, in quotes")
        elif most and int(value[:-1]) > 100:
            f.invalid(found, path, value, "must not be greater than 100%", "use 100% or less")
