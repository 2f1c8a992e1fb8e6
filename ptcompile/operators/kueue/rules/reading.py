"""Readers of a queued job's ClusterQueue and pod sets for the rules."""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import namespace_of, nested_map
from ptcompile.linter.subject import Subject
from ptcompile.linter.workload import Stream
from ptcompile.operators.kueue.queues import PodSet, Queues, Shortage, find_shortage, queue_of


def queues_of(stream: Stream) -> Queues:
    """Return the queues of a stream."""
    return Queues(tuple(stream.objects))


def cluster_queue(subject: Subject) -> str | None:
    """Return the ClusterQueue of the queue that an object names, or None unless the stream has both."""
    queues = subject.stream.cached(queues_of)
    local = queues.local.get((namespace_of(subject.manifest), queue_of(subject.metadata)))
    name = nested_map(local or {}, "spec").get("clusterQueue")
    return name if isinstance(name, str) and name in queues.cluster else None


def job_shortage(subject: Subject) -> Shortage | None:
    """Return why the queue that an object names can never admit it, or None."""
    name = cluster_queue(subject)
    if name is None or subject.job is None:
        return None
    pods = [
        PodSet(role.name, role.count, {key: amount.nano for key, amount in pod.requests.items()}, pod.view.spec)
        for role, pod in subject.job.first_pods()
    ]
    return find_shortage(subject.stream.cached(queues_of), name, pods)
