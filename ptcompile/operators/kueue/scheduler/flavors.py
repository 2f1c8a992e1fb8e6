"""Choosing a flavor for each resource of each pod set: whether it fits, fits after preemption, or
never.

Source: Kueue 0.19, pkg/scheduler/flavorassigner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.nodes import NodeGroup, always, choices_of, reaches
from ptcompile.kubernetes.pod_spec import terms_of
from ptcompile.kubernetes.selectors import untolerated
from ptcompile.kubernetes.unstructured import nested_map, nested_maps, nested_string
from ptcompile.operators.kueue.scheduler.objects import (
    Flavor,
    FlavorResource,
    ResourceGroup,
    as_text,
)
from ptcompile.operators.kueue.scheduler.quota import QuotaNode
from ptcompile.operators.kueue.scheduler.state import QueueState
from ptcompile.operators.kueue.scheduler.topology import (
    FlavorTopology,
    Placement,
    PlacementError,
    PlacementRequest,
    TopologyUsage,
)
from ptcompile.operators.kueue.scheduler.workloads import PodSet, Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    Simulate = Callable[[Workload, FlavorResource, int], "QuotaFit"]
    """Returns how a resource would fit after preemption, and how far the queue would then borrow."""


class Fit(IntEnum):
    """How well a request fits, the worst first."""

    NO_FIT = 0
    NO_PREEMPTION_CANDIDATES = 1
    """It would fit after preemption, but nothing may be preempted."""
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4


class QuotaFit(NamedTuple):
    """How an amount fits the quota of a flavor."""

    fit: Fit
    borrowing: int
    """How far up the cohorts the quota comes from; 0 if the queue borrows none."""


_WORST = QuotaFit(Fit.NO_FIT, borrowing=2**31)


class FlavorChoice:
    """A flavor of one resource of a pod set."""

    __slots__ = ("borrowing", "fit", "name", "tried")

    def __init__(self, name: str, fit: Fit, borrowing: int) -> None:
        self.name = name
        self.fit = fit
        self.borrowing = borrowing
        """See `QuotaFit.borrowing`."""
        self.tried = -1
        """Index of the flavor that was tried last, or -1 if it was the last one."""


class PodSetAssignment:
    """What a pod set would get."""

    def __init__(self, pod_set: PodSet, count: int, requests: dict[str, int]) -> None:
        self.pod_set = pod_set
        self.count = count
        self.requests = requests
        """What all its pods request together."""
        self.flavors: dict[str, FlavorChoice] = {}
        self.reasons: list[str] = []
        self.error = ""
        self.placement: Placement | None = None

    @property
    def fit(self) -> Fit:
        """How well it fits: as its worst resource."""
        if not self.reasons and not self.error:
            return Fit.FIT
        if not self.flavors or self.error:
            return Fit.NO_FIT
        return min(choice.fit for choice in self.flavors.values())


class Assignment:
    """What a workload would get."""

    def __init__(self) -> None:
        self.pod_sets: list[PodSetAssignment] = []
        self.usage: dict[FlavorResource, int] = {}
        self.borrowing = 0
        self.cursor: list[dict[str, int]] = []
        self.exceeded: FlavorResource | None = None
        """The first quota that is too small."""

    @property
    def fit(self) -> Fit:
        """How well it fits: as its worst pod set."""
        return min((item.fit for item in self.pod_sets), default=Fit.FIT)

    def append(self, item: PodSetAssignment) -> None:
        """Add a pod set and what it uses."""
        self.pod_sets.append(item)
        for resource, choice in item.flavors.items():
            self.borrowing = max(self.borrowing, choice.borrowing)
            key = choice.name, resource
            self.usage[key] = self.usage.get(key, 0) + item.requests.get(resource, 0)
        self.cursor.append({resource: choice.tried for resource, choice in item.flavors.items()})

    def set_fit(self, name: str, fit: Fit) -> None:
        """Set how well a pod set fits."""
        for item in self.pod_sets:
            if item.pod_set.name == name:
                for choice in item.flavors.values():
                    choice.fit = fit

    def preempting(self) -> set[FlavorResource]:
        """Return the flavors and resources for which others must go."""
        return {
            (choice.name, resource)
            for item in self.pod_sets
            for resource, choice in item.flavors.items()
            if Fit.NO_FIT < choice.fit < Fit.FIT
        }

    def has_untried_flavors(self) -> bool:
        """Return whether another choice of flavors is left to try."""
        return any(index != -1 for tried in self.cursor for index in tried.values())

    def message(self) -> str:
        """Return why it does not fit, in Kueue's words."""
        out = []
        for item in self.pod_sets:
            if item.error:
                out.append(f"failed to assign flavors to pod set {item.pod_set.name}: {item.error}")
            elif item.reasons:
                reasons = ", ".join(sorted(item.reasons))
                out.append(f"couldn't assign flavors to pod set {item.pod_set.name}: {reasons}")
        return "; ".join(out)


