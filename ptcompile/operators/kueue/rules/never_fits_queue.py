"""A queued job requests more than its queue can ever have.

PTC290 never-fits-queue: error at run (waits), by kueue.
Needs: kueue labels @ClusterQueue

What: the stream has the job, its LocalQueue and its ClusterQueue, and Kueue's scheduler would not
admit the job even with nothing else in its queues: the quotas are too small, no group covers a
resource that the pods request, no flavor has the taints, labels and topology levels for them, or a
LimitRange forbids the requests. Pods that do not fit the topology of the stream's nodes are a
warning, since the cluster may have more nodes.

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
        namespaceSelector: {}
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

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import QUEUE, queue_of
from ptcompile.operators.kueue.rules.reading import StreamQueues


def check(subject: Subject) -> Findings:
    name = queue_of(subject.manifest)
    verdict = subject.stream.cached(StreamQueues).verdict(subject) if name else None
    if verdict is None or verdict.fits or not (verdict.is_certain or verdict.lacks_nodes):
        return

    path = ("metadata", "labels", QUEUE)
    help = "request less, use another queue, or raise the quota"
    message = f"queue {name} can never admit this: {verdict.reason}"
    if verdict.is_certain:
        yield found_at(path, message, help)
    else:
        yield found_at(
            path,
            f"{message}, unless the cluster has more nodes than these files",
            "request less, or let the pods spread over more domains",
            severity="warning",
        )
