"""What happens when a pod of a batch/v1 Job fails and when the Job ends (the Job controller of Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.untyped import at, integer, items, text
from ptcompile.operators.common.failure import limits, pod_restart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a Job."""
    yield from of_spec(at(manifest, "spec"), "Never")


def of_spec(spec: Json, restart: str) -> Iterator[str]:
    """The sentences for a Job's spec; `restart` is the restartPolicy of pods that name none."""
    template = at(spec, "template", "spec")
    yield pod_restart(template, restart)
    if spec.get("backoffLimitPerIndex") is not None:
        yield f"backoffLimitPerIndex {spec.get('backoffLimitPerIndex')}: retries of each index"
    else:
        limit = integer(spec.get("backoffLimit"), 6)
        yield (
            "backoffLimit 0: the first failure fails the Job"
            if limit == 0
            else f"backoffLimit {limit}: that many failures are retried, then the Job fails; only the failed pod is "
            "recreated"
        )
    yield from _job_rules(items(at(spec, "podFailurePolicy").get("rules")))
    for rule in items(at(spec, "successPolicy").get("rules"))[:1]:
        indexes = text(rule.get("succeededIndexes"))
        yield f"successPolicy: done when index {indexes} succeeds" if indexes else "successPolicy: done by count"
    yield from limits(spec, "the Job")


_LOST: dict[str, str] = {
    "Ignore": "the pod is recreated and not counted",
    "Count": "the pod counts as failed",
    "FailJob": "the Job fails",
    "FailIndex": "the pod's index fails",
}
"""A Job's actions where a node goes, which is the pod condition DisruptionTarget (Kubernetes 1.36)."""


def _job_rules(rules: list[Json]) -> Iterator[str]:
    if rules:
        actions = ", ".join(text(rule.get("action")) for rule in rules)
        yield f"podFailurePolicy: the first rule that matches decides ({actions})"
    action = next((text(rule.get("action")) for rule in rules if _is_of_disruption(rule)), "Count")
    yield f"a lost node: {_LOST.get(action, 'unknown action')}"


def _is_of_disruption(rule: Json) -> bool:
    conditions = items(rule.get("onPodConditions"))
    return any(
        one.get("type") == "DisruptionTarget" and (text(one.get("status")) or "True") == "True" for one in conditions
    )
