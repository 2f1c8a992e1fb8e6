"""One warning of the API server as a problem."""

from __future__ import annotations

from ptcompile.diagnostics import Path, Problem, field_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics.terms import Stage


def warning(
    name: str, path: Path, text: str, help: str, *, stage: Stage = "style", field: str | None = None
) -> Problem:
    """Return a warning whose message is the header's text. `field` is the server's own notation of the path, or "" if
    the header names no field.
    """
    place = field_path(path) if field is None else field
    return Problem(name, path, f"{place}: {text}" if place else text, help, "warning", stage)


def ignored(path: Path, text: str, help: str, *, field: str | None = None) -> Problem:
    """Return the warning that a field has no effect, or another effect than its value says."""
    return warning("ignored-field", path, text, help, stage="run", field=field)


def repeated(path: Path, text: str, help: str, *, field: str | None = None) -> Problem:
    """Return the warning that an entry of a list repeats another one."""
    return warning("repeated-entry", path, text, help, field=field)


def deprecated(path: Path, text: str, help: str, *, field: str | None = None) -> Problem:
    """Return the warning that a field or a value is deprecated, or that it no longer works."""
    if "non-functional" in text or "disabled" in text:
        return ignored(path, text, help, field=field)
    return warning("deprecated-field", path, text, help, field=field)