class _Search(NamedTuple):
    """What all steps of an assignment need."""

    workload: Workload
    queue: QuotaNode
    state: QueueState
    assignment: Assignment
    simulate: Simulate


def assign(
    workload: Workload, state: QueueState, simulate: Simulate, counts: Sequence[int]
) -> Assignment:
    """Return what a workload would get, with other counts of pods if they are given."""
    assignment = Assignment()
    search = _Search(workload, state.queues[workload.cluster_queue], state, assignment, simulate)
    groups: dict[str, list[int]] = {}
    for i, pod_set in enumerate(workload.pod_sets):
        groups.setdefault(pod_set.topology.group or f"\0{i}", []).append(i)
    for members in groups.values():
        if not _assign_group(search, members, counts):
            return assignment
    if assignment.fit != Fit.NO_FIT:
        _assign_topology(search)

    return assignment


def _assign_group(search: _Search, members: Sequence[int], counts: Sequence[int]) -> bool:
    """Assign flavors to pod sets that share them, and return whether each pod set has some."""
    items = []
    requests = dict[str, int]()
    for i in members:
        pod_set = search.workload.pod_sets[i]
        count = counts[i] if counts else pod_set.count
        item_requests = {name: amount * count for name, amount in pod_set.requests.items()}
        if search.queue.holder.group_of("pods") is not None:
            item_requests["pods"] = count
        items.append(PodSetAssignment(pod_set, count, item_requests))
        for name, amount in item_requests.items():
            requests[name] = requests.get(name, 0) + amount

    flavors, reasons = _group_flavors(search, members, requests)
    has_failed = False
    for item in items:
        # a pod set that requests nothing is placed by the flavors of its group
        if not item.requests and item.pod_set.topology.group:
            topologies = search.state.topologies(search.queue)
            item.flavors = {name: c for name, c in flavors.items() if c.name in topologies}
        else:
            item.flavors = {name: c for name, c in flavors.items() if name in item.requests}
        item.reasons = list(reasons)

        search.assignment.append(item)
        has_failed = has_failed or bool(item.requests and not item.flavors and reasons)

    return not has_failed


def _group_flavors(
    search: _Search, members: Sequence[int], requests: Mapping[str, int]
) -> tuple[dict[str, FlavorChoice], list[str]]:
    """Return a flavor for each requested resource, and why they do not fit at once."""
    flavors: dict[str, FlavorChoice] = {}
    reasons: list[str] = []
    for name in sorted(requests):
        group = search.queue.holder.group_of(name)
        if group is None:
            if not requests[name] or search.state.cluster.configuration.may_ignore(name):
                continue
            return {}, [f"resource {name} unavailable in ClusterQueue"]
        if name in flavors:
            continue

        chosen, why = _find_flavor(search, members, requests, name, group)
        if not chosen:
            return {}, why

        flavors |= chosen
        reasons += why

    return flavors, reasons


def _find_flavor(
    search: _Search,
    members: Sequence[int],
    requests: Mapping[str, int],
    name: str,
    group: ResourceGroup,
) -> tuple[dict[str, FlavorChoice], list[str]]:
    """Return the best flavor of a resource group, as a choice for each requested resource of the
    group, and why the pods do not fit at once.
    """
    group_requests = {
        resource: requests[resource] for resource in sorted(requests) if resource in group.resources
    }
    fungibility = nested_map(search.queue.holder.spec, "flavorFungibility")
    preference = nested_string(fungibility, "preference")

    best: dict[str, FlavorChoice] = {}
    best_fit = _WORST
    reasons: list[str] = []
    tried = -1
    for index in range(next_flavor(search.workload, members[0], name), len(group.flavors)):
        tried = index
        flavor = group.flavors[index]
        why = _mismatch(search, flavor, members, group)
        if why:
            reasons.append(why)
            continue

        choices, worst = _fit_flavor(search, flavor, group_requests, preference, reasons)
        is_last = not _tries_next(worst, fungibility)
        if is_last or _is_better(worst, best_fit, preference):
            best = choices
            best_fit = worst
        if is_last:
            break

    # the next search goes on after the flavor that was tried last, or begins anew
    for choice in best.values():
        choice.tried = -1 if tried == len(group.flavors) - 1 else tried
    return best, [] if best_fit.fit == Fit.FIT else reasons


