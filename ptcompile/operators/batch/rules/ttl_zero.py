"""A Job and its logs are deleted the moment it ends.

What: ttlSecondsAfterFinished is 0.

Why: the Job goes with its pods, and their logs with them: why it failed cannot be seen any more, and whoever waits
for it by kubectl finds nothing.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        backoffLimit: 0
    -   ttlSecondsAfterFinished: 0  # <--
    +   ttlSecondsAfterFinished: 86400
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: keep it for as long as somebody may look: an hour, a day.

Source: Kubernetes 1.36, TTL of finished Jobs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import integer
from ptcompile.linting.rule import Found, Rule, found_at
from ptcompile.linting.subject import Subject


def _check(subject: Subject) -> Iterator[Found]:
    if integer(subject.spec.get("ttlSecondsAfterFinished"), -1) == 0:
        path: Path = ("spec", "ttlSecondsAfterFinished")
        yield found_at(
            path,
            "0 deletes the Job, its pods and their logs the moment it ends",
            "give it at least the time that somebody needs to look",
        )


RULE = Rule("ttl-zero", _check, severity="warning", stage="style", authority="kube-apiserver")
