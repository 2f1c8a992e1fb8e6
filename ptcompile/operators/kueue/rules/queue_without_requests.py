"""A queued job requests nothing, so no quota counts it.

PTC227 queue-without-requests: note at run (works), by kueue.
Needs: kueue labels

What: an object with a queue label has pods that request no resource at all. It is a note, since a
ClusterQueue may have a quota for the number of pods; it is not reported if one of the stream has.

Why: Kueue reserves what the pods request. A job that requests nothing is always admitted, takes
nothing from the quota, and is scheduled wherever it lands.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata:
        name: train
        labels:
          kueue.x-k8s.io/queue-name: research
      spec:
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: pytorch  # <--
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
    +           resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: request cpu, memory and GPUs in every container.

Source: Kueue 0.19, Workload: the resources of a pod set are its requests; Kubernetes 1.36: a limit
implies a request.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json, nested_maps, nested_strings, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import queue_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.pods import ExpandedRole


CLUSTER_QUEUES = (
    ("kueue.x-k8s.io/v1beta1", "ClusterQueue"),
    ("kueue.x-k8s.io/v1beta2", "ClusterQueue"),
)


def check(subject: Subject) -> Findings:
    if not queue_of(subject.manifest) or subject.job is None:
        return
    if subject.kind.name == "TrainJob" and nested_value(
        subject.spec, "trainer", "resourcesPerNode"
    ):
        return

    for kind in CLUSTER_QUEUES:
        if any(_has_pod_quota(queue) for queue in subject.objects.of_kind(kind)):
            return

    for role, pod in subject.job.first_pods:
        if not any(pod.requests.values()):
            yield found_at(
                _container_path(subject, role),
                f"the pods request nothing, so the queue {queue_of(subject.manifest)} counts "
                "nothing",
                "request cpu, memory and GPUs",
            )


def _has_pod_quota(cluster_queue: Json) -> bool:
    """Return whether a ClusterQueue of the stream has a quota for pods, which needs no request."""
    groups = nested_maps(cluster_queue, "spec", "resourceGroups")
    return any("pods" in nested_strings(group, "coveredResources") for group in groups)


def _container_path(subject: Subject, role: ExpandedRole) -> Path:
    """Return the path of the main container in the role's template."""
    templates = subject.templates
    matching = [item for item in templates if item.role.lower() == role.name.lower()]
    for template in (*matching, *templates)[:1]:
        for container in template.main_containers[:1]:
            return container.path
    return ("spec",)
