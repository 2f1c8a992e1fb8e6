"""JobSet's webhook on updates (JobSet 0.12 `pkg/webhooks/jobset_webhook.go`)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.operators.record import Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_VALUE: Final = "Value is immutable"
FIXED_FIELDS: Final = (
    "failurePolicy",
    "network",
    "startupPolicy",
    "successPolicy",
    "volumeClaimPolicies",
    "replicatedJobs.*.dependsOn",
)
"""Of a JobSet's spec, which a runtime holds too."""

FIXED: Final = tuple((f"spec.{path}", _VALUE) for path in FIXED_FIELDS)
"""What the CRD makes immutable (JobSet 0.12)."""

_STEERING: Final = (
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "nodeSelector"),
    ("spec", "tolerations"),
    ("spec", "schedulingGates"),
)
"""What of a pod template may change while the JobSet is suspended, and comes to the child Jobs when it is resumed."""

_TEMPLATE: Final = ("template", "spec", "template")
_ANEW: Final = "delete the JobSet and apply again, or give it another name for each run"


def check(update: Update) -> Iterator[Problem]:
    """What the webhook answers to a change; what differs is `update.touched`."""
    suspended = at(update.old, "spec").get("suspend") is True
    if update.versions.jobset >= (0, 8):
        suspended = suspended or at(update.new, "spec").get("suspend") is True
    for path in update.touched:
        if path[:2] == ("spec", "managedBy"):
            yield _refused(("spec", "managedBy"), "remove the change: the manager of a JobSet is set once")
        if path[:2] == ("spec", "replicatedJobs") and not (suspended and _steers(path[3:])):
            yield _refused(("spec", "replicatedJobs"), _ANEW)
            return


def _steers(path: tuple[str, ...]) -> bool:
    inner = path[len(_TEMPLATE) :]
    return path[: len(_TEMPLATE)] == _TEMPLATE and any(inner[: len(steps)] == steps for steps in _STEERING)


def _refused(path: tuple[str, ...], help: str) -> Problem:
    message = f"{'.'.join(path)}: Invalid value: field is immutable"
    return Problem("webhook-refusal", path, message, help, authority="jobset")
