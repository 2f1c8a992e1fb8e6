"""Problems of updates, in the server's words, with what to do instead."""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.validate.core.found import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

ANEW: Final = "delete the object and apply again (kubectl replace --force), or give it another name"


def fixed(path: Path, value: Any = None, help: str = ANEW, why: str = "field is immutable") -> Problem:
    """A field that may not change."""
    shown = "" if value is None else f"{show(value)}: "
    return Problem("invalid-value", path, f"{field_path(path)}: Invalid value: {shown}{why}", help)


def forbidden(path: Path, why: str, help: str = ANEW) -> Problem:
    """A change that is not allowed."""
    return Problem("forbidden-value", path, f"{field_path(path)}: Forbidden: {why}", help)
