"""A policy on an exit code has no action that Volcano knows.

PTC733 exit-code-without-action: error at run (differs), by volcano.
Needs: exitCode

What: a policy with exitCode whose action is absent or misspelled.

Why: the webhook checks the action of event policies only. An unknown one is treated as SyncJob,
which does nothing about the failed pod.

Example: volcano_job.yaml with

      minAvailable: 1
      policies:
        - exitCode: 137
    -     action: RestartJobs  # <--
    +     action: RestartJob

Fix: write one of AbortJob, RestartJob, RestartTask, RestartPod, TerminateJob, CompleteJob.

Source: Volcano 1.16, validating webhook and job state machine.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.admission import ACTIONS
from ptcompile.operators.volcano.rules.reading import lifecycle_policies


def check(subject: Subject) -> Findings:
    for policy in lifecycle_policies(subject):
        if policy.data.get("exitCode") is None or policy.events or policy.action in ACTIONS:
            continue

        path = (*policy.path, "action")
        suggestion = closest_match(policy.action, ACTIONS) if policy.action else None
        yield found_at(
            path,
            f"{policy.action or 'no action'} is not a Volcano action: nothing happens on exit code "
            f"{policy.data['exitCode']}",
            f"write {suggestion}" if suggestion else f"write one of {', '.join(ACTIONS)}",
            fix_setting(f"write {suggestion}", path, suggestion) if suggestion else None,
        )
