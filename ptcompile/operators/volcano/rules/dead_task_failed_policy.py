"""A policy counts restarts of pods that never restart.

PTC731 dead-task-failed-policy: warning at run (differs), by volcano.
Needs: TaskFailed

What: a policy on TaskFailed alone, while restartPolicy of all its tasks is Never.

Why: TaskFailed means that a task's containers have been restarted maxRetry times. With Never the
count stays 0 and the policy does nothing.

Example: volcano_job.yaml with

      minAvailable: 1
      policies:
    -   - {event: TaskFailed, action: TerminateJob}  # <--
    +   - {event: PodFailed, action: TerminateJob}

Fix: act on PodFailed, or write restartPolicy: OnFailure.

Source: Volcano 1.16, job cache (TaskFailed sums restart counts).
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import lifecycle_policies


def check(subject: Subject) -> Findings:
    all_policies = lifecycle_policies(subject)
    for policy in all_policies:
        if policy.events != ["TaskFailed"] or policy.restarts != {"Never"}:
            continue

        has_pod_failed = any(
            "PodFailed" in sibling.events
            for sibling in all_policies
            if sibling.path[:-1] == policy.path[:-1]
        )
        path = (*policy.path, "event")
        is_fixable = policy.data.get("event") == "TaskFailed" and not has_pod_failed
        yield found_at(
            policy.path,
            "TaskFailed counts containers that restart in place, but with restartPolicy Never "
            "none does",
            "act on PodFailed",
            fix_setting("act on PodFailed", path, "PodFailed") if is_fixable else None,
        )
