"""The queues with the workloads that they have admitted, as one round of the scheduler sees them.

Source: Kueue 0.19, pkg/cache/scheduler/snapshot.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.operators.kueue.scheduler.objects import Cluster, FlavorResource
from ptcompile.operators.kueue.scheduler.quota import QuotaNode, quota_nodes
from ptcompile.operators.kueue.scheduler.topology import (
    FlavorTopology,
    TopologyUsage,
    add_usage,
    used_by_other_pods,
)
from ptcompile.operators.kueue.scheduler.workloads import Workload

_STEPS = 10_000_000


class Reservation(NamedTuple):
    """An admitted workload and what it uses."""

    workload: Workload
    usage: Mapping[FlavorResource, int]
    placed: TopologyUsage


class QueueState:
    """The queues of a cluster and what is in use."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.queues = quota_nodes(cluster)
        self.admitted: dict[str, dict[Workload, Reservation]] = {name: {} for name in self.queues}
        """Reservations by ClusterQueue."""
        self.placed: TopologyUsage = {}
        self._node_usage = used_by_other_pods(cluster.pods)
        self.steps = Evaluations(_STEPS)
        """Nodes and workloads that may still be looked at, so that no dump takes hours."""
        self._topologies: dict[str, FlavorTopology] = {}

    def topologies(self, queue: QuotaNode) -> dict[str, FlavorTopology]:
        """Return the topologies of a queue's flavors, by flavor."""
        out = {}
        for group in queue.holder.groups:
            for name in group.flavors:
                flavor = self.cluster.flavors.get(name)
                if flavor is None or not self.cluster.topologies.get(flavor.topology):
                    continue
                if name not in self._topologies:
                    self._topologies[name] = FlavorTopology(
                        self.cluster, flavor, self.placed, self._node_usage, self.steps
                    )
                out[name] = self._topologies[name]

        return out

    def is_topology_only(self, queue: QuotaNode) -> bool:
        """Return whether all flavors of a queue have a topology, so that all pods are placed."""
        flavors = [
            self.cluster.flavors.get(name)
            for group in queue.holder.groups
            for name in group.flavors
        ]
        return all(flavor is not None and flavor.topology for flavor in flavors)

    def add(self, reservation: Reservation) -> None:
        """Admit a workload."""
        workload = reservation.workload
        self.admitted[workload.cluster_queue][workload] = reservation
        self.queues[workload.cluster_queue].add_usage(reservation.usage)
        add_usage(self.placed, reservation.placed)

    def remove(self, workload: Workload) -> Reservation:
        """Take back what a workload uses."""
        reservation = self.admitted[workload.cluster_queue].pop(workload)
        self.queues[workload.cluster_queue].remove_usage(reservation.usage)
        add_usage(self.placed, reservation.placed, -1)
        return reservation
