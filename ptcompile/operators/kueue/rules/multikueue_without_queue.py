"""Nothing runs this job: its operator leaves it to Kueue, but it is in no queue.

PTC228 multikueue-without-queue: warning at run (waits), by kueue.
Needs: kueue managedBy

What: managedBy is kueue.x-k8s.io/multikueue, and the object has no queue label.

Why: the operator of this cluster ignores the job, and MultiKueue dispatches only queued jobs. It
never starts.

Example: job.yaml with

      metadata:
        name: train
    +   labels:
    +     kueue.x-k8s.io/queue-name: research
      spec:
        managedBy: kueue.x-k8s.io/multikueue  # <--
        backoffLimit: 0

Fix: add the label kueue.x-k8s.io/queue-name, or remove managedBy.

Source: Kueue 0.19, MultiKueue; training-operator 1.9, JobSet 0.12, Trainer 2.3 and Kubernetes 1.36,
managedBy.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import QUEUE, queue_of


def check(subject: Subject) -> Findings:
    kind = subject.kind.name
    holder = ("spec", "runPolicy") if kind == "PyTorchJob" else ("spec",)
    path = (*holder, "managedBy")
    manager = nested_value(subject.manifest, *path)
    if manager == "kueue.x-k8s.io/multikueue" and not queue_of(subject.manifest):
        yield found_at(
            path,
            f"the operator leaves the {kind} to MultiKueue, which only takes those with a queue",
            f"add the label {QUEUE}, or remove managedBy",
        )
