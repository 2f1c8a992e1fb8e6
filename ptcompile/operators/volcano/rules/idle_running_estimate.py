"""runningEstimate is a hint that nothing reads.

PTC836 idle-running-estimate: warning at style, by volcano.
Needs: runningEstimate

What: the job's spec has runningEstimate.

Why: neither Volcano's controller nor its scheduler reads it: it neither ends a job nor changes its
place in the queue.

Example: volcano_job.yaml with

      minAvailable: 1
    - runningEstimate: 2h  # <--

Fix: remove it; Volcano has no deadline for jobs.

Source: Volcano 1.16.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at


def check(subject: Subject) -> Findings:
    if subject.spec.get("runningEstimate") is not None:
        path = ("spec", "runningEstimate")
        yield found_at(
            path,
            "Volcano does not read it",
            "remove it",
            fix_removing("remove runningEstimate", path, safe=True),
        )
