"""The pod templates of a Volcano Job: one a task (Volcano 1.16)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at, integer, text
from ptcompile.operators.common.templates import Template, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def of(manifest: Json) -> Iterator[Template]:
    """The templates of the tasks; a task without a name is called `default` and its index."""
    for i, task in listed(at(manifest, "spec").get("tasks")):
        name = text(task.get("name")) or f"default{i}"
        yield Template(("spec", "tasks", i, "template"), task.get("template"), name, integer(task.get("replicas")))
