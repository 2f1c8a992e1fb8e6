"""Placing pods in the domains of a topology: how many fit where, and which domains are chosen.

Source: Kueue 0.19, pkg/cache/scheduler/tas_flavor_snapshot.go. Balanced placement and preferred
node affinity, which are off by default, and the replacement of failed nodes are not modeled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.nodes import choices_of
from ptcompile.kubernetes.quantity import NANO, Quantity
from ptcompile.kubernetes.selectors import meets, selects, untolerated
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)
from ptcompile.operators.kueue.scheduler.objects import (
    Cluster,
    Flavor,
    Host,
    ResourceAmounts,
    amount_of,
)
from ptcompile.operators.kueue.scheduler.workloads import PodSet, TopologyRequest

HOSTNAME = "kubernetes.io/hostname"

LeafKey = tuple[str, ...]
"""A domain of the lowest level in the whole cluster: flavors of the same nodes share it."""

TopologyUsage = dict[LeafKey, dict[str, int]]
"""What the pods of admitted workloads use, by domain."""


class Placement(NamedTuple):
    """The domains of a pod set, with the number of pods in each."""

    levels: tuple[str, ...]
    domains: tuple[tuple[tuple[str, ...], int], ...]


class PlacementRequest(NamedTuple):
    """A pod set that is to be placed."""

    pod_set: PodSet
    count: int  # type: ignore[assignment]  # not the method that tuples have
    is_implied: bool
    """Whether the queue places all pods, although the pod set requests nothing."""

    @property
    def topology(self) -> TopologyRequest:
        """Where its pods are to run."""
        return self.pod_set.topology


class PlacementError(Exception):
    """The pods of a pod set do not fit."""

    def __init__(self, pod_set: str, reason: str) -> None:
        super().__init__(reason)
        self.pod_set = pod_set


class Domain:
    """A node, or a group of nodes such as a rack."""

    __slots__ = (
        "capacity",
        "children",
        "key",
        "labels",
        "leader_state",
        "name",
        "parent",
        "slice_state",
        "slice_state_with_leader",
        "state",
        "state_with_leader",
        "taints",
        "values",
    )

    def __init__(self, values: tuple[str, ...], parent: Domain | None) -> None:
        self.values = values
        self.parent = parent
        self.children: list[Domain] = []
        self.name = ""
        """Name of its node, if it is one node."""
        self.labels: Mapping[str, str] = {}
        self.taints: tuple[Json, ...] = ()
        self.capacity: dict[str, int] = {}
        self.key: LeafKey = ()
        self.reset()

    def reset(self) -> None:
        """Forget what fits."""
        self.state = self.state_with_leader = 0
        self.slice_state = self.slice_state_with_leader = self.leader_state = 0


class Exclusions:
    """Why nodes take no pod."""

    def __init__(self) -> None:
        self.total = 0
        self.reasons: Counter[str] = Counter()

    def as_text(self) -> str:
        """Return the sentence that Kueue appends to its message."""
        if not self.reasons:
            return ""
        return f". Total nodes: {self.total}; excluded: " + ", ".join(
            sorted(f"{reason}: {count}" for reason, count in self.reasons.items())
        )


class _Parameters(NamedTuple):
    """What is to be placed."""

    pods: int
    leaders: int
    level: int
    slice_level: int
    slice_size: int
    slice_size_at_level: Mapping[int, int]
    """Sizes of the inner slices by level."""
    is_required: bool
    is_unconstrained: bool

    @property
    def slices(self) -> int:
        """How many slices are to be placed."""
        return self.pods // self.slice_size


class FlavorTopology:
    """The nodes of a flavor, grouped by the levels of its Topology."""

    def __init__(
        self,
        cluster: Cluster,
        flavor: Flavor,
        usage: TopologyUsage,
        node_usage: Mapping[str, ResourceAmounts],
        steps: Evaluations,
    ) -> None:
        self.name = flavor.topology
        self.levels = cluster.topologies[flavor.topology]
        self.tolerations = flavor.tolerations
        self.usage = usage
        self.steps = steps
        self._suitable: tuple[Json, list[Domain], Counter[str]] | None = None
        """The answer for the last pod spec; see `_suitable_leaves`."""
        self.by_level: list[dict[tuple[str, ...], Domain]] = [{} for _ in self.levels]
        self.has_hosts = self.levels[-1:] == (HOSTNAME,)
        for host in cluster.hosts:
            self._add_host(host, flavor, node_usage)

    def _add_host(
        self, host: Host, flavor: Flavor, node_usage: Mapping[str, ResourceAmounts]
    ) -> None:
        labels = host.labels
        is_of_flavor = all(labels.get(key) == value for key, value in flavor.labels.items())
        if not is_of_flavor or not all(level in labels for level in self.levels):
            return

        leaf: Domain | None = None
        names = tuple(labels[level] for level in self.levels)
        for i, domains in enumerate(self.by_level):
            parent = leaf
            values = names[: i + 1]
            leaf = domains.get(values)
            if leaf is None:
                leaf = domains[values] = Domain(values, parent)
                if parent is not None:
                    parent.children.append(leaf)

        if leaf is None:
            return

        if self.has_hosts:
            leaf.name = host.name
            leaf.labels = labels
            leaf.taints = host.taints

        leaf.key = leaf_key(self.name, self.levels, leaf.values)
        used = node_usage.get(host.name, {})
        for name, amount in host.capacity.items():
            leaf.capacity[name] = leaf.capacity.get(name, 0) + amount - used.get(name, 0)

    def leaves(self) -> Collection[Domain]:
        """Return the domains of the lowest level."""
        return self.by_level[-1].values()

    def has_levels(self, request: TopologyRequest) -> bool:
        """Return whether the topology has all levels that a request names."""
        names = [request.required or request.preferred, *(level for level, _ in request.slices)]
        return all(name in self.levels for name in names if name)

    def place(
        self,
        requests: Sequence[PlacementRequest],
        assumed: TopologyUsage,
        *,
        is_empty: bool,
    ) -> dict[str, Placement]:
        """Return the placement of each pod set. Raises PlacementError if one does not fit.

        `assumed` is what other pod sets of the workload use, to which the placed ones are added. If
        `is_empty`, nothing else is in use.
        """
        groups: dict[str, list[PlacementRequest]] = {}
        for i, request in enumerate(requests):
            groups.setdefault(request.topology.group or f"\0{i}", []).append(request)
        out: dict[str, Placement] = {}
        for members in groups.values():
            workers, leader = _workers_and_leader(members)
            placed = self._place_group(workers, leader, assumed, is_empty)
            for request in members:
                add_usage(assumed, self.usage_of(placed[request.pod_set.name], request.pod_set))
            out |= placed

        return out

    def usage_of(self, placement: Placement, pod_set: PodSet) -> TopologyUsage:
        """Return what placed pods use in each domain."""
        out: TopologyUsage = {}
        for values, count in placement.domains:
            usage = {name: amount * count for name, amount in pod_set.node_requests.items()}
            usage["pods"] = count
            out[leaf_key(self.name, self.levels, values)] = usage

        return out

    def _place_group(
        self,
        workers: PlacementRequest,
        leader: PlacementRequest | None,
        assumed: TopologyUsage,
        is_empty: bool,
    ) -> dict[str, Placement]:
        parameters = self._parameters(workers, leader)
        exclusions = Exclusions()
        self._fill_in_counts(workers, leader, assumed, is_empty, exclusions)
        for root in self.by_level[0].values():
            _fill_in_counts_helper(root, parameters, 0)
        level, domains = self._find_level_with_fit_domains(
            parameters.level, parameters, exclusions, workers.pod_set.name
        )
        domains = self._spread(level, domains, parameters)
        out = {}
        if leader is not None:
            out[leader.pod_set.name] = self._placement(
                [(domain.values, domain.leader_state) for domain in domains]
            )

        out[workers.pod_set.name] = self._placement(
            [(domain.values, domain.state) for domain in domains]
        )

        return out

    def _placement(self, domains: Iterable[tuple[tuple[str, ...], int]]) -> Placement:
        """Return the placement for the numbers of pods by domain; hosts are named without their
        upper levels.
        """
        start = len(self.levels) - 1 if self.has_hosts else 0
        sorted_domains = sorted(domains)
        return Placement(
            self.levels[start:],
            tuple((values[start:], count) for values, count in sorted_domains if count),
        )

    def _parameters(
        self, workers: PlacementRequest, leader: PlacementRequest | None
    ) -> _Parameters:
        """Return what is to be placed at which levels. Raises PlacementError if the topology
        lacks a level.
        """
        request = workers.topology
        name = workers.pod_set.name
        slice_key, slice_size = request.slices[0] if request.slices else (self.levels[-1], 1)
        key = request.required or request.preferred
        if key is None:
            key = self.levels[0] if request.has_only_slices else self.levels[-1]
        if key not in self.levels:
            raise PlacementError(name, f"no requested topology level: {key}")
        if slice_key not in self.levels:
            raise PlacementError(name, f"no requested topology level for slices: {slice_key}")

        level = self.levels.index(key)
        slice_level = self.levels.index(slice_key)
        if slice_size > workers.count:
            raise PlacementError(
                name, f"a slice of {slice_size} pods is larger than the pod set of {workers.count}"
            )
        if level > slice_level:
            raise PlacementError(
                name, f"podset slice topology {slice_key} is above the podset topology {key}"
            )

        return _Parameters(
            workers.count,
            0 if leader is None else 1,
            level,
            slice_level,
            slice_size,
            self._slice_size_at_level(request, slice_level, slice_size, name),
            request.required is not None,
            request.is_unconstrained or workers.is_implied or request.has_only_slices,
        )

    def _slice_size_at_level(
        self, request: TopologyRequest, level: int, size: int, name: str
    ) -> dict[int, int]:
        out: dict[int, int] = {}
        for key, inner_size in request.slices[1:]:
            if key not in self.levels:
                raise PlacementError(
                    name, f"no requested topology level for additional slice layer: {key}"
                )

            inner = self.levels.index(key)
            if inner <= level:
                why = f"must be at a lower level than {self.levels[level]}"
                raise PlacementError(name, f"additional slice layer topology {key} {why}")
            if size % inner_size:
                why = f"must evenly divide parent layer size {size}"
                raise PlacementError(name, f"additional slice layer size {inner_size} {why}")

            out |= dict.fromkeys(range(level + 1, inner + 1), inner_size)
            level = inner
            size = inner_size

        return out

    def _fill_in_counts(
        self,
        workers: PlacementRequest,
        leader: PlacementRequest | None,
        assumed: TopologyUsage,
        is_empty: bool,
        exclusions: Exclusions,
    ) -> None:
        """Count the pods that fit in each domain of the lowest level."""
        requests = [*{**workers.pod_set.node_requests, "pods": 1}.items()]
        leading = None if leader is None else {**leader.pod_set.node_requests, "pods": 1}
        for level in self.by_level:
            for domain in level.values():
                domain.reset()

        suitable, unsuitable = self._suitable_leaves(workers.pod_set.spec)
        exclusions.total = len(self.leaves())
        exclusions.reasons.update(unsuitable)
        self.steps.spend(exclusions.total)

        for leaf in suitable:
            used = {} if is_empty else self.usage.get(leaf.key, {})
            added = assumed.get(leaf.key, {})
            leaf.state, limiting = _count_fitting(requests, leaf.capacity, used, added)
            leaf.state_with_leader = leaf.state
            if not leaf.state:
                exclusions.reasons[f'resource "{limiting}"'] += 1
            if leading is None:
                continue

            leaders, _ = _count_fitting(leading.items(), leaf.capacity, used, added)
            if leaders > 0:
                leaf.leader_state = 1
                with_leader = {
                    name: added.get(name, 0) + leading.get(name, 0) for name in {*added, *leading}
                }
                leaf.state_with_leader, _ = _count_fitting(
                    requests, leaf.capacity, used, with_leader
                )

    def _suitable_leaves(self, spec: Json) -> tuple[list[Domain], Counter[str]]:
        """Return the domains of the lowest level that take such pods, and how many do not, by
        reason.

        The last answer is kept.
        """
        if self._suitable is not None:
            last_spec, leaves, reasons = self._suitable
            if last_spec is spec:
                return leaves, reasons

        tolerations = [*nested_maps(spec, "tolerations"), *self.tolerations]
        selector = {"matchLabels": spec.get("nodeSelector")}
        choices = choices_of({"affinity": spec.get("affinity")})
        reasons = Counter[str]()
        leaves = []
        for leaf in self.leaves():
            reason = _exclusion(leaf, tolerations, selector, choices) if self.has_hosts else ""
            if reason:
                reasons[reason] += 1
            else:
                leaves.append(leaf)

        self._suitable = spec, leaves, reasons

        return leaves, reasons

    def _find_level_with_fit_domains(
        self, level: int, parameters: _Parameters, exclusions: Exclusions, name: str
    ) -> tuple[int, list[Domain]]:
        """Return the level whose domains are used, and these domains. Raises PlacementError if
        none fit.
        """
        if not self.by_level[level]:
            raise PlacementError(name, f"no topology domains at level: {self.levels[level]}")

        ordered = _sort_domains_with_leader(
            self.by_level[level].values(), parameters.is_unconstrained
        )
        top, *_ = ordered
        slices = parameters.slices
        leaders = parameters.leaders
        if (
            not parameters.is_unconstrained
            and top.slice_state_with_leader >= slices
            and top.leader_state >= leaders
        ):
            top = _find_best_fit_domain(
                ordered, slices, "slice_state_with_leader" if leaders else "slice_state"
            )
        if parameters.is_unconstrained:
            for domain in ordered:
                if domain.slice_state >= slices and (
                    not leaders or domain.slice_state_with_leader >= slices
                ):
                    return level, [domain]
        if top.slice_state_with_leader >= slices and top.leader_state >= leaders:
            return level, [top]
        if parameters.is_required:
            raise self._not_fitting(name, top.slice_state, parameters, exclusions)
        if level > 0 and not parameters.is_unconstrained:
            return self._find_level_with_fit_domains(level - 1, parameters, exclusions, name)

        return level, self._choose_several(ordered, parameters, exclusions, name)

    def _choose_several(
        self,
        ordered: list[Domain],
        parameters: _Parameters,
        exclusions: Exclusions,
        name: str,
    ) -> list[Domain]:
        """Return several domains that hold all slices together. Raises PlacementError if all are
        too few.
        """
        chosen: list[Domain] = []
        slices = parameters.slices
        leaders = parameters.leaders
        i = 0
        is_best_fit = not parameters.is_unconstrained
        while leaders > 0 and i < len(ordered) and ordered[i].leader_state > 0:
            domain = ordered[i]
            if is_best_fit and domain.slice_state_with_leader >= slices:
                domain = _find_best_fit_domain(ordered[i:], slices, "slice_state_with_leader")
            chosen.append(domain)
            leaders -= domain.leader_state
            slices -= domain.slice_state_with_leader
            i += 1

        if leaders > 0:
            raise self._not_fitting(name, parameters.leaders - leaders, parameters, exclusions)

        without_leader = _sort_domains(ordered[i:], parameters.is_unconstrained)
        for i, domain in enumerate(without_leader):
            if slices <= 0:
                break
            if is_best_fit and domain.slice_state >= slices:
                domain = _find_best_fit_domain(without_leader[i:], slices, "slice_state")
            chosen.append(domain)
            slices -= domain.slice_state

        if slices > 0:
            raise self._not_fitting(name, parameters.slices - slices, parameters, exclusions)

        return chosen

    def _not_fitting(
        self, name: str, fitting: int, parameters: _Parameters, exclusions: Exclusions
    ) -> PlacementError:
        unit = "pod(s)" if parameters.slice_size == 1 else "slice(s)"
        requested = parameters.slices
        if fitting:
            why = f"allows to fit only {fitting} out of {requested} {unit}"
        else:
            why = f"doesn't allow to fit any of {requested} {unit}"
        return PlacementError(name, f'topology "{self.name}" {why}{exclusions.as_text()}')

    def _spread(self, level: int, domains: list[Domain], parameters: _Parameters) -> list[Domain]:
        """Return the domains of the lowest level with the pods and leaders in each."""
        is_unconstrained = parameters.is_unconstrained
        size = parameters.slice_size
        domains = _update_counts_to_minimum(
            domains, parameters.pods, parameters.leaders, size, is_unconstrained, in_slices=True
        )
        last = len(self.levels) - 1
        while level < min(last, parameters.slice_level):
            lower = _sort_domains(
                [child for domain in domains for child in domain.children], is_unconstrained
            )
            domains = _update_counts_to_minimum(
                lower, parameters.pods, parameters.leaders, size, is_unconstrained, in_slices=True
            )
            level += 1

        while level < last:
            inner = parameters.slice_size_at_level.get(level + 1, 1)
            lower = []
            for domain in domains:
                children = _sort_domains(domain.children, is_unconstrained)
                if inner > 1:
                    for child in children:
                        child.slice_state = child.state // inner
                        child.slice_state_with_leader = child.state_with_leader // inner

                lower += _update_counts_to_minimum(
                    children,
                    domain.state,
                    domain.leader_state,
                    inner,
                    is_unconstrained,
                    in_slices=inner > 1,
                )

            domains = lower
            level += 1

        return domains


def leaf_key(topology: str, levels: tuple[str, ...], values: Sequence[str]) -> LeafKey:
    """Return the key of a domain of the lowest level: flavors share hosts, whatever their
    topology.
    """
    if levels[-1:] == (HOSTNAME,) and values:
        return (HOSTNAME, values[-1])
    return (topology, *values)


_KUEUE_LABELS = frozenset({"kueue.x-k8s.io/tas", "kueue.x-k8s.io/podset"})
"""Labels of pods that Kueue has placed."""


def used_by_other_pods(pods: Iterable[Json]) -> dict[str, dict[str, int]]:
    """Return what running pods that Kueue has not placed use, by node."""
    out: dict[str, dict[str, int]] = {}
    for pod in pods:
        name = nested_string(pod, "spec", "nodeName")
        has_ended = nested_value(pod, "status", "phase") in ("Succeeded", "Failed")
        is_placed_by_kueue = not _KUEUE_LABELS.isdisjoint(nested_map(pod, "metadata", "labels"))
        if not name or has_ended or is_placed_by_kueue:
            continue

        usage = out.setdefault(name, {})
        requests = {**amounts.pod_requests(nested_map(pod, "spec")), "pods": Quantity(NANO)}
        for resource, amount in requests.items():
            usage[resource] = usage.get(resource, 0) + amount_of(resource, amount)

    return out


def add_usage(usage: TopologyUsage, added: TopologyUsage, sign: int = 1) -> None:
    """Add what is used in each domain."""
    for key, by_resource in added.items():
        total = usage.setdefault(key, {})
        for name, amount in by_resource.items():
            total[name] = total.get(name, 0) + sign * amount


def _workers_and_leader(
    requests: Sequence[PlacementRequest],
) -> tuple[PlacementRequest, PlacementRequest | None]:
    """Return the pod set of the workers and that of their leader; a group has one or two."""
    first, *members = requests
    if not members:
        return first, None

    second, *_ = members
    if second.count > first.count:
        return second, first
    return first, second


def _exclusion(
    leaf: Domain, tolerations: Sequence[Json], selector: Json, choices: Sequence[Sequence[Json]]
) -> str:
    """Return why a node takes no pod, or an empty string."""
    taint = untolerated(leaf.taints, tolerations, compares=True)
    if taint is not None:
        value = f"={taint.get('value')}" if taint.get("value") else ""
        return f'taint "{taint.get("key")}{value}:{taint.get("effect")}"'
    if not selects(selector, leaf.labels):
        return "nodeSelector"

    is_chosen = any(
        all(meets(leaf.labels, requirement) for requirement in choice) for choice in choices
    )

    return "" if is_chosen else "affinity"


def _count_fitting(
    requests: Iterable[tuple[str, int]],
    capacity: ResourceAmounts,
    used: ResourceAmounts,
    added: ResourceAmounts,
) -> tuple[int, str]:
    """Return how many pods fit next to what is in use and what was added, and the resource that
    limits them.
    """
    fewest = 2**31 - 1
    limiting = ""
    for name, amount in requests:
        if amount > 0:
            count = (capacity.get(name, 0) - used.get(name, 0) - added.get(name, 0)) // amount
            if count < fewest:
                fewest = max(0, count)
                limiting = name
    return fewest, limiting


def _fill_in_counts_helper(domain: Domain, parameters: _Parameters, level: int) -> None:
    """Add up what fits in the domains below a domain."""
    size = parameters.slice_size
    if not domain.children:
        if level == parameters.slice_level:
            domain.slice_state = domain.state // size
            domain.slice_state_with_leader = domain.state_with_leader // size
        return

    inner = parameters.slice_size_at_level.get(level + 1, 1)
    pods = slices = leaders = 0
    lost_pods = []
    lost_slices = []
    for child in domain.children:
        _fill_in_counts_helper(child, parameters, level + 1)
        usable = child.state // inner * inner
        usable_with_leader = child.state_with_leader // inner * inner
        pods += usable
        slices += child.slice_state
        leaders = max(leaders, child.leader_state)
        if not parameters.leaders or child.leader_state:
            lost_pods.append(usable - usable_with_leader)
            lost_slices.append(child.slice_state - child.slice_state_with_leader)

    domain.state = pods
    domain.leader_state = leaders
    # a leader goes to the child that loses the fewest by it; without such a child nothing fits
    domain.state_with_leader = pods - min(lost_pods, default=pods)
    domain.slice_state = slices
    domain.slice_state_with_leader = slices - min(lost_slices, default=slices)
    if level == parameters.slice_level:
        domain.slice_state = pods // size
        domain.slice_state_with_leader = domain.state_with_leader // size


def _sort_domains_with_leader(domains: Iterable[Domain], is_unconstrained: bool) -> list[Domain]:
    sign = 1 if is_unconstrained else -1
    return sorted(
        domains,
        key=lambda d: (
            -d.leader_state,
            sign * d.slice_state_with_leader,
            d.state_with_leader,
            d.values,
        ),
    )


def _sort_domains(domains: Iterable[Domain], is_unconstrained: bool) -> list[Domain]:
    sign = 1 if is_unconstrained else -1
    return sorted(domains, key=lambda d: (sign * d.slice_state, d.state, d.values))


def _find_best_fit_domain(domains: Sequence[Domain], needed: int, attribute: str) -> Domain:
    """Return the first of the domains with the least room that is enough, or the first of all."""
    best, *_ = domains
    for domain in domains:
        if needed <= getattr(domain, attribute) < getattr(best, attribute):
            best = domain
    return best


def _update_counts_to_minimum(
    domains: Sequence[Domain],
    pods: int,
    leaders: int,
    size: int,
    is_unconstrained: bool,
    *,
    in_slices: bool,
) -> list[Domain]:
    """Return the domains that are used, with the pods and leaders that each takes."""
    unit_size = size if in_slices else 1
    units = pods // unit_size
    room = "slice_state" if in_slices else "state"
    chosen: list[Domain] = []
    for i, domain in enumerate(domains):
        attribute = f"{room}_with_leader" if leaders > 0 else room
        has_leaders = domain.leader_state >= leaders
        if not is_unconstrained and getattr(domain, attribute) >= units and has_leaders:
            domain = _find_best_fit_domain(domains[i:], units, attribute)

        available = getattr(domain, attribute)
        chosen.append(domain)
        taken_leaders = min(domain.leader_state, leaders) if leaders > 0 else 0
        if available >= units and domain.leader_state >= leaders:
            domain.state = units * unit_size
            domain.leader_state = leaders
            if in_slices:
                domain.slice_state = units
            return chosen

        taken = min(available, units)
        domain.state = taken * unit_size
        domain.leader_state = taken_leaders
        units -= taken
        leaders -= taken_leaders

    return chosen
