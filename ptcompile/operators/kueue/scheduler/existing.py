"""The Workloads of a dump: what is admitted already, and what waits.

Source: Kueue 0.19, apis/kueue/v1beta2/workload_types.go; v1beta1 writes topology assignments as a
list of domains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile.apiserver.admission.request import ClusterState
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.unstructured import (
    Json,
    as_int,
    as_mappings,
    as_string,
    as_strings,
    namespace_of,
    nested_map,
    nested_value,
    object_name,
    string_map,
)
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
            as_string(spec.get("queueName")),
            _priority(spec),
            (),
        )

        self._manifest = manifest
        self._cluster = cluster
        self._state = state
        self._read: tuple[PodSet, ...] | None = None
        metadata = nested_map(manifest, "metadata")
        self.order = as_string(metadata.get("creationTimestamp")), 0
        self.reserved_at = _transition(manifest, "QuotaReserved"), 0
        self.owner = Owner("Workload", self.name)
        for owner in as_mappings(metadata.get("ownerReferences"))[:1]:
            self.owner = Owner(as_string(owner.get("kind")), as_string(owner.get("name")))
        self.was_tried = bool(as_mappings(nested_value(manifest, "status", "conditions")))

    @property
    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pod sets, read on first use."""
        if self._read is None:
            self._read = tuple(_pod_sets(self._manifest, self._cluster, self._state))
        return self._read

    @pod_sets.setter
    def pod_sets(self, value: tuple[PodSet, ...]) -> None:
        self._read = None

    def reservation(self, state: QueueState) -> Reservation | None:
        """Return what the workload uses, or None if it is not admitted to a known queue."""
        admission = nested_map(self._manifest, "status", "admission")
        name = as_string(admission.get("clusterQueue"))
        if name not in state.queues or not _has_condition(self._manifest, "QuotaReserved"):
            return None

        self.cluster_queue = name
        usage: dict[FlavorResource, int] = {}
        placed: TopologyUsage = {}
        for assigned in as_mappings(admission.get("podSetAssignments")):
            flavors = string_map(assigned.get("flavors"))
            for resource, amount in amounts_of(
                amounts.quantities_of(assigned, "resourceUsage")
            ).items():
                key = flavors.get(resource, ""), resource
                usage[key] = usage.get(key, 0) + amount
            add_usage(placed, self._placed(assigned, flavors.values()))

        return Reservation(self, usage, placed)

    def _placed(self, assigned: Json, flavors: Iterable[str]) -> TopologyUsage:
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
        levels = tuple(as_strings(assignment.get("levels")))
        out: TopologyUsage = {}
        for values, count in placed_domains(assignment):
            usage = {**{name: amount * count for name, amount in requests.items()}, "pods": count}
            add_usage(out, {leaf_key(topology, levels, values): usage})

        return out


def existing_workloads(
    cluster: Cluster, manifests: Iterable[Json], state: ClusterState
) -> Iterator[ExistingWorkload]:
    """Yield the Workloads of a dump that are admitted or wait."""
    for manifest in manifests:
        is_off = nested_value(manifest, "spec", "active") is False
        if not is_off and not _has_condition(manifest, "Finished"):
            yield ExistingWorkload(manifest, cluster, state)


def placed_domains(assignment: Json) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the domains of a topology assignment with the number of pods in each."""
    for domain in as_mappings(assignment.get("domains")):
        yield tuple(as_strings(domain.get("values"))), as_int(domain.get("count"))
    for part in as_mappings(assignment.get("slices")):
        count = max(0, min(_MAX_DOMAINS, as_int(part.get("domainCount"))))
        values = [_values(level, count) for level in as_mappings(part.get("valuesPerLevel"))]
        pods = nested_map(part, "podCounts")
        individual = pods.get("individual")
        for i in range(count):
            if isinstance(individual, list) and i < len(individual):
                each = individual[i]
            else:
                each = pods.get("universal")
            yield tuple(level[i] for level in values), as_int(each)


def _values(level: Json, count: int) -> list[str]:
    """Return the value of each domain at one level."""
    individual = nested_map(level, "individual")
    if not individual:
        return [as_string(level.get("universal"))] * count
    prefix, suffix = (as_string(individual.get(key)) for key in ("prefix", "suffix"))
    roots = as_strings(individual.get("roots"))
    return [f"{prefix}{roots[i] if i < len(roots) else ''}{suffix}" for i in range(count)]


def _pod_sets(manifest: Json, cluster: Cluster, state: ClusterState) -> Iterator[PodSet]:
    for item in as_mappings(nested_value(manifest, "spec", "podSets")):
        spec = adjusted_spec(nested_map(item, "template", "spec"), namespace_of(manifest), state)
        least = item.get("minCount")
        yield pod_set(
            as_string(item.get("name")) or "main",
            as_int(item.get("count"), 1),
            as_int(least) if isinstance(least, int) else None,
            spec,
            _topology(nested_map(item, "topologyRequest")),
            cluster.configuration,
        )


def _topology(request: Json) -> TopologyRequest:
    slices: tuple[tuple[str, int], ...] = ()
    if level := as_string(request.get("podSetSliceRequiredTopology")):
        slices = ((level, max(1, as_int(request.get("podSetSliceSize"), 1))),)
    elif constraints := as_mappings(request.get("podsetSliceRequiredTopologyConstraints")):
        slices = tuple(
            (as_string(item.get("topology")), max(1, as_int(item.get("size"), 1)))
            for item in constraints
        )

    return TopologyRequest(
        as_string(request.get("required")) or None,
        as_string(request.get("preferred")) or None,
        request.get("unconstrained") is True,
        slices,
        as_string(request.get("podSetGroupName")) or None,
    )


def _priority(spec: Mapping[str, object]) -> int:
    return as_int(spec.get("priority"))


def _has_condition(manifest: Json, name: str) -> bool:
    conditions = as_mappings(nested_value(manifest, "status", "conditions"))
    return any(item.get("type") == name and item.get("status") == "True" for item in conditions)


def _transition(manifest: Json, name: str) -> str:
    conditions = as_mappings(nested_value(manifest, "status", "conditions"))
    times = [
        as_string(item.get("lastTransitionTime")) for item in conditions if item.get("type") == name
    ]
    return times[0] if times else ""
