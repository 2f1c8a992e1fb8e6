"""What a queued job asks of Kueue: its ClusterQueue, and its pod sets."""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import namespace_of, nested_map
from ptcompile.linter.subject import Subject
from ptcompile.linter.workload import Stream
from ptcompile.operators.kueue.queues import PodSet, Queues, Shortage, queue, shortage


def queues_of(stream: Stream) -> Queues:
    """The queues of a stream."""
    return Queues(tuple(stream.objects))


def cluster_queue(subject: Subject) -> str | None:
    """The ClusterQueue of the queue that an object names, where both stand in the stream."""
    queues = subject.stream.once(queues_of)
    local = queues.local.get((namespace_of(subject.manifest), queue(subject.metadata)))
    name = nested_map(local or {}, "spec").get("clusterQueue")
    return name if isinstance(name, str) and name in queues.cluster else None


def job_shortage(subject: Subject) -> Shortage | None:
    """Why the queue that an object names can never admit it."""
    name = cluster_queue(subject)
    if name is None or subject.job is None:
        return None
    pods = [
        PodSet(role.name, role.count, {key: one.nano for key, one in pod.requests.items()}, pod.view.spec)
        for role, pod in subject.job.firsts()
    ]
    return shortage(subject.stream.once(queues_of), name, pods)
