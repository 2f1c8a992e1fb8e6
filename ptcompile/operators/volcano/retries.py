"""Whether a Volcano Job starts its pods again, for the rules of lint (Volcano 1.16)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.templates import Template

_AGAIN = frozenset({"RestartJob", "RestartTask", "RestartPod", "RestartPartition"})


def recreated(manifest: Json, template: Template) -> bool:
    """Whether a lost pod of a task is recreated."""
    spec = at(manifest, "spec")
    parts = (spec, *items(spec.get("tasks")))
    policies = [one for part in parts for one in items(part.get("policies"))]
    return (
        any(one.get("action") in _AGAIN for one in policies)
        or at(template.template, "spec").get("restartPolicy") == "OnFailure"
    )
