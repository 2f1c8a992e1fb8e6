"""An aborted job is never deleted, regardless of its time to live.

PTC848 aborted-job-kept: warning at style, by volcano.
Needs: AbortJob

What: the job sets ttlSecondsAfterFinished, and a policy has the action AbortJob.

Why: Volcano collects jobs that are Completed, Failed or Terminated. An aborted one can be resumed,
so it stays, with its finished pods.

Example: volcano_job.yaml with

      minAvailable: 1
      ttlSecondsAfterFinished: 600
      policies:
    -   - {event: PodFailed, action: AbortJob}  # <--
    +   - {event: PodFailed, action: TerminateJob}

Fix: use TerminateJob, unless the job is to be resumed by hand.

Source: Volcano 1.16, garbage collector.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import lifecycle_policies


def check(subject: Subject) -> Findings:
    if subject.spec.get("ttlSecondsAfterFinished") is None:
        return
    for policy in lifecycle_policies(subject):
        if policy.action == "AbortJob":
            path = (*policy.path, "action")
            yield found_at(
                path,
                "an aborted job is not finished, and ttlSecondsAfterFinished never collects it",
                "use TerminateJob",
                fix_setting("terminate the job", path, "TerminateJob"),
            )
