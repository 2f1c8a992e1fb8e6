"""Volcano's webhook on updates (Volcano 1.8 to 1.16 `validateJobUpdate`)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.operators.record import Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_WHY: Final = (
    "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` "
    "and `PriorityClassName`"
)
_FREE: Final = ("minAvailable", "priorityClassName")
_FREE_OF_TASKS: Final = ("replicas", "minAvailable")


def check(update: Update) -> Iterator[Problem]:
    """What the webhook answers to a change; what differs is `update.touched`."""
    help = "delete the job and apply again, or give it another name for each run"
    before, after = (at(one, "spec").get("tasks") for one in (update.old, update.new))
    if isinstance(before, list) and isinstance(after, list) and len(before) != len(after):
        yield Problem(
            "webhook-refusal", ("spec", "tasks"), "job updates may not add or remove tasks", help, authority="volcano"
        )
        return
    for path in update.touched:
        if path[:1] != ("spec",) or path[1:2] in tuple((name,) for name in _FREE):
            continue
        if path[1:2] == ("tasks",) and path[3:4] in tuple((name,) for name in _FREE_OF_TASKS):
            continue
        yield Problem("webhook-refusal", ("spec",), f"spec: {_WHY}", help, authority="volcano")
        return
