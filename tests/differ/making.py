"""Minimal manifests and difference helpers for diff tests."""

from __future__ import annotations

from typing import Any

import ptcompile
from ptcompile.differ import Change, Difference, ObjectDifference


def pod(container: dict[str, Any] | None = None, *, name: str = "a", **spec: Any) -> dict[str, Any]:
    """Return a Pod with one container."""
    body = {"containers": [{"name": "c", "image": "i:1", **(container or {})}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": body}


def job(
    container: dict[str, Any] | None = None, *, pods: int = 2, name: str = "a", **spec: Any
) -> dict[str, Any]:
    """Return an Indexed Job with one container."""
    template = {"spec": {"restartPolicy": "Never", **pod(container)["spec"]}}
    counts = {"completionMode": "Indexed", "completions": pods, "parallelism": pods}
    body = {**counts, "template": template, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": body}


def only(a: Any, b: Any) -> ObjectDifference:
    """Return the difference of the only pair of objects."""
    difference: Difference = ptcompile.diff(a, b)
    assert difference.ok, difference.diagnostics
    assert len(difference.objects) == 1
    return difference.objects[0]


def lines(a: Any, b: Any) -> list[str]:
    """Return the changed paths as text, one line per change."""
    return [line(change) for change in only(a, b).changes]


def line(change: Change) -> str:
    """Return a change as the text report shows it."""
    from ptcompile.differ.text import change_line

    return change_line(change)


def facts(a: Any, b: Any) -> list[tuple[str, str, str | None, str | None]]:
    """Return the differences between the simulated worlds."""
    return [(fact.subject, fact.what, fact.before, fact.after) for fact in only(a, b).facts]
