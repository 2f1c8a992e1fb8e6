"""Whether pods of a job are recreated when they fail or are preempted, by the operator's own fields."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, integer, items, text
from ptcompile.linting.subject import Subject, Template
from ptcompile.linting.views import PYTORCHJOB, VOLCANO

_JOB, _JOBSET = ("batch/v1", "Job"), ("jobset.x-k8s.io/v1alpha2", "JobSet")
_AGAIN = frozenset({"RestartJob", "RestartTask", "RestartPod", "RestartPartition"})


def made_again(subject: Subject, template: Template) -> bool | None:
    """Whether a lost pod of a template is recreated; None for kinds where that is unknown."""
    spec = subject.spec
    if subject.kind == _JOB:
        return integer(spec.get("backoffLimit"), 6) > 0
    if subject.kind == _JOBSET:
        jobs = [at(one, "template", "spec") for one in items(spec.get("replicatedJobs"))]
        inside = any(integer(one.get("backoffLimit"), 6) > 0 for one in jobs)
        return inside or integer(at(spec, "failurePolicy").get("maxRestarts")) > 0
    if subject.kind == PYTORCHJOB:
        policy = text(at(spec, "pytorchReplicaSpecs", template.role).get("restartPolicy")) or "OnFailure"
        return policy != "Never" and at(spec, "runPolicy").get("backoffLimit") != 0
    if subject.kind == VOLCANO:
        tasks = items(spec.get("tasks"))
        policies = [one for part in (spec, *tasks) for one in items(part.get("policies"))]
        return any(one.get("action") in _AGAIN for one in policies) or template.spec.get("restartPolicy") == "OnFailure"
    return None
