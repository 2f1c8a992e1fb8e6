"""Which admitted workloads must go so that another one fits.

Source: Kueue 0.19, pkg/scheduler/preemption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.unstructured import as_string, nested_value
from ptcompile.operators.kueue.scheduler.flavors import (
    Assignment,
    Fit,
    QuotaFit,
    place_all,
    placement_requests,
)
from ptcompile.operators.kueue.scheduler.objects import FlavorResource
from ptcompile.operators.kueue.scheduler.quota import QuotaNode, Usage
from ptcompile.operators.kueue.scheduler.state import QueueState, Reservation
from ptcompile.operators.kueue.scheduler.topology import PlacementError, PlacementRequest
from ptcompile.operators.kueue.scheduler.workloads import Workload

IN_QUEUE = "InClusterQueue"
RECLAIMED = "InCohortReclamation"
RECLAIMED_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
FAIR_SHARING = "InCohortFairSharing"


class PreemptionTarget(NamedTuple):
    """A workload that must go, and Kueue's word for why."""

    workload: Workload
    how: str


class Incoming(NamedTuple):
    """The workload that is to be admitted."""

    workload: Workload
    queue: QuotaNode
    usage: Usage
    contested: frozenset[FlavorResource]
    """What others must give back."""
    placements: Mapping[str, Sequence[PlacementRequest]]
    state: QueueState


class _Kind(Enum):
    """The reason why a candidate may be preempted."""

    SAME_QUEUE = IN_QUEUE
    OWN_QUOTA = RECLAIMED
    WITHOUT_BORROWING = "reclaim without borrowing"
    WHILE_BORROWING = RECLAIMED_WHILE_BORROWING

    @property
    def reason(self) -> str:
        """Kueue's word."""
        if self is _Kind.WITHOUT_BORROWING:
            return RECLAIMED
        return str(self.value)


class _Candidate(NamedTuple):
    workload: Workload
    kind: _Kind
    ancestor: QuotaNode | None
    """The smallest cohort with both queues, or None in the same queue."""


def find_targets(
    workload: Workload, assignment: Assignment, state: QueueState
) -> list[PreemptionTarget]:
    """Return the workloads that must be preempted for an assignment, or none if it does not fit
    even without them.
    """
    return _targets(
        Incoming(
            workload,
            state.queues[workload.cluster_queue],
            assignment.usage,
            frozenset(assignment.preempting()),
            placement_requests(assignment, workload, state),
            state,
        )
    )


def simulate(state: QueueState) -> Callable[[Workload, FlavorResource, int], QuotaFit]:
    """Return a function that computes how one resource would fit after preemption."""

    def fit_after_preemption(workload: Workload, key: FlavorResource, amount: int) -> QuotaFit:
        queue = state.queues[workload.cluster_queue]
        targets = _targets(Incoming(workload, queue, {key: amount}, frozenset({key}), {}, state))
        if not targets:
            fit = Fit.NO_PREEMPTION_CANDIDATES
        elif any(target.workload.cluster_queue == queue.name for target in targets):
            fit = Fit.PREEMPT
        else:
            fit = Fit.RECLAIM

        removed = [state.remove(target.workload) for target in targets]
        borrowing, _ = queue.find_height_of_lowest_subtree_that_fits(key, amount)
        _restore(state, removed)

        return QuotaFit(fit, borrowing)

    return fit_after_preemption


def _targets(incoming: Incoming) -> list[PreemptionTarget]:
    """Return the workloads to preempt, as the configured algorithm finds them."""
    if incoming.state.cluster.configuration.fair_sharing:
        from ptcompile.operators.kueue.scheduler.fair_sharing import fair_candidates

        return _fewest(incoming, fair_candidates(incoming), may_borrow=True)

    queue = incoming.queue
    policy = as_string(queue.preemption.get("withinClusterQueue"), "Never")
    matching = candidate_order(satisfying(incoming, queue, policy))
    same_queue = [_Candidate(workload, _Kind.SAME_QUEUE, None) for workload in matching]
    own_quota, by_priority = _in_cohort(incoming)
    candidates = [*own_quota, *by_priority, *same_queue]
    is_borrowing_forbidden = not queue.may_borrow_within_cohort
    is_under_nominal = all(
        queue.usage.get(key, 0) < queue.quota(key).nominal for key in incoming.contested
    )
    has_candidates_in_cohort = bool(own_quota or by_priority)
    if not has_candidates_in_cohort or (is_borrowing_forbidden and not is_under_nominal):
        attempts = [True]
    elif is_borrowing_forbidden and not own_quota:
        attempts = [False, True]
    else:
        attempts = [True, False]

    for may_borrow in attempts:
        targets = _fewest(
            incoming,
            _preemptible_candidates(incoming, candidates, may_borrow=may_borrow),
            may_borrow=may_borrow,
        )
        if targets:
            return targets

    return []


