"""What happens when a Job of a JobSet fails and when the JobSet ends (JobSet 0.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.untyped import at, integer, items, mapping, text, texts
from ptcompile.operators.batch.failure import of_spec as of_job
from ptcompile.operators.common.failure import limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a JobSet."""
    yield from of_spec(at(manifest, "spec"))


def of_spec(spec: Json) -> Iterator[str]:
    """The sentences for a JobSet's spec, wherever it stands."""
    for replicated in items(spec.get("replicatedJobs")):
        name = text(replicated.get("name"))
        yield from (f"{name}: {one}" for one in of_job(at(replicated, "template", "spec"), "OnFailure"))
    policy = spec.get("failurePolicy")
    if policy is None:
        yield "no failurePolicy: the first Job that fails fails the JobSet"
    else:
        rules = "; ".join(_rule(rule) for rule in items(mapping(policy).get("rules")))
        limit = integer(mapping(policy).get("maxRestarts"))
        again = f"starts all Jobs again, at most {limit} times" if limit else "fails the JobSet"
        yield f"failurePolicy: a failed Job {again}" + (f"; rules before that: {rules}" * bool(rules))
    success = at(spec, "successPolicy")
    some = texts(success.get("targetReplicatedJobs"))
    operator = text(success.get("operator")) or "All"
    yield f"successPolicy {operator}: done when {operator.lower()} of {', '.join(some) or 'the Jobs'} succeeded"
    if spec.get("ttlSecondsAfterFinished") is not None:
        yield from limits({"ttlSecondsAfterFinished": spec.get("ttlSecondsAfterFinished")}, "the JobSet")


def _rule(rule: Json) -> str:
    why = " or ".join(texts(rule.get("onJobFailureReasons"))) or "any failure"
    where = f" of {', '.join(texts(rule.get('targetReplicatedJobs')))}" if rule.get("targetReplicatedJobs") else ""
    return f"{why}{where} -> {text(rule.get('action'))}"
