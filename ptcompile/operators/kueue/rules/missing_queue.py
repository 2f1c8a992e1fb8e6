"""A job names a queue that is not among the queues of its namespace.

What: the stream has LocalQueues of the job's namespace, and none of the name in the job's label; or the LocalQueue's
ClusterQueue is not among those of the stream.

Why: Kueue keeps the job suspended until the queue exists: `LocalQueue research doesn't exist`.

Example:

      apiVersion: kueue.x-k8s.io/v1beta2
      kind: LocalQueue
    - metadata: {name: research}
    + metadata: {name: gpus}
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
                resources: [{name: cpu, nominalQuota: 16}, {name: memory, nominalQuota: 1Ti}]
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

Fix: name one of the queues.

Source: Kueue 0.19 pkg/scheduler: a workload whose LocalQueue or ClusterQueue is missing is inadmissible.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes.unstructured import namespace_of, nested_map
from ptcompile.linter.rule import Finding, Rule
from ptcompile.linter.subject import Subject
from ptcompile.operators.kueue.queues import QUEUE, queue_of
from ptcompile.operators.kueue.rules.reading import queues_of


def _check(subject: Subject) -> Iterator[Finding]:
    name = queue_of(subject.metadata)
    if not name:
        return
    queues, job_namespace = subject.stream.cached(queues_of), namespace_of(subject.manifest)
    queue_names = [queue_name for namespace, queue_name in queues.local if namespace == job_namespace]
    path = ("metadata", "labels", QUEUE)
    if queue_names and name not in queue_names:
        suggestion = closest_match(name, queue_names)
        help = f"did you mean {suggestion}?" if suggestion else f"name one of {', '.join(sorted(queue_names))}"
        yield Finding(path, f"metadata.labels[{QUEUE}]: LocalQueue {name} doesn't exist", help)
        return
    target = nested_map(queues.local.get((job_namespace, name), {}), "spec").get("clusterQueue")
    if queues.cluster and isinstance(target, str) and target not in queues.cluster:
        message = f"metadata.labels[{QUEUE}]: ClusterQueue {target} of LocalQueue {name} doesn't exist"
        yield Finding(path, message, f"name one of {', '.join(sorted(queues.cluster))} in the LocalQueue")


RULE = Rule("missing-queue", _check, severity="warning", stage="run", authority="kueue")
