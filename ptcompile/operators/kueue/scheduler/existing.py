"""The Workloads of a dump: what is admitted already, and what waits.

Source: Kueue 0.19, apis/kueue/v1beta2/workload_types.go; v1beta1 writes topology assignments as a
list of domains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile.apiserver.admission.request import ClusterState
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.unstructured import (
    Json,
    as_int,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.operators.kueue.queues import has_condition
from ptcompile.operators.kueue.scheduler.objects import Cluster, FlavorResource, amounts_of
from ptcompile.operators.kueue.scheduler.state import QueueState, Reservation
from ptcompile.operators.kueue.scheduler.topology import TopologyUsage, add_usage, leaf_key
from ptcompile.operators.kueue.scheduler.workloads import (
    Owner,
    PodSet,
    TopologyRequest,
    Workload,
    adjusted_spec,
    pod_set,
)

_MAX_DOMAINS = 100_000


class ExistingWorkload(Workload):
    """A Workload of a dump; its pod sets are read when they are needed."""

    def __init__(self, manifest: Json, cluster: Cluster, state: ClusterState) -> None:
        spec = nested_map(manifest, "spec")
        super().__init__(
            object_name(manifest),
            namespace_of(manifest),
            nested_string(spec, "queueName"),
            nested_int(spec, "priority"),
            (),
        )

        self._manifest = manifest
        self._cluster = cluster
        self._state = state
        self._read: tuple[PodSet, ...] | None = None
        metadata = nested_map(manifest, "metadata")
        self.order = nested_string(metadata, "creationTimestamp"), 0
        conditions = nested_maps(manifest, "status", "conditions")
        times = (
            nested_string(condition, "lastTransitionTime")
            for condition in conditions
            if condition.get("type") == "QuotaReserved"
        )
        self.reserved_at = next(times, ""), 0
        self.owner = Owner("Workload", self.name)
        for owner in nested_maps(metadata, "ownerReferences")[:1]:
            self.owner = Owner(nested_string(owner, "kind"), nested_string(owner, "name"))
        self.was_tried = bool(conditions)

    @property
    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pod sets, read on first use."""
        if self._read is None:
            self._read = tuple(_pod_sets(self._manifest, self._cluster, self._state))
        return self._read

    @pod_sets.setter
    def pod_sets(self, value: tuple[PodSet, ...]) -> None:
        # `Workload.__init__` sets them to (), before there is a manifest to read
        self._read = None

    def reservation(self, state: QueueState) -> Reservation | None:
        """Return what the workload uses, or None if it is not admitted to a known queue."""
        admission = nested_map(self._manifest, "status", "admission")
        name = nested_string(admission, "clusterQueue")
        if name not in state.queues or not has_condition(self._manifest, "QuotaReserved"):
            return None

        self.cluster_queue = name
        usage: dict[FlavorResource, int] = {}
        placed: TopologyUsage = {}
        for assigned in nested_maps(admission, "podSetAssignments"):
            flavors = nested_string_map(assigned, "flavors")
            for resource, amount in amounts_of(
                amounts.quantities_of(assigned, "resourceUsage")
            ).items():
                key = flavors.get(resource, ""), resource
                usage[key] = usage.get(key, 0) + amount
            add_usage(placed, self._placed_usage(assigned, flavors.values()))

        return Reservation(self, usage, placed)

    def _placed_usage(self, assigned: Json, flavors: Iterable[str]) -> TopologyUsage:
        """Return what the pods of a pod set use in each domain."""
        assignment = nested_map(assigned, "topologyAssignment")
        if not assignment:
            return {}

        requests = next(
            (item.node_requests for item in self.pod_sets if item.name == assigned.get("name")), {}
        )
        names = (
            self._cluster.flavors[name].topology
            for name in flavors
            if name in self._cluster.flavors
        )
        topology = next(filter(None, names), "")
        levels = tuple(nested_strings(assignment, "levels"))
        out: TopologyUsage = {}
        for values, count in placed_domains(assignment):
            usage = {name: amount * count for name, amount in requests.items()}
            usage["pods"] = count
            add_usage(out, {leaf_key(topology, levels, values): usage})

        return out


def existing_workloads(
    cluster: Cluster, manifests: Iterable[Json], state: ClusterState
) -> Iterator[ExistingWorkload]:
    """Yield the Workloads of a dump that are admitted or wait."""
    for manifest in manifests:
        is_off = nested_value(manifest, "spec", "active") is False
        if not is_off and not has_condition(manifest, "Finished"):
            yield ExistingWorkload(manifest, cluster, state)


def placed_domains(assignment: Json) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the domains of a topology assignment with the number of pods in each."""
    for domain in nested_maps(assignment, "domains"):
        yield tuple(nested_strings(domain, "values")), nested_int(domain, "count")
    for part in nested_maps(assignment, "slices"):
        count = max(0, min(_MAX_DOMAINS, nested_int(part, "domainCount")))
        values = [_values(level, count) for level in nested_maps(part, "valuesPerLevel")]
        pods = nested_map(part, "podCounts")
        individual = pods.get("individual")
        for i in range(count):
            if isinstance(individual, list) and i < len(individual):
                pod_count = individual[i]
            else:
                pod_count = pods.get("universal")
            yield tuple(level[i] for level in values), as_int(pod_count)


def _values(level: Json, count: int) -> list[str]:
    """Return the value of each domain at one level."""
    individual = nested_map(level, "individual")
    if not individual:
        return [nested_string(level, "universal")] * count
    prefix, suffix = (nested_string(individual, key) for key in ("prefix", "suffix"))
    roots = nested_strings(individual, "roots")
    return [f"{prefix}{roots[i] if i < len(roots) else ''}{suffix}" for i in range(count)]


def _pod_sets(manifest: Json, cluster: Cluster, state: ClusterState) -> Iterator[PodSet]:
    for item in nested_maps(manifest, "spec", "podSets"):
        spec = adjusted_spec(nested_map(item, "template", "spec"), namespace_of(manifest), state)
        min_count = item.get("minCount")
        yield pod_set(
            nested_string(item, "name") or "main",
            nested_int(item, "count", default=1),
            as_int(min_count) if isinstance(min_count, int) else None,
            spec,
            _topology(nested_map(item, "topologyRequest")),
            cluster.configuration,
        )


def _topology(request: Json) -> TopologyRequest:
    slices: tuple[tuple[str, int], ...] = ()
    if level := nested_string(request, "podSetSliceRequiredTopology"):
        slices = ((level, max(1, nested_int(request, "podSetSliceSize", default=1))),)
    elif constraints := nested_maps(request, "podsetSliceRequiredTopologyConstraints"):
        slices = tuple(
            (nested_string(item, "topology"), max(1, nested_int(item, "size", default=1)))
            for item in constraints
        )

    return TopologyRequest(
        nested_string(request, "required") or None,
        nested_string(request, "preferred") or None,
        request.get("unconstrained") is True,
        slices,
        nested_string(request, "podSetGroupName") or None,
    )
