"""The quotas of a queue next to what a job takes of them, for a picture of its admission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ptcompile.kinds.admission import QuotaShare
from ptcompile.operators.kueue.scheduler.cycle import Scheduler
from ptcompile.operators.kueue.scheduler.objects import FlavorResource, as_quantity
from ptcompile.operators.kueue.scheduler.quota import QuotaNode
from ptcompile.operators.kueue.scheduler.workloads import Workload


def quota_shares(workloads: Sequence[Workload], scheduler: Scheduler) -> Iterator[QuotaShare]:
    """Yield the quotas that a job's workloads ask for, in the order of the queue's flavors; none of
    an unknown queue.

    Of admitted workloads these are the flavors that they have, of others all that they could get.
    """
    first, *_ = workloads
    queue = scheduler.state.queues.get(first.cluster_queue)
    if queue is None:
        return
    is_admitted = all(workload in scheduler.assignments for workload in workloads)
    requested = (
        _usage_of(workloads, scheduler) if is_admitted else _requests_per_flavor(workloads, queue)
    )
    with _without_workloads(workloads, scheduler):
        for key in queue.holder.quotas:
            if requested.get(key):
                yield _share(key, requested[key], queue)


def _share(key: FlavorResource, requested: int, queue: QuotaNode) -> QuotaShare:
    nominal = queue.quota(key).nominal
    capacity = queue.potential_available(key)
    amounts = (
        nominal,
        max(0, capacity - nominal),
        max(0, capacity - max(0, queue.available(key))),
        requested,
    )
    flavor, name = key
    return QuotaShare(flavor, name, *(as_quantity(name, amount) for amount in amounts))


def _usage_of(workloads: Sequence[Workload], scheduler: Scheduler) -> dict[FlavorResource, int]:
    """Return what admitted workloads use."""
    out: dict[FlavorResource, int] = {}
    for workload in workloads:
        for key, amount in scheduler.assignments[workload].usage.items():
            out[key] = out.get(key, 0) + amount
    return out


def _requests_per_flavor(
    workloads: Sequence[Workload], queue: QuotaNode
) -> dict[FlavorResource, int]:
    """Return what the workloads would use of each flavor if all their pods got that flavor."""
    amounts: dict[str, int] = {}
    for pod_set in (pod_set for workload in workloads for pod_set in workload.pod_sets):
        for resource, amount in {**pod_set.requests, "pods": 1}.items():
            amounts[resource] = amounts.get(resource, 0) + amount * pod_set.count
    return {
        (flavor, resource): amounts.get(resource, 0) for flavor, resource in queue.holder.quotas
    }


@contextmanager
def _without_workloads(workloads: Sequence[Workload], scheduler: Scheduler) -> Iterator[None]:
    """Leave the workloads out of the usage within the context."""
    state = scheduler.state
    reservations = [
        state.remove(w) for w in workloads if w in state.admitted.get(w.cluster_queue, ())
    ]
    try:
        yield
    finally:
        for reservation in reservations:
            state.add(reservation)