def _preemptible_candidates(
    incoming: Incoming, candidates: Iterable[_Candidate], *, may_borrow: bool
) -> Iterator[PreemptionTarget]:
    """Yield the candidates that may be preempted. The caller removes each yielded one, so that the
    next is judged without it.
    """
    for workload, kind, ancestor in candidates:
        if workload.cluster_queue != incoming.queue.name:
            queue = incoming.state.queues[workload.cluster_queue]
            if may_borrow and kind is _Kind.WITHOUT_BORROWING:
                continue
            if queue.is_within_nominal_in_resources(incoming.contested):
                continue
            if _is_covered(queue, ancestor, incoming.contested):
                continue
        yield PreemptionTarget(workload, kind.reason)


def _is_covered(
    queue: QuotaNode, ancestor: QuotaNode | None, contested: Iterable[FlavorResource]
) -> bool:
    """Return whether a cohort between a queue and the common one borrows nothing."""
    for node in queue.ancestors:
        if node is ancestor:
            return False
        if node.is_within_nominal_in_resources(contested):
            return True
    return False


def _fewest(
    incoming: Incoming, candidates: Iterable[PreemptionTarget], *, may_borrow: bool
) -> list[PreemptionTarget]:
    """Return as few of the candidates as must go, in order, or none if it does not fit without
    all of them.
    """
    state = incoming.state
    targets: list[PreemptionTarget] = []
    removed: list[Reservation] = []
    fits = is_placed = False
    for target in candidates:
        state.steps.spend(1)
        targets.append(target)
        removed.append(state.remove(target.workload))
        if not fits and _fits_quota(incoming, may_borrow=may_borrow):
            fits = True
            is_placed = _is_placed(incoming)
            if is_placed:
                break

    if fits and not is_placed:
        fits = _shorten(incoming, targets, removed)
    if fits:
        _bring_back(incoming, targets, removed, may_borrow=may_borrow)
    _restore(state, removed)

    return targets if fits else []


def _shorten(
    incoming: Incoming, targets: list[PreemptionTarget], removed: list[Reservation]
) -> bool:
    """Drop the last targets that need not go for the pods to be placed; return whether the pods can
    be placed at all.

    Every try looks at all nodes, so the number of targets is found by halving: with each further
    one, at least as many pods fit.
    """
    if not _is_placed(incoming):
        return False

    state = incoming.state
    low = 1
    high = len(targets)
    gone = len(targets)
    while low < high:
        middle = (low + high) // 2
        for reservation in removed[middle:gone]:
            state.add(reservation)
        for target in targets[gone:middle]:
            state.remove(target.workload)
        gone = middle
        if _is_placed(incoming):
            high = middle
        else:
            low = middle + 1

    for target in targets[gone:low]:
        state.remove(target.workload)
    for reservation in removed[low:gone]:
        state.add(reservation)
    del targets[low:], removed[low:]

    return True


def _bring_back(
    incoming: Incoming,
    targets: list[PreemptionTarget],
    removed: list[Reservation],
    *,
    may_borrow: bool,
) -> None:
    """Spare the targets that need not go, the last one first."""
    for i in range(len(targets) - 2, -1, -1):
        incoming.state.add(removed[i])
        if _fits_quota(incoming, may_borrow=may_borrow) and _is_placed(incoming):
            targets[i] = targets.pop()
            removed[i] = removed.pop()
        else:
            incoming.state.remove(removed[i].workload)


def _restore(state: QueueState, removed: Iterable[Reservation]) -> None:
    for reservation in removed:
        state.add(reservation)