def _fit_flavor(
    search: _Search,
    flavor: str,
    requests: Mapping[str, int],
    preference: str,
    reasons: list[str],
) -> tuple[dict[str, FlavorChoice], QuotaFit]:
    """Return the choice of a flavor for each resource, up to one without quota, and the worst of
    their fits; add to `reasons` why a resource does not fit at once.
    """
    choices: dict[str, FlavorChoice] = {}
    worst = QuotaFit(Fit.FIT, borrowing=0)
    for resource, amount in requests.items():
        fit, why = _fit_quota(search, (flavor, resource), amount)
        if why:
            reasons.append(why)
        if _is_better(worst, fit, preference):
            worst = fit
        if worst.fit == Fit.NO_FIT:
            break
        choices[resource] = FlavorChoice(flavor, fit.fit, fit.borrowing)

    return choices, worst


def next_flavor(workload: Workload, index: int, resource: str) -> int:
    """Return the index of the flavor at which the search goes on."""
    if index < len(workload.cursor):
        return workload.cursor[index].get(resource, -1) + 1
    return 0


def _is_better(a: QuotaFit, b: QuotaFit, preference: str) -> bool:
    """Return whether `a` is preferred to `b`."""
    if Fit.NO_FIT in (a.fit, b.fit):
        return a.fit != Fit.NO_FIT
    if (a.fit == Fit.NO_PREEMPTION_CANDIDATES) != (b.fit == Fit.NO_PREEMPTION_CANDIDATES):
        return b.fit == Fit.NO_PREEMPTION_CANDIDATES
    if a.fit == b.fit or (preference == "PreemptionOverBorrowing" and a.borrowing != b.borrowing):
        return a.borrowing < b.borrowing
    return a.fit > b.fit


def _tries_next(worst: QuotaFit, fungibility: Mapping[str, object]) -> bool:
    """Return whether the search goes on after a flavor."""
    if worst.fit in (Fit.NO_FIT, Fit.NO_PREEMPTION_CANDIDATES):
        return True

    preempts = worst.fit in (Fit.PREEMPT, Fit.RECLAIM)
    if preempts and fungibility.get("whenCanPreempt") in (None, "", "TryNextFlavor"):
        return True
    return worst.borrowing > 0 and fungibility.get("whenCanBorrow") == "TryNextFlavor"


def _mismatch(search: _Search, name: str, members: Sequence[int], group: ResourceGroup) -> str:
    """Return why these pod sets cannot use the nodes of a flavor, or an empty string."""
    flavor = search.state.cluster.flavors.get(name)
    if flavor is None:
        if search.state.cluster.is_complete:
            return f"flavor {name} not found"
        return ""

    for i in members:
        pod_set = search.workload.pod_sets[i]
        why = _topology_mismatch(search, flavor, pod_set, group) or node_mismatch(pod_set, flavor)
        if why:
            return why

    return ""


def node_mismatch(pod_set: PodSet, flavor: Flavor) -> str:
    """Return why pods cannot run on the nodes of a flavor, or an empty string."""
    tolerations = [*nested_maps(pod_set.spec, "tolerations"), *flavor.tolerations]
    taint = untolerated(flavor.taints, tolerations, compares=True)
    if taint is not None:
        parts = [nested_string(taint, key) for key in ("key", "value", "effect")]
        return f"untolerated taint {{{' '.join(parts)} <nil>}} in flavor {flavor.name}"

    # a term without matchExpressions names no label of a flavor, so it matches every flavor
    has_empty_term = not all(term.get("matchExpressions") for term in terms_of(pod_set.spec))
    spec = {**pod_set.spec, "affinity": None} if has_empty_term else pod_set.spec
    labels = {key: (value,) for key, value in flavor.labels.items()}
    if not reaches(choices_of(spec), NodeGroup((flavor.name,), labels, is_open=always)):
        return f"flavor {flavor.name} doesn't match node affinity"

    return ""


def _topology_mismatch(
    search: _Search, flavor: Flavor, pod_set: PodSet, group: ResourceGroup
) -> str:
    """Return why a flavor's topology, or its lack of one, is not for a pod set, or an empty
    string.
    """
    if not pod_set.topology.is_explicit:
        if flavor.topology and not search.state.is_topology_only(search.queue):
            return f'Flavor "{flavor.name}" supports only TopologyAwareScheduling'
        return ""

    if not flavor.topology:
        if pod_set.node_requests.keys().isdisjoint(group.resources):
            return ""
        return f'Flavor "{flavor.name}" does not support TopologyAwareScheduling'

    topology = search.state.topologies(search.queue).get(flavor.name)
    if topology is None:
        if search.state.cluster.is_complete:
            return f'Flavor "{flavor.name}" information missing in TAS cache'
        return ""

    if not topology.has_levels(pod_set.topology):
        return f'Flavor "{flavor.name}" does not contain the requested level'
    return ""


