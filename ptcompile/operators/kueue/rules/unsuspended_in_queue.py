"""suspend: false conflicts with Kueue.

PTC834 unsuspended-in-queue: warning at style (differs), by kueue.
Needs: kueue suspend

What: an object with a queue label has suspend: false.

Why: Kueue suspends the job itself when it is created, and starts it when there is room. A tool that
applies the file again, such as Argo CD, sets it back to false and fights with Kueue.

Example: job.yaml with

      metadata:
        name: train
        labels:
          kueue.x-k8s.io/queue-name: research
      spec:
    -   suspend: false  # <--
        backoffLimit: 0

Fix: remove suspend, or write true.

Source: Kueue 0.19, the mutating webhooks of jobs; Argo CD, self healing.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.kueue.queues import queue_of
from ptcompile.operators.kueue.webhooks.kinds import KINDS


def check(subject: Subject) -> Findings:
    kind = KINDS.get(subject.kind)
    if kind is None or kind.serving or not kind.suspend:
        return

    path = (*kind.suspend, "suspend")
    if (
        queue_of(subject.manifest)
        and nested_value(subject.manifest, *kind.suspend, "suspend") is False
    ):
        yield found_at(
            path,
            "Kueue decides whether the job is suspended, and sets it to true at creation",
            "remove it",
            fix_removing("remove it", path, safe=True),
        )
