"""What Kueue's queues of a stream say about a job, for the rules."""

from __future__ import annotations

from ptcompile.apiserver.admission.request import ClusterState
from ptcompile.apiserver.evaluations import OutOfEvaluationsError
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Subject
from ptcompile.operators.kueue.scheduler.admission import EmptyQueues, Verdict
from ptcompile.operators.kueue.scheduler.objects import Cluster, read_cluster
from ptcompile.operators.kueue.scheduler.openness import why_closed
from ptcompile.operators.kueue.scheduler.workloads import NotQueuedError, Workload, workloads_of
from ptcompile.world.workload import Stream


class StreamQueues:
    """The queues of a stream. What it does not have may exist elsewhere."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.cluster: Cluster = read_cluster(stream.objects, is_complete=False)
        self._state = ClusterState(stream.objects, stream.versions)
        self._empty = EmptyQueues(self.cluster)
        self._verdicts: dict[int, Verdict | None] = {}

    def cluster_queue(self, namespace: str, name: str) -> str:
        """Return the ClusterQueue of a LocalQueue, or an empty string if the stream lacks one of
        them.
        """
        local = self.cluster.local_queues.get((namespace, name))
        target = nested_string(local or {}, "spec", "clusterQueue")
        return target if target in self.cluster.queues else ""

    def workloads(self, subject: Subject) -> list[Workload]:
        """Return the workloads of a job, or none if its queue or ClusterQueue is not in the
        stream.
        """
        try:
            workloads = workloads_of(
                subject.manifest,
                self.cluster,
                self._stream.objects,
                self._stream.versions,
                self._state,
            )
        except NotQueuedError:
            return []

        first, *_ = workloads
        if self.cluster_queue(first.namespace, first.queue):
            return workloads

        return []

    def verdict(self, subject: Subject) -> Verdict | None:
        """Return whether the empty queues would admit a job, or None if they are closed or not
        in the stream.
        """
        key = id(subject.manifest)
        if key not in self._verdicts:
            workloads = self.workloads(subject)
            is_open = bool(workloads) and not why_closed(self.cluster, workloads[0])[1]
            try:
                self._verdicts[key] = self._empty.judge(workloads) if is_open else None
            except OutOfEvaluationsError:
                self._verdicts[key] = None
        return self._verdicts[key]
