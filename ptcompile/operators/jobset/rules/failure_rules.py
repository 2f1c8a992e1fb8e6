"""When a rule of a JobSet's failure policy matches."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

_CONDITIONS = ("onJobFailureReasons", "onJobFailureMessagePatterns", "targetReplicatedJobs")


def unconditional(rule: Json) -> bool:
    """Whether it answers to every failure (JobSet 0.12: an empty list is no condition)."""
    return not any(rule.get(condition) for condition in _CONDITIONS)
