"""runningEstimate is a hint that nothing reads.

PTC836 idle-running-estimate: warning at style, by volcano.
Needs: runningEstimate

What: the job's spec has runningEstimate.

Why: neither Volcano's controller nor its scheduler reads it: it neither ends a job nor changes its
place in the queue.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 1
    -   runningEstimate: 2h  # <--
        tasks:
          - name: trainer
            replicas: 1
            template:
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

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