def _fit_quota(search: _Search, key: FlavorResource, amount: int) -> tuple[QuotaFit, str]:
    """Return how an amount fits the quota, and why it does not fit at once."""
    queue = search.queue
    flavor, resource = key
    before = search.assignment.usage.get(key, 0)
    total = before + amount
    capacity = queue.potential_available(key)
    available = max(0, queue.available(key))
    if total > min(capacity, available) and search.assignment.exceeded is None:
        search.assignment.exceeded = key
    if total > capacity:
        why = (
            f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets "
            f"requests ({as_text(resource, before)}) + current podset request "
            f"({as_text(resource, amount)}) > maximum capacity ({as_text(resource, capacity)})"
        )
        return QuotaFit(Fit.NO_FIT, borrowing=0), why

    borrowing, is_below_root = queue.find_height_of_lowest_subtree_that_fits(key, total)
    if total <= available:
        return QuotaFit(Fit.FIT, borrowing), ""

    more = as_text(resource, total - available)
    why = f"insufficient unused quota for {resource} in flavor {flavor}, {more} more needed"
    if queue.quota(key).nominal >= total or is_below_root or _may_preempt_while_borrowing(search):
        return search.simulate(search.workload, key, total), why

    return QuotaFit(Fit.NO_FIT, borrowing), why


def _may_preempt_while_borrowing(search: _Search) -> bool:
    if search.queue.may_borrow_within_cohort:
        return True
    policy = search.queue.preemption.get("reclaimWithinCohort")
    is_reclaiming = policy not in (None, "", "Never")
    return search.state.cluster.configuration.fair_sharing and is_reclaiming


def placement_requests(
    assignment: Assignment, workload: Workload, state: QueueState
) -> dict[str, list[PlacementRequest]]:
    """Return the pod sets that are to be placed, by flavor. Pod sets without a flavor of a
    topology get an error.
    """
    queue = state.queues[workload.cluster_queue]
    if not state.cluster.places_pods:
        return {}

    places_all = state.is_topology_only(queue)
    topologies = state.topologies(queue)
    out: dict[str, list[PlacementRequest]] = {}
    for item in assignment.pod_sets:
        is_explicit = item.pod_set.topology.is_explicit
        is_to_be_placed = is_explicit or places_all
        if not is_to_be_placed or item.error or not item.count:
            continue

        if not topologies:
            item.error = "workload requires Topology, but there is no TAS cache information"
            continue

        names = sorted({choice.name for choice in item.flavors.values()} & topologies.keys())
        if not names:
            item.error = "workload requires Topology, but there is no TAS flavor assigned"
        elif len(names) > 1:
            why = f"more than one flavor assigned: {', '.join(names)}"
            item.error = f"workload requires Topology, but {why}"
        else:
            (flavor,) = names
            request = PlacementRequest(item.pod_set, item.count, is_implied=not is_explicit)
            out.setdefault(flavor, []).append(request)

    return out


def place_all(
    requests: Mapping[str, Sequence[PlacementRequest]],
    topologies: Mapping[str, FlavorTopology],
    *,
    is_empty: bool,
) -> dict[str, Placement]:
    """Return the placement of each pod set. Raises PlacementError if one does not fit."""
    out: dict[str, Placement] = {}
    assumed: TopologyUsage = {}
    for flavor, items in requests.items():
        out |= topologies[flavor].place(items, assumed, is_empty=is_empty)
    return out


def _assign_topology(search: _Search) -> None:
    """Place the pods, or say why they cannot be placed now or ever."""
    assignment = search.assignment
    topologies = search.state.topologies(search.queue)
    requests = placement_requests(assignment, search.workload, search.state)
    by_name = {item.pod_set.name: item for item in assignment.pod_sets}
    if assignment.fit == Fit.FIT:
        try:
            placements = place_all(requests, topologies, is_empty=False)
        except PlacementError as error:
            by_name[error.pod_set].reasons.append(str(error))
            assignment.set_fit(error.pod_set, Fit.PREEMPT)
        else:
            for name, placement in placements.items():
                by_name[name].placement = placement

    if not Fit.NO_FIT < assignment.fit < Fit.FIT:
        return

    # a job that does not fit on empty nodes never fits; any other may preempt what runs there
    try:
        place_all(requests, topologies, is_empty=True)
    except PlacementError as error:
        assignment.set_fit(error.pod_set, Fit.NO_FIT)
        return

    # even if the quota is enough, only preemption makes room in the domains
    for items in requests.values():
        for item in items:
            assignment.set_fit(item.pod_set.name, Fit.PREEMPT)
