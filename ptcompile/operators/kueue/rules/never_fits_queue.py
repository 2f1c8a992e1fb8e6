"""A queued job requests more than its queue can ever have.

What: the stream has the job, its LocalQueue and its ClusterQueue, and no way to place the job's pods among the queue's
flavors stays below the quotas; or the queue does not cover a resource that the pods request.

Why: Kueue keeps the job suspended forever. Only `kubectl describe workload` says so.

Example:

      apiVersion: kueue.x-k8s.io/v1beta2
      kind: LocalQueue
      metadata: {name: gpus}
      spec: {clusterQueue: research}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: research}
      spec:
        resourceGroups:
          - coveredResources: [cpu, memory]
            flavors:
              - name: epyc
    -           resources: [{name: cpu, nominalQuota: 4}, {name: memory, nominalQuota: 1Ti}]
    +           resources: [{name: cpu, nominalQuota: 16}, {name: memory, nominalQuota: 1Ti}]
      ---
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: train
        labels:
          kueue.x-k8s.io/queue-name: gpus  # <--
      spec:
        suspend: true
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
                resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: request less, use another queue, or raise the quota.

Source: Kueue 0.19 pkg/scheduler/flavorassigner, reason ExceedsMaxQuota.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule
from ptcompile.linter.subject import Subject
from ptcompile.operators.kueue.queues import QUEUE, queue_of
from ptcompile.operators.kueue.rules.reading import job_shortage


def _check(subject: Subject) -> Iterator[Finding]:
    shortage = job_shortage(subject) if queue_of(subject.metadata) else None
    if shortage is not None and shortage.certain:
        message = f"metadata.labels[{QUEUE}]: queue {queue_of(subject.metadata)} can never admit this: {shortage.why}"
        yield Finding(("metadata", "labels", QUEUE), message, "request less, use another queue, or raise the quota")


RULE = Rule("never-fits-queue", _check, severity="error", stage="run", authority="kueue")
