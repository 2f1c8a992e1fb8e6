"""The gang of a job requests more than its queue can ever have.

PTC268 gang-exceeds-queue: error at run (waits), by volcano.
Needs: @Queue

What: the stream has the Queue that the job names, and the pods that must start together
(minAvailable) request more of a resource than the Queue's capability.

Why: capability is a hard limit. The job's PodGroup stays in Pending, or its pods unscheduled,
forever.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        queue: research  # <--
        minAvailable: 2
        tasks:
          - name: trainer
            replicas: 2
            template:
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 8, memory: 16Gi}, limits: {cpu: 8, memory: 16Gi}}
      ---
      apiVersion: scheduling.volcano.sh/v1beta1
      kind: Queue
      metadata: {name: research}
      spec:
        weight: 1
    -   capability: {cpu: 12}
    +   capability: {cpu: 16}

Fix: request less, use another queue, or raise its capability.

Source: Volcano 1.16, plugins proportion and capacity: JobEnqueueable and Allocatable compare with
the capability.
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import nested_int, nested_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.volcano.rules.reading import volcano_job

_QUEUE = ("scheduling.volcano.sh/v1beta1", "Queue")


def check(subject: Subject) -> Findings:
    job = volcano_job(subject)
    queues = subject.objects.by_name(_QUEUE, job.queue)
    capability = nested_map(queues[-1], "spec", "capability") if queues else {}
    gang = nested_int(job.spec, "minAvailable") or sum(task.min_available for task in job.tasks)
    for resource in capability:
        limit = quantity.parse(capability[resource])
        request = _gang_request(subject, resource, gang)
        if limit is None or limit.nano <= 0 or request <= limit.nano:
            continue

        path = ("spec", "queue") if "queue" in subject.spec else ("spec",)
        yield found_at(
            path,
            f"queue {job.queue} never admits the gang: {gang} pods request "
            f"{Quantity(request)} {resource}, but its capability is {limit}",
            "request less, use another queue, or raise its capability",
            on_key=path == ("spec",),
        )


def _gang_request(subject: Subject, resource: str, pods: int) -> int:
    """Return what the `pods` pods with the smallest requests request together, in billionths."""
    requests: list[tuple[int, int]] = []
    for role, pod in subject.job.first_pods if subject.job is not None else ():
        amount = pod.requests[resource].nano if resource in pod.requests else 0
        requests.append((amount, role.count))

    total = 0
    for amount, count in sorted(requests):
        taken = min(count, pods)
        total += amount * taken
        pods -= taken

    return total
