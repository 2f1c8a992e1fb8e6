"""A failure rule lists reasons that its Jobs cannot have.

PTC739 dead-failure-rule: warning at run (differs), by jobset.
Needs: onJobFailureReasons

What: a rule's onJobFailureReasons, none of which can occur: DeadlineExceeded without
activeDeadlineSeconds, PodFailurePolicy without podFailurePolicy, FailedIndexes without
backoffLimitPerIndex, MaxFailedIndexesExceeded without maxFailedIndexes.

Why: a Job fails with such a reason only if it has the field. The rule never matches, and the
policy's default applies.

Example: one_node_jobset.yaml with

      spec:
        failurePolicy:
          maxRestarts: 3
          rules:
            - {name: late, action: FailJobSet, onJobFailureReasons: [DeadlineExceeded]}  # <--
        replicatedJobs:
          - name: node
            template:
              spec:
                backoffLimit: 0
    +           activeDeadlineSeconds: 86400

Fix: give the Jobs the field, or remove the rule.

Source: JobSet 0.12, failurePolicy.rules; Kubernetes, the Job controller's failure reasons.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import Json, nested_maps, nested_strings
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.jobset.rules.reading import child_job, name_of, replicated_jobs

_NEEDS = {
    "DeadlineExceeded": "activeDeadlineSeconds",
    "PodFailurePolicy": "podFailurePolicy",
    "FailedIndexes": "backoffLimitPerIndex",
    "MaxFailedIndexesExceeded": "maxFailedIndexes",
}


def check(subject: Subject) -> Findings:
    fields = {
        name_of(replicated): _set_fields(child_job(replicated))
        for _, replicated in replicated_jobs(subject)
    }
    everywhere = {field for job_fields in fields.values() for field in job_fields}
    for i, rule in enumerate(nested_maps(subject.spec, "failurePolicy", "rules")):
        reasons = nested_strings(rule, "onJobFailureReasons")
        targets = nested_strings(rule, "targetReplicatedJobs")
        if targets:
            present = set().union(*(fields.get(name, set()) for name in targets))
        else:
            present = everywhere

        dead = [reason for reason in reasons if reason in _NEEDS and _NEEDS[reason] not in present]
        if reasons and dead == reasons:
            path = ("spec", "failurePolicy", "rules", i)
            yield found_at(
                path,
                f"no Job that it covers has {' or '.join(_NEEDS[reason] for reason in dead)}, so "
                f"none fails with {' or '.join(dead)}",
                f"give the Jobs {_NEEDS[dead[0]]}, or remove the rule",
                fix_removing("remove the rule", path),
            )


def _set_fields(job: Json) -> set[str]:
    return {field for field in _NEEDS.values() if job.get(field) is not None}
