"""Jobs of so many tasks that their pods are not simulated."""

from __future__ import annotations

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.limits import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def too_wide(manifest: Json) -> Problem | None:
    """The finding that the pods would name each other in too many ways: the square of the tasks is written out."""
    tasks, most = at(manifest, "spec").get("tasks"), limits().roles
    if not (isinstance(tasks, list) and len(tasks) > most and "svc" in at(manifest, "spec", "plugins")):
        return None
    message = f"spec.tasks: more than {most} tasks whose pods are told the hosts of all: its pods are not simulated"
    help = "merge tasks that are alike, or remove the plugin svc"
    return Problem("too-large", ("spec", "tasks"), message, help, "warning", "run", "ptcompile")
