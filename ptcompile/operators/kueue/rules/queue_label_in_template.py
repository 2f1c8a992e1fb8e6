"""The queue is set on the pods, not on the job.

PTC222 queue-label-in-template: warning at run (differs), by kueue.
Needs: kueue labels

What: the label kueue.x-k8s.io/queue-name is in a pod template, and not on the object that owns the
pods.

Why: Kueue then admits the pods one by one, each as a separate workload. Some pods of a distributed
job start, hold their GPUs and wait for the others.

Example: job.yaml with

      metadata:
        name: train
    +   labels:
    +     kueue.x-k8s.io/queue-name: research
      spec:
        template:
    -     metadata:
    -       labels:
    -         kueue.x-k8s.io/queue-name: research  # <--
          spec:

Fix: put the label on the object.

Source: Kueue 0.19, plain pods and jobs: the webhook of pods skips pods with a managed owner, and
queues all others.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_string, nested_string_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import QUEUE, queue_of


def check(subject: Subject) -> Findings:
    if queue_of(subject.manifest):
        return

    kind = subject.kind.name
    for template in subject.templates:
        name = nested_string(nested_string_map(template.data, "metadata", "labels"), QUEUE)
        if template.path and name:
            path = (*template.path, "metadata", "labels", QUEUE)
            edits = (Edit("set", ("metadata", "labels", QUEUE), name), Edit("remove", path))
            yield found_at(
                path,
                f"Kueue queues each pod separately, since the {kind} has no queue",
                f"put the label on the {kind}",
                Fix("put the label on the object", edits),
                on_key=True,
            )
            return
