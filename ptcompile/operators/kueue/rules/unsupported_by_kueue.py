"""Kueue does not support this for this kind.

PTC225 unsupported-by-kueue: warning at run (differs), by kueue.
Needs: kueue volcano/elastic

What: the queue label is on a Volcano Job, or the elastic-job annotation on a kind that Kueue does
not resize.

Why: Kueue leaves Volcano Jobs to Volcano's own queues, and ignores its label on them. Only Jobs and
Ray's kinds are resized by it: since 0.18 its webhooks reject elastic-job on all other kinds that
they check, which is an error of stage apply.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata:
        name: train
    -   labels:
    -     kueue.x-k8s.io/queue-name: research  # <--
      spec:
        schedulerName: volcano
    +   queue: research
        minAvailable: 1
        policies: [{event: PodFailed, action: RestartJob}, {event: PodEvicted, action: RestartJob}]
        tasks:
          - name: master
            replicas: 1
            policies: [{event: TaskCompleted, action: CompleteJob}]
            template:
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [python, train.py]
                    resources: {requests: {cpu: 8, memory: 64Gi}, limits: {cpu: 8, memory: 64Gi}}

Fix: name the queue in spec.queue of a Volcano Job; remove the annotation.

Source: Kueue 0.19, supported frameworks, and pkg/controller/jobframework/validation.go,
ValidateElasticJobAnnotation; Volcano 1.16, spec.queue.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import QUEUE, queue_of


def check(subject: Subject) -> Findings:
    if subject.kind == ("batch.volcano.sh/v1alpha1", "Job") and queue_of(subject.manifest):
        path = ("metadata", "labels", QUEUE)
        queue_edit = Edit("set", ("spec", "queue"), queue_of(subject.manifest))
        yield found_at(
            path,
            "Kueue does not manage Volcano Jobs: this one bypasses the queue",
            "name a Volcano queue in spec.queue",
            Fix("use spec.queue", (queue_edit, Edit("remove", path)))
            if subject.spec.get("queue") is None
            else None,
            on_key=True,
        )
