"""A job names a queue that is not among the queues of its namespace, or an unknown priority class.

PTC292 missing-queue: warning at run (waits), by kueue.
Needs: kueue labels @LocalQueue/@WorkloadPriorityClass

What: the stream has LocalQueues of the job's namespace, and none of the name in the job's label; or
it has a LocalQueue of that name only in another namespace; or the LocalQueue's ClusterQueue is not
among those of the stream; or the stream has WorkloadPriorityClasses, and none of the name in the
job's label. Or one of the queues is stopped, its cohorts are a cycle, or its namespaceSelector does
not match the namespace.

Why: Kueue keeps the job suspended until they exist: `LocalQueue research doesn't exist`.

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
        namespaceSelector: {}
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

Source: Kueue 0.19 pkg/scheduler: a workload whose LocalQueue or ClusterQueue is missing is
inadmissible.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes.unstructured import (
    nested_string,
    nested_string_map,
    nested_value,
    object_name,
)
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import PREFIX, QUEUE, queue_of
from ptcompile.operators.kueue.rules.reading import StreamQueues
from ptcompile.operators.kueue.scheduler.openness import why_closed
from ptcompile.operators.queues.queue_systems import KUEUE_PRIORITY


def check(subject: Subject) -> Findings:
    name = queue_of(subject.manifest)
    if not name:
        return

    yield from _missing_priority(subject)
    queues = subject.stream.cached(StreamQueues)
    job_namespace = subject.namespace
    queue_names = [
        queue_name
        for namespace, queue_name in queues.cluster.local_queues
        if namespace == job_namespace
    ]
    path = ("metadata", "labels", QUEUE)
    if queue_names and name not in queue_names:
        suggestion = closest_match(name, queue_names)
        if suggestion:
            help = f"did you mean {suggestion}?"
        else:
            help = f"name one of {', '.join(sorted(queue_names))}"
        yield found_at(path, f"LocalQueue {name} doesn't exist", help)
        return

    elsewhere = _other_namespaces(subject, queues, name)
    if elsewhere:
        where = f"in namespace {elsewhere[0]}, but the job is in {job_namespace}"
        yield found_at(path, f"LocalQueue {name} is {where}", "put both into the same namespace")
        return

    target = nested_value(
        queues.cluster.local_queues.get((job_namespace, name), {}), "spec", "clusterQueue"
    )
    names = queues.cluster.queues
    if names and isinstance(target, str) and target not in names:
        yield found_at(
            path,
            f"ClusterQueue {target} of LocalQueue {name} doesn't exist",
            f"name one of {', '.join(sorted(names))} in the LocalQueue",
        )
    yield from _closed_queue(subject, queues)


def _closed_queue(subject: Subject, queues: StreamQueues) -> Findings:
    """Yield a finding if the queue of a job takes nothing."""
    for workload in queues.workloads(subject)[:1]:
        name, why = why_closed(queues.cluster, workload)
        if not why:
            continue

        queue = queues.cluster.queues.get(name)
        takes_no_namespace = queue is not None and queue.spec.get("namespaceSelector") is None
        yield found_at(
            ("metadata", "labels", QUEUE),
            why,
            "use another queue, or open this one",
            severity="error" if takes_no_namespace else None,
        )


def _missing_priority(subject: Subject) -> Findings:
    """Yield a finding if the job's priority class is not among those of the stream."""
    name = nested_string_map(subject.metadata, "labels").get(KUEUE_PRIORITY)
    names = [
        object_name(manifest)
        for version in ("v1beta1", "v1beta2")
        for manifest in subject.objects.of_kind((f"{PREFIX}{version}", "WorkloadPriorityClass"))
    ]
    if name and names and name not in names:
        suggestion = closest_match(name, names)
        if suggestion:
            help = f"did you mean {suggestion}?"
        else:
            help = f"name one of {', '.join(sorted(names)[:3])}"

        yield found_at(
            ("metadata", "labels", KUEUE_PRIORITY),
            f"WorkloadPriorityClass {name} doesn't exist",
            help,
        )


def _other_namespaces(subject: Subject, queues: StreamQueues, name: str) -> list[str]:
    """Return the namespaces of the LocalQueues with this name if the job's is not among them and
    all are written.
    """
    job_namespace = nested_string(subject.metadata, "namespace")
    manifests = [
        manifest
        for (_, queue_name), manifest in queues.cluster.local_queues.items()
        if queue_name == name
    ]
    namespaces = [nested_string(manifest, "metadata", "namespace") for manifest in manifests]
    is_known = job_namespace and namespaces and "" not in namespaces
    if is_known and job_namespace not in namespaces:
        return sorted(namespaces)

    return []