def _fits_quota(incoming: Incoming, *, may_borrow: bool) -> bool:
    """Return whether the workload fits the quota that is left."""
    for key, amount in incoming.usage.items():
        if not may_borrow and incoming.queue.borrowing_with(key, amount):
            return False
        if amount > max(0, incoming.queue.available(key)):
            return False
    return True


def _is_placed(incoming: Incoming) -> bool:
    """Return whether the pods of the workload can be placed on what is left of the nodes."""
    if not incoming.placements:
        return True
    try:
        place_all(incoming.placements, incoming.state.topologies(incoming.queue), is_empty=False)
    except PlacementError:
        return False
    return True


def satisfies(policy: str, incoming: Workload, candidate: Workload) -> bool:
    """Return whether a policy lets a workload preempt another."""
    if policy == "Any":
        return True
    if policy == "LowerPriority":
        return incoming.priority > candidate.priority
    if policy == "LowerOrNewerEqualPriority":
        is_newer = incoming.priority == candidate.priority and incoming.order < candidate.order
        return incoming.priority > candidate.priority or is_newer
    return False


def candidate_order(candidates: Iterable[Workload]) -> list[Workload]:
    """Return workloads in the order in which they are preempted: by priority, the one admitted
    last first.
    """
    return sorted(
        sorted(candidates, key=lambda w: w.reserved_at, reverse=True), key=lambda w: w.priority
    )


def satisfying(incoming: Incoming, queue: QuotaNode, policy: str) -> Iterator[Workload]:
    """Yield the workloads of a queue that use what is contested and that a policy lets the
    workload preempt.
    """
    if policy == "Never":
        return
    incoming.state.steps.spend(len(incoming.state.admitted[queue.name]))
    for workload, reservation in incoming.state.admitted[queue.name].items():
        is_used = any(key in reservation.usage for key in incoming.contested)
        if is_used and satisfies(policy, incoming.workload, workload):
            yield workload


def _in_cohort(incoming: Incoming) -> tuple[list[_Candidate], list[_Candidate]]:
    """Return the candidates of other queues: those that use quota of this queue, then those that it
    preempts by priority.
    """
    queue = incoming.queue
    policy = as_string(queue.preemption.get("reclaimWithinCohort"), "Never")
    own_quota: list[_Candidate] = []
    by_priority: list[_Candidate] = []
    if policy == "Never":
        return own_quota, by_priority

    has_quota, remaining = queue.quantities_fit_in_quota(incoming.usage)
    before: QuotaNode | None = None
    for cohort in queue.ancestors:
        for other in _borrowers(cohort, before, incoming):
            for workload in satisfying(incoming, other, policy):
                if has_quota:
                    own_quota.append(_Candidate(workload, _Kind.OWN_QUOTA, cohort))
                else:
                    kind = _priority_kind(incoming, workload)
                    by_priority.append(_Candidate(workload, kind, cohort))
        fits, remaining = cohort.quantities_fit_in_quota(remaining)
        has_quota = has_quota or fits
        before = cohort

    return _sort_candidates(own_quota), _sort_candidates(by_priority)


def _sort_candidates(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    by_workload = {candidate.workload: candidate for candidate in candidates}
    return [by_workload[workload] for workload in candidate_order(by_workload)]


def _borrowers(
    cohort: QuotaNode, skipped: QuotaNode | None, incoming: Incoming
) -> Iterator[QuotaNode]:
    """Yield the other queues below a cohort that borrow something of what is contested."""
    for child in cohort.children:
        if (
            child is skipped
            or child is incoming.queue
            or child.is_within_nominal_in_resources(incoming.contested)
        ):
            continue
        if child.is_cohort:
            yield from _borrowers(child, skipped, incoming)
        else:
            yield child


def _priority_kind(incoming: Incoming, candidate: Workload) -> _Kind:
    if (
        not incoming.queue.may_borrow_within_cohort
        or candidate.priority >= incoming.workload.priority
    ):
        return _Kind.WITHOUT_BORROWING

    threshold = nested_value(
        incoming.queue.preemption, "borrowWithinCohort", "maxPriorityThreshold"
    )
    if isinstance(threshold, int) and candidate.priority > threshold:
        return _Kind.WITHOUT_BORROWING

    return _Kind.WHILE_BORROWING
