"""Trainer's webhook on updates (Trainer 2.0 to 2.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.operators.jobset.update import FIXED_FIELDS
from ptcompile.operators.record import Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_POD: Final = "runtimePatches.*.trainingRuntimeSpec.template.spec.replicatedJobs.*.template.spec.template.spec"
FIXED: Final = tuple(
    (f"spec.{path}", "field is immutable")
    for path in (
        "runtimeRef",
        "initializer",
        "trainer",
        "activeDeadlineSeconds",
        "managedBy",
        f"{_POD}.serviceAccountName",
        f"{_POD}.volumes",
        f"{_POD}.initContainers",
        f"{_POD}.containers",
        f"{_POD}.imagePullSecrets",
        f"{_POD}.securityContext",
        f"{_POD}.terminationGracePeriodSeconds",
    )
)
"""What the CRD of TrainJob makes immutable (Trainer 2.3)."""

FIXED_IN_RUNTIMES: Final = tuple((f"spec.template.spec.{path}", "Value is immutable") for path in FIXED_FIELDS)
"""What the CRDs of runtimes make immutable: they hold a JobSet's spec."""


def later_jobs(_old: Mapping[str, Any]) -> tuple[tuple[tuple[str, ...], str], ...]:
    """What running jobs do not see of a change of their runtime."""
    return ((("spec",), "running TrainJobs stay as they are; it applies to the next ones"),)


_PATCHES: Final = {
    "podSpecOverrides": "PodSpecOverrides",
    "podTemplateOverrides": "PodTemplateOverrides",
    "runtimePatches": "RuntimePatches",
}
"""The field of each release, newest last, and what the webhook calls it."""


def check(update: Update) -> Iterator[Problem]:
    """What the webhook answers to a change; what differs is `update.touched`."""
    before, after = (at(one, "spec").get("suspend") is True for one in (update.old, update.new))
    if before or (after and update.versions.trainer >= (2, 3)):
        return
    for path in update.touched:
        name = path[1] if path[:1] == ("spec",) and len(path) > 1 else ""
        if name in _PATCHES:
            when = "before or after the update" if update.versions.trainer >= (2, 3) else ""
            text = (
                f"spec.{name}: Forbidden: {_PATCHES[name]} can only be modified when the TrainJob is suspended {when}"
            )
            help = "suspend the TrainJob first (spec.suspend: true), or give it another name for each run"
            yield Problem("webhook-refusal", ("spec", name), text.rstrip(), help, authority="trainer")
            return
