"""maxRetry 0 is treated as 3.

PTC729 max-retry-zero: warning at run (differs), by volcano.
Needs: maxRetry

What: maxRetry of the job or of a task is written as 0.

Why: the webhook cannot tell 0 from unset and fills in its default: a job that should not be retried
is retried up to three times.

Example: volcano_job.yaml with

      minAvailable: 1
    - maxRetry: 0  # <--
    + maxRetry: 1
      policies: [{events: [PodFailed, PodEvicted], action: RestartJob}]

Fix: write 1: the first failure then fails the job.

Source: Volcano 1.16, mutating webhook; volcano#1651.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import volcano_job


def check(subject: Subject) -> Findings:
    max_retries: list[tuple[Path, object]] = [(("spec", "maxRetry"), subject.spec.get("maxRetry"))]
    for i, task in enumerate(volcano_job(subject).tasks):
        max_retries.append((("spec", "tasks", i, "maxRetry"), task.source.get("maxRetry")))
    for path, value in max_retries:
        if type(value) is int and value == 0:
            yield found_at(
                path,
                "0 is treated as unset and becomes 3",
                "set maxRetry to 1, so that the first failure is the last",
                fix_setting("set maxRetry to 1", path, 1),
            )
