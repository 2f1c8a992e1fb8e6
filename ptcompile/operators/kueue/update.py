"""Kueue's webhook on updates of jobs that it manages (Kueue 0.11 to 0.19 `ValidateJobOnUpdate`)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.marks import PREFIX, QUEUE
from ptcompile.operators.record import Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

PRIORITY: Final = f"{PREFIX}priority-class"
SECONDS: Final = f"{PREFIX}max-exec-time-seconds"

SUSPENDS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("batch", "Job"): ("spec",),
    ("jobset.x-k8s.io", "JobSet"): ("spec",),
    ("kubeflow.org", "MPIJob"): ("spec", "runPolicy"),
    ("kubeflow.org", "PyTorchJob"): ("spec", "runPolicy"),
    ("ray.io", "RayCluster"): ("spec",),
    ("ray.io", "RayJob"): ("spec",),
    ("trainer.kubeflow.org", "TrainJob"): ("spec",),
}
"""Where the kinds that Kueue manages have `suspend`."""


def kueue_update(update: Update, kind: tuple[str, str]) -> Iterator[Problem]:
    """What the webhook answers to a change of Kueue's labels on a job."""
    if kind not in SUSPENDS:
        return
    labels, were = (at(one, "metadata", "labels") for one in (update.new, update.old))
    after, before = (at(one, *SUSPENDS[kind]).get("suspend") is True for one in (update.new, update.old))
    if were.get(QUEUE) and labels.get(QUEUE) != were[QUEUE] and not after:
        yield _fixed(QUEUE, "suspend the job in the same apply, or delete it first")
    if were.get(PRIORITY) != labels.get(PRIORITY):
        yield from _priority(were.get(PRIORITY), labels.get(PRIORITY), after, update.versions)
    if were.get(SECONDS) != labels.get(SECONDS) and not (before and after):
        yield _fixed(SECONDS, "suspend the job first")


def _priority(was: Any, wanted: Any, suspended: bool, versions: Versions) -> Iterator[Problem]:
    if versions.kueue < (0, 12) or (versions.kueue < (0, 15) and not suspended):
        yield _fixed(PRIORITY, "delete the job and apply again")
    elif versions.kueue >= (0, 15) and not wanted:
        yield _told(PRIORITY, "WorkloadPriorityClass cannot be removed from a workload", "name another class")
    elif versions.kueue >= (0, 15) and not was and not suspended:
        why = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        yield _told(PRIORITY, why, "suspend the job in the same apply")


def _fixed(label: str, help: str) -> Problem:
    return _told(label, "field is immutable", help)


def _told(label: str, why: str, help: str) -> Problem:
    message = f"metadata.labels[{label}]: Invalid value: {why}"
    return Problem("webhook-refusal", ("metadata", "labels", label), message, help, authority="kueue")
