"""A queued job requests more than its queue's cohort has in these files.

PTC291 exceeds-cohort: warning at run (waits), by kueue.
Needs: kueue labels @ClusterQueue

What: the job does not fit its ClusterQueue, and does not fit with all that the cohort's queues of
the stream lend.

Why: unless other queues of the cohort, which are not among these files, lend the rest, Kueue keeps
the job suspended forever.

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
        namespaceSelector: {}
        cohortName: everyone
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

Fix: request less, use another queue, or raise a quota of the cohort.

Source: Kueue 0.19 pkg/cache/scheduler/resource_node.go: a queue can use its own quota and what the
cohort lends.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import QUEUE, queue_of
from ptcompile.operators.kueue.rules.reading import StreamQueues


def check(subject: Subject) -> Findings:
    name = queue_of(subject.manifest)
    verdict = subject.stream.cached(StreamQueues).verdict(subject) if name else None
    if verdict is not None and not (verdict.fits or verdict.is_certain or verdict.lacks_nodes):
        message = f"queue {name} cannot admit this: {verdict.reason}"
        yield found_at(
            ("metadata", "labels", QUEUE),
            f"{message}, unless queues outside these files lend more",
            "request less, use another queue, or raise a quota of the cohort",
        )
