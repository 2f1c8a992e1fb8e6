"""Job over an update (Kubernetes 1.30 to 1.37 `ValidateJobSpecUpdate`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diffing.applying.told import ANEW, fixed
from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.operators.record import Update

_FIXED: Final = (
    "selector",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_STEERING: Final = (
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "nodeSelector"),
    ("spec", "tolerations"),
    ("spec", "schedulingGates"),
    ("spec", "affinity", "nodeAffinity"),
)
"""What of a suspended Job's template may change."""

_TEMPLATE: Final = ("spec", "template")
_SUSPENDED: Final = "suspend the Job before it starts to change where its pods run, or give each run a name of its own"


def job_update(update: Update) -> Iterator[Problem]:
    """A Job: its template changes only while it is suspended and has not run."""
    for name in _FIXED:
        if update.under("spec", name):
            yield fixed(("spec", name), at(update.new, "spec").get(name))
    yield from _completions(update)
    free = _free(update)
    for path in update.under(*_TEMPLATE):
        if not any(_begins(path[2:], steps) for steps in free):
            inner = "spec" in path[2:3] and _resources() in free
            yield fixed((*_TEMPLATE, "spec") if inner else _TEMPLATE, None, _SUSPENDED if free else ANEW)
            return


def _free(update: Update) -> list[tuple[str, ...]]:
    """The paths inside the template that may change."""
    spec, status = at(update.old, "spec"), at(update.old, "status")
    if spec.get("suspend") is not True or not _at_rest(status, update.versions.kubernetes):
        return []
    if update.versions.kubernetes < (1, 36):
        return list(_STEERING)
    return [*_STEERING, _resources(), ("spec", "initContainers", "*", "resources")]


def _resources() -> tuple[str, ...]:
    return ("spec", "containers", "*", "resources")


def _at_rest(status: Mapping[str, Any], kubernetes: tuple[int, int]) -> bool:
    """Whether a suspended Job has no pods: until 1.35 it must never have started, later it may have stopped."""
    if status.get("startTime") is None:
        return True
    conditions = status.get("conditions")
    stopped = any(
        isinstance(one, Mapping) and one.get("type") == "Suspended" and one.get("status") == "True"
        for one in (conditions if isinstance(conditions, list) else ())
    )
    return kubernetes >= (1, 36) and stopped and not status.get("active")


def _begins(path: tuple[str, ...], steps: tuple[str, ...]) -> bool:
    return len(path) >= len(steps) and all(step in ("*", part) for step, part in zip(steps, path, strict=False))


def _completions(update: Update) -> Iterator[Problem]:
    if not update.under("spec", "completions"):
        return
    spec, here = at(update.new, "spec"), ("spec", "completions")
    wanted: Any = spec.get("completions")
    if spec.get("completionMode") != "Indexed":
        yield fixed(here, wanted)
    elif wanted is not None and wanted != spec.get("parallelism"):
        help = "set parallelism to the same number; running pods keep the old number of pods"
        yield fixed(here, wanted, help, "can only be modified in tandem with spec.parallelism")
