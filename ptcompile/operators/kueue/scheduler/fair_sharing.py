"""Fair sharing: who gives way first, and who is admitted first.

Source: Kueue 0.19, pkg/scheduler/preemption/fair_strategy.go and
pkg/scheduler/fair_sharing_iterator.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.kubernetes.unstructured import as_string
from ptcompile.operators.kueue.scheduler.objects import FlavorResource
from ptcompile.operators.kueue.scheduler.preemption import (
    FAIR_SHARING,
    IN_QUEUE,
    RECLAIMED,
    Incoming,
    PreemptionTarget,
    candidate_order,
    satisfying,
)
from ptcompile.operators.kueue.scheduler.quota import QuotaNode, dominant_share, is_borrowing
from ptcompile.operators.kueue.scheduler.workloads import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    Share = tuple[bool, float]

FINAL_SHARE = "LessThanOrEqualToFinalShare"


def fair_candidates(incoming: Incoming) -> Iterator[PreemptionTarget]:
    """Yield the workloads to preempt in order; the caller removes each before it asks for the
    next.
    """
    strategy, *later_strategies = incoming.state.cluster.configuration.strategies
    has_own = False
    retries = _candidates(incoming)
    for _ in range(2):
        ordering = _Ordering(incoming, retries)
        retries = {}
        for target in _by_strategy(incoming, ordering, strategy, retries):
            has_own = has_own or target.how == IN_QUEUE
            yield target
        if not has_own:
            break

    if later_strategies:
        yield from _by_initial_share(incoming, _Ordering(incoming, retries))


def _candidates(incoming: Incoming) -> dict[str, list[Workload]]:
    """Return the workloads that may be preempted by their queue, in order."""
    queue = incoming.queue
    within, across = (as_string(queue.preemption.get(key), "Never") for key in _POLICIES)
    out: dict[str, list[Workload]] = {}
    for other in queue.root.queues():
        policy = within if other is queue else across
        if other is not queue and other.is_within_nominal_in_resources(incoming.contested):
            continue
        out[other.name] = candidate_order(satisfying(incoming, other, policy))

    return out


_POLICIES = ("withinClusterQueue", "reclaimWithinCohort")


class _Ordering:
    """The queues with candidates, the one with the largest share first; shares count the
    workload that is to be admitted.
    """

    def __init__(self, incoming: Incoming, candidates: Mapping[str, Sequence[Workload]]) -> None:
        self.queue = incoming.queue
        self.usage = incoming.usage
        self.candidates = {name: list(items) for name, items in candidates.items()}
        self.pruned: set[QuotaNode] = set()

    def next_queue(self) -> QuotaNode | None:
        """Return the queue whose workloads are preempted next, or None if no queue is left."""
        root = self.queue.root
        if root is self.queue:
            return root if self.candidates.get(root.name) else None

        chosen = None
        self.queue.add_usage(self.usage)
        while chosen is None and root not in self.pruned:
            chosen = self._next_within(root)
        self.queue.remove_usage(self.usage)

        return chosen

    def _next_within(self, cohort: QuotaNode) -> QuotaNode | None:
        self.pruned.update(child for child in cohort.children if self._is_exhausted(child))
        remaining = [child for child in reversed(cohort.children) if child not in self.pruned]
        if not remaining:
            self.pruned.add(cohort)
            return None

        best = max(remaining, key=lambda child: (*dominant_share(child), child.is_cohort))
        return self._next_within(best) if best.is_cohort else best

    def _is_exhausted(self, node: QuotaNode) -> bool:
        if node.is_cohort:
            return node not in self.queue.ancestors and not is_borrowing(node)
        return not self.candidates.get(node.name) or (
            node is not self.queue and not is_borrowing(node)
        )


def _by_strategy(
    incoming: Incoming, ordering: _Ordering, strategy: str, retries: dict[str, list[Workload]]
) -> Iterator[PreemptionTarget]:
    """Yield the workloads to preempt by the first strategy; add those that it spares to `retries`,
    by queue.
    """
    queue = incoming.queue
    state = incoming.state
    is_within_nominal = not any(
        queue.borrowing_with(key, incoming.usage.get(key, 0)) for key in incoming.contested
    )
    while (chosen := ordering.next_queue()) is not None:
        candidates = ordering.candidates[chosen.name]
        if chosen is queue or is_within_nominal:
            yield PreemptionTarget(candidates.pop(0), IN_QUEUE if chosen is queue else RECLAIMED)
            continue

        new_share, old_share = _shares(incoming, chosen)
        while candidates:
            workload = candidates.pop(0)
            reservation = state.admitted[chosen.name][workload]
            chosen.remove_usage(reservation.usage)
            _, share_after = _shares(incoming, chosen)
            chosen.add_usage(reservation.usage)
            if strategy == FINAL_SHARE:
                gives_way = new_share <= share_after
            else:
                gives_way = new_share < old_share
            if gives_way:
                yield PreemptionTarget(workload, FAIR_SHARING)
                break
            retries.setdefault(chosen.name, []).append(workload)


def _by_initial_share(incoming: Incoming, ordering: _Ordering) -> Iterator[PreemptionTarget]:
    """Yield the first candidate of each queue whose share is larger than the preemptor's will
    be.
    """
    while (chosen := ordering.next_queue()) is not None:
        new_share, old_share = _shares(incoming, chosen)
        if new_share < old_share:
            yield PreemptionTarget(ordering.candidates[chosen.name].pop(0), FAIR_SHARING)
        ordering.pruned.add(chosen)
        if chosen is chosen.root:
            return


def _shares(incoming: Incoming, other: QuotaNode) -> tuple[Share, Share]:
    """Return the shares of the preemptor with its workload and of the other queue, below their
    common cohort.
    """
    queue = incoming.queue
    queue.add_usage(incoming.usage)
    path = (queue, *queue.ancestors)
    other_path = (other, *other.ancestors)
    common = next((node for node in path if node in other_path), queue.root)
    shares = (
        dominant_share(_node_below(path, common)),
        dominant_share(_node_below(other_path, common)),
    )
    queue.remove_usage(incoming.usage)
    return shares


def _node_below(path: Sequence[QuotaNode], common: QuotaNode) -> QuotaNode:
    return next((node for node in path if node.parent is common), path[0])


def share_with(queue: QuotaNode, usage: Mapping[FlavorResource, int]) -> list[Share]:
    """Return the shares of a queue and of its cohorts, the topmost first, if the queue used these
    amounts too.
    """
    queue.add_usage(usage)
    shares = [dominant_share(node) for node in (queue, *queue.ancestors)][::-1]
    queue.remove_usage(usage)
    return shares
