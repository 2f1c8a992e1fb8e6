"""The harnesses by name, and how many of a run's executions are for each."""

from __future__ import annotations

from fuzz import definitions, engine, harness, schemas, scripts, tree, verbs

HARNESSES: dict[str, harness.Harness] = {
    "reader": harness.reader,
    "lint": harness.lint,
    "compile": harness.compile,
    "server": harness.server,
    "verbs": verbs.verbs,
    "secrets": verbs.secrets,
    "files": verbs.files,
    "definitions": definitions.definitions,
    "tree": tree.tree,
    "scripts": scripts.scripts,
    "logs": verbs.logs,
    "batch": scripts.batch,
    "baseline": verbs.baseline,
    "dumps": verbs.dumps,
}

GRAMMARS: dict[str, engine.Make] = {
    "definitions": schemas.stream,
    "tree": tree.make,
    "scripts": scripts.make,
}
"""Of harnesses whose inputs are mostly made from nothing; the others' are all changed seeds."""

SHARES: dict[str, float] = {
    "reader": 1.5, "lint": 1.5, "compile": 1, "server": 1, "verbs": 1.5, "secrets": 0.5, "files": 0.5,
    "definitions": 1.5, "tree": 0.5, "scripts": 1, "logs": 0.25, "batch": 0.25,
    "baseline": 0.5, "dumps": 0.5,
}  # fmt: skip
"""Of twelve."""
