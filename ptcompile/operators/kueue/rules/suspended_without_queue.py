"""A job is suspended, but no queue will start it.

PTC275 suspended-without-queue: warning at run (waits), by ptcompile.
Needs: suspend

What: the job has `suspend: true`, names no queue of Kueue, and has neither an owner nor another
controller (managedBy).

Why: the operator creates no pods until someone sets suspend to false. Kueue does that only for jobs
with the label kueue.x-k8s.io/queue-name, or in a namespace with a LocalQueue called default.

Example: job.yaml with

      metadata:
        name: train
    +   labels:
    +     kueue.x-k8s.io/queue-name: research
      spec:
    -   suspend: true  # <--
    +   suspend: true
        backoffLimit: 0

Fix: name the queue, or remove suspend.

Source: Kubernetes 1.36, suspended Jobs; Kueue 0.19, jobs without a queue name are not managed.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.kueue.queues import PREFIX, queue_of
from ptcompile.operators.kueue.rules.reading import StreamQueues
from ptcompile.operators.kueue.webhooks.kinds import KINDS

_DEFAULT_QUEUE = "default"


def check(subject: Subject) -> Findings:
    kind = KINDS.get(subject.kind)
    if kind is None or kind.serving or not kind.suspend:
        return

    holder = nested_map(subject.manifest, *kind.suspend)
    if holder.get("suspend") is not True or queue_of(subject.manifest) or _has_controller(subject):
        return

    path = (*kind.suspend, "suspend")
    yield found_at(
        path,
        "the job names no queue, so it stays suspended until someone sets this to false",
        f"name a queue in the label {PREFIX}queue-name, or remove it",
        fix_removing("remove it", path),
    )


def _has_controller(subject: Subject) -> bool:
    """Return whether another controller may start the job: an owner, managedBy, or a key of a
    queue system.
    """
    keys = {*nested_map(subject.metadata, "labels"), *nested_map(subject.metadata, "annotations")}
    is_managed = "managedBy" in nested_map(subject.manifest, "spec") or "managedBy" in nested_map(
        subject.spec, "runPolicy"
    )
    queues = subject.stream.cached(StreamQueues).cluster.local_queues
    default_queue = (subject.namespace, _DEFAULT_QUEUE) in queues
    is_queued = any("queue" in str(key) or str(key).startswith(PREFIX) for key in keys)
    return bool(subject.metadata.get("ownerReferences")) or is_managed or default_queue or is_queued
