"""The harnesses by name, and how many of a run's executions are for each."""

from __future__ import annotations

from fuzz import harness, verbs

HARNESSES: dict[str, harness.Harness] = {
    "reader": harness.reader,
    "lint": harness.lint,
    "compile": harness.compile,
    "server": harness.server,
    "verbs": verbs.verbs,
    "secrets": verbs.secrets,
    "files": verbs.files,
}

SHARES: dict[str, float] = {"reader": 2, "lint": 2, "compile": 1.5, "server": 1, "verbs": 1.5, "secrets": 1, "files": 1}
"""Of ten."""
