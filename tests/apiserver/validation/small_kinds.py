"""Helpers of the tests of built-in kinds: a valid object, one change, and the server's message."""

from __future__ import annotations

import copy
from typing import Any

import ptcompile
from ptcompile.apiserver import validate
from ptcompile.kubernetes.versions import Versions, parse_version
from tests.differ.applying.test_updates import changed

Json = dict[str, Any]
Row = tuple[str, str, Any, str]
"""Name of the valid object, dotted path, new value (None removes the field), and the start of the server's message.

The message is empty if the server accepts the change.
"""


def kind(api_version: str, name: str, **body: Any) -> Json:
    """Return an object of a kind."""
    return {"apiVersion": api_version, "kind": name, "metadata": {"name": "a"}, **body}


def messages(manifest: Json, kubernetes: str = "1.36") -> list[str]:
    """Return the messages of the field rules, and check that the object stays the same and each finding has a help."""
    before = copy.deepcopy(manifest)
    problems = validate(manifest, versions=Versions(kubernetes=parse_version(kubernetes)))
    assert manifest == before
    assert all(problem.help for problem in problems)
    return [problem.message for problem in problems]


def check_row(good: dict[str, Json], row: Row) -> None:
    """Check that the changed object gets the message of a row, or none."""
    name, path, value, expected = row
    reported = messages(changed(good[name], path, value))
    if expected:
        assert any(message.startswith(expected) for message in reported), (row, reported)
    else:
        assert reported == [], row


def rejected_fields(good: Json, path: str, value: Any) -> list[str]:
    """Return the fields of which the server rejects an update that changes one field."""
    report = ptcompile.diff(good, changed(good, path, value))
    errors = [d for d in report.diagnostics if d.stage == "apply" and d.severity == "error"]
    return [error.message.partition(": ")[0] for error in errors]
