"""One warning of the API server as a problem."""

from __future__ import annotations

from functools import partial

from ptcompile.diagnostics import Path, Problem, problem_at

warning = partial(problem_at, severity="warning", stage="style")
"""Makes a warning of the header's text. `field` is the server's own notation of the path, or ""
for no field.
"""


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
