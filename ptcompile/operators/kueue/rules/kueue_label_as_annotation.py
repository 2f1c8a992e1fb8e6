"""Kueue reads this from a label, but it is an annotation.

PTC220 kueue-label-as-annotation: warning at run (differs), by kueue.
Needs: kueue annotations

What: queue-name, priority-class or max-exec-time-seconds of Kueue is among the annotations, and not
among the labels.

Why: Kueue ignores the annotation. The job starts at once, bypassing its queue and quota.

Example: job.yaml with

      metadata:
        name: train
    -   annotations:
    +   labels:
          kueue.x-k8s.io/queue-name: research  # <--

Fix: make it a label.

Source: Kueue 0.19, labels and annotations: these are labels of the object; GKE samples pull request
2052.
"""

from __future__ import annotations

from ptcompile.linter.key_places import unread_findings
from ptcompile.linter.rule import Findings, Subject


def check(subject: Subject) -> Findings:
    return unread_findings(subject, "kueue-label-as-annotation")
