"""A Job and its logs are deleted as soon as it ends.

PTC714 ttl-zero: warning at style, by kube-apiserver.
Needs: ttlSecondsAfterFinished

What: ttlSecondsAfterFinished is 0.

Why: the Job is deleted with its pods and their logs: why it failed can no longer be seen, and a
waiting kubectl finds nothing.

Example: job.yaml with

      backoffLimit: 0
    - ttlSecondsAfterFinished: 0  # <--
    + ttlSecondsAfterFinished: 86400

Fix: keep it long enough to be looked at: an hour, a day.

Source: Kubernetes 1.36, TTL of finished Jobs.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    if nested_int(subject.spec, "ttlSecondsAfterFinished", default=-1) == 0:
        yield found_at(
            ("spec", "ttlSecondsAfterFinished"),
            "0 deletes the Job, its pods and their logs as soon as it ends",
            "leave enough time to read the logs",
        )
