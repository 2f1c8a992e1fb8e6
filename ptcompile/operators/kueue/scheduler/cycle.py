"""Rounds of the scheduler: which workload of each queue is tried, in which order, and what becomes
of it.

Source: Kueue 0.19, pkg/scheduler/scheduler.go and pkg/cache/queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.operators.kueue.scheduler.existing import ExistingWorkload
from ptcompile.operators.kueue.scheduler.flavors import Assignment, Fit, assign
from ptcompile.operators.kueue.scheduler.objects import Cluster
from ptcompile.operators.kueue.scheduler.openness import why_closed
from ptcompile.operators.kueue.scheduler.preemption import PreemptionTarget, find_targets, simulate
from ptcompile.operators.kueue.scheduler.state import QueueState, Reservation
from ptcompile.operators.kueue.scheduler.topology import TopologyUsage, add_usage
from ptcompile.operators.kueue.scheduler.workloads import Workload

_STEPS_OF_A_ROUND = 20
"""Steps that a try costs, besides those for nodes and candidates."""


class Preemption(NamedTuple):
    """A workload that was preempted, and the one that needed its place."""

    workload: Workload
    preemptor: Workload
    how: str


class _Entry(NamedTuple):
    """The head of a queue in one round."""

    workload: Workload
    assignment: Assignment
    targets: list[PreemptionTarget]


class _Waiting(NamedTuple):
    """A workload in the heap of its queue, which is ordered by the fields before it."""

    negative_priority: int
    order: tuple[str, int]
    clock: int
    workload: Workload


class Scheduler:
    """The queues of a cluster, with the workloads that wait and that are admitted."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.state = QueueState(cluster)
        self.waiting: dict[str, list[_Waiting]] = {}
        """Workloads to try by ClusterQueue, as heaps by priority and age."""
        self.parked: dict[str, list[Workload]] = {}
        """Workloads that did not fit; they are tried again once something is released."""
        self.messages: dict[Workload, str] = {}
        """Why each workload waits."""
        self.assignments: dict[Workload, Assignment] = {}
        self.preemptions: list[Preemption] = []
        self._clock = 0
        self._blocked: dict[str, set[Workload]] = {}
        """Workloads of StrictFIFO queues that do not fit, by ClusterQueue."""

    def submit(self, workload: Workload, *, is_tried: bool = False) -> None:
        """Put a workload into its queue. One that was tried before waits until something is
        released.
        """
        name, why = why_closed(self.cluster, workload)
        workload.cluster_queue = name
        why = why or workload.invalid
        if why:
            self.messages[workload] = why
            return
        if is_tried and not self._is_strict(name):
            self.parked.setdefault(name, []).append(workload)
            return

        self._push(workload)
        if is_tried:
            self._blocked.setdefault(name, set()).add(workload)

    def opens(self, workload: Workload) -> bool:
        """Set the workload's ClusterQueue by its LocalQueue, and return whether the queue takes it."""
        workload.cluster_queue, why = why_closed(self.cluster, workload)
        return not why

    def restore(self, workload: ExistingWorkload) -> None:
        """Put a workload of a dump where it is: admitted, or in its queue."""
        reservation = workload.reservation(self.state)
        if reservation is None:
            self.submit(workload, is_tried=workload.was_tried)
        else:
            self.state.add(reservation)

    def withdraw(self, workload: Workload) -> None:
        """Forget a workload: it leaves its queue, or what it uses is released."""
        if self.assignments.pop(workload, None) is not None:
            self.state.remove(workload)
        name = workload.cluster_queue
        self.waiting[name] = sorted(
            item for item in self.waiting.get(name, ()) if item.workload is not workload
        )
        self.parked[name] = [item for item in self.parked.get(name, ()) if item is not workload]
        self.messages.pop(workload, None)
        self._blocked.pop(name, None)

    def head(self, queue: str) -> Workload | None:
        """Return the first workload that a queue tries, or None if it has none."""
        heap = self.waiting.get(queue)
        return heap[0].workload if heap else None

    def _push(self, workload: Workload) -> None:
        """Let a workload wait in its queue, by its priority and order."""
        self._clock += 1
        item = _Waiting(-workload.priority, workload.order, self._clock, workload)
        heappush(self.waiting.setdefault(workload.cluster_queue, []), item)

    def tick(self) -> tuple[str, int]:
        """Return the time of the next event, later than all those of a dump."""
        self._clock += 1
        return "~", self._clock

    def settle(self) -> None:
        """Run rounds until nothing changes."""
        while heads := self._heads():
            self._run([self._nominate(workload) for workload in heads])

    def _is_strict(self, queue: str) -> bool:
        return self.cluster.queues[queue].spec.get("queueingStrategy") == "StrictFIFO"

    def _heads(self) -> list[Workload]:
        """Return the first workload of each queue, unless it is known not to fit."""
        heads = [heap[0].workload for heap in self.waiting.values() if heap]
        return [head for head in heads if head not in self._blocked.get(head.cluster_queue, ())]

    def _nominate(self, workload: Workload) -> _Entry:
        """Return what a workload would get; with fewer pods if not all fit and it allows that."""
        self.state.steps.spend(_STEPS_OF_A_ROUND)
        assignment, targets = self._try(workload, ())
        if assignment.fit == Fit.FIT or targets:
            return _Entry(workload, assignment, targets)
        return self._with_fewer_pods(workload) or _Entry(workload, assignment, [])

    def _try(
        self, workload: Workload, counts: Sequence[int]
    ) -> tuple[Assignment, list[PreemptionTarget]]:
        """Return the flavors for a workload, and the workloads to preempt for them."""
        assignment = assign(workload, self.state, simulate(self.state), counts)
        if Fit.NO_FIT < assignment.fit < Fit.FIT:
            return assignment, find_targets(workload, assignment, self.state)
        return assignment, []

    def _with_fewer_pods(self, workload: Workload) -> _Entry | None:
        """Return the entry with the most pods that fit, or None if the fewest that are admitted
        do not.
        """
        full = [item.count for item in workload.pod_sets]
        spare = [
            0 if item.min_count is None else item.count - item.min_count
            for item in workload.pod_sets
        ]
        total = sum(spare)
        low = 1
        high = total + 1
        best = None
        while low < high:
            middle = (low + high) // 2
            counts = [
                count - extra * middle // total for count, extra in zip(full, spare, strict=True)
            ]
            assignment, targets = self._try(workload, counts)
            if assignment.fit == Fit.FIT or targets:
                high = middle
                best = _Entry(workload, assignment, targets)
            else:
                low = middle + 1

        return best

    def _run(self, entries: list[_Entry]) -> None:
        """Admit and preempt for the entries in order, each only if it still fits."""
        gone: set[Workload] = set()
        evictions: list[tuple[_Entry, PreemptionTarget]] = []
        admitted: list[_Entry] = []
        held: list[Reservation] = []
        for entry in self._in_order(entries):
            workload, assignment, targets = entry
            if assignment.fit == Fit.NO_FIT or (assignment.fit != Fit.FIT and not targets):
                self._put_back(entry)
                continue
            if gone & {target.workload for target in targets} or not self._still_fits(entry, gone):
                self.messages[workload] = (
                    "Workload no longer fits after processing another workload"
                )
                continue

            gone |= {target.workload for target in targets}
            evictions += [(entry, target) for target in targets]
            if assignment.fit == Fit.FIT:
                self._admit(entry)
                admitted.append(entry)
            else:
                held.append(self._reserve(entry))

        for reservation in held:
            self.state.remove(reservation.workload)
        for entry, target in evictions:
            self._evict(target, entry.workload)

    def _still_fits(self, entry: _Entry, gone: Iterable[Workload]) -> bool:
        """Return whether an entry fits after those before it, without what was preempted for
        them and for it.
        """
        away = {*gone, *(target.workload for target in entry.targets)}
        removed = [self.state.remove(w) for w in away if w in self.state.admitted[w.cluster_queue]]
        queue = self.state.queues[entry.workload.cluster_queue]
        fits_quota = all(
            amount <= max(0, queue.available(key)) for key, amount in entry.assignment.usage.items()
        )
        fits = fits_quota and not self._is_placed_differently(entry)
        for reservation in removed:
            self.state.add(reservation)

        return fits

    def _is_placed_differently(self, entry: _Entry) -> bool:
        """Return whether pods no longer fit the domains that were chosen for them."""
        for key, usage in self._placed_usage(entry).items():
            capacity = self._leaf_capacity(entry, key)
            used = self.state.placed.get(key, {})
            for name, amount in usage.items():
                if amount and amount + used.get(name, 0) > capacity.get(name, 0):
                    return True

        return False

    def _leaf_capacity(self, entry: _Entry, key: tuple[str, ...]) -> dict[str, int]:
        queue = self.state.queues[entry.workload.cluster_queue]
        for topology in self.state.topologies(queue).values():
            for leaf in topology.leaves():
                if leaf.key == key:
                    return leaf.capacity
        return {}

    def _placed_usage(self, entry: _Entry) -> TopologyUsage:
        """Return what the placed pods of an entry use."""
        out: TopologyUsage = {}
        topologies = self.state.topologies(self.state.queues[entry.workload.cluster_queue])
        for item in entry.assignment.pod_sets:
            flavor = next((c.name for c in item.flavors.values() if c.name in topologies), None)
            if item.placement is not None and flavor is not None:
                add_usage(out, topologies[flavor].usage_of(item.placement, item.pod_set))
        return out

    def _reserve(self, entry: _Entry) -> Reservation:
        reservation = Reservation(entry.workload, entry.assignment.usage, self._placed_usage(entry))
        self.state.add(reservation)
        return reservation

    def _admit(self, entry: _Entry) -> None:
        workload = entry.workload
        self._reserve(entry)
        workload.reserved_at = self.tick()
        heappop(self.waiting[workload.cluster_queue])
        self.assignments[workload] = entry.assignment
        self.messages.pop(workload, None)

    def _evict(self, target: PreemptionTarget, preemptor: Workload) -> None:
        """Preempt a workload, which waits in its queue again."""
        workload = target.workload
        self.state.remove(workload)
        self.assignments.pop(workload, None)
        self.preemptions.append(Preemption(workload, preemptor, target.how))
        self.messages[workload] = f"Preempted to accommodate {preemptor.owner.name} ({target.how})"
        workload.start_over()
        self._push(workload)
        self._release(workload.cluster_queue)

    def _release(self, queue: str) -> None:
        """Try again what waits in the queues that share quota with a queue."""
        for node in self.state.queues[queue].root.queues():
            for workload in self.parked.pop(node.name, ()):
                workload.start_over()
                self._push(workload)
            for workload in self._blocked.pop(node.name, ()):
                workload.start_over()

    def _put_back(self, entry: _Entry) -> None:
        """Let a workload that does not fit wait: for another choice of flavors, or until
        something is released.
        """
        workload, assignment, _ = entry
        self.messages[workload] = assignment.message()
        # a cursor that was tried before is not tried again: two pod sets can alternate between two
        # flavors without end
        if assignment.has_untried_flavors() and assignment.cursor not in workload.tried:
            workload.cursor = assignment.cursor
            workload.tried.append(assignment.cursor)
            return

        workload.start_over()
        if self._is_strict(workload.cluster_queue):
            self._blocked.setdefault(workload.cluster_queue, set()).add(workload)
            return

        heappop(self.waiting[workload.cluster_queue])
        self.parked.setdefault(workload.cluster_queue, []).append(workload)

    def _in_order(self, entries: list[_Entry]) -> list[_Entry]:
        """Return the entries in the order in which they are admitted."""
        if self.cluster.configuration.fair_sharing:
            from ptcompile.operators.kueue.scheduler.fair_sharing import share_with

            def shares(entry: _Entry) -> list[tuple[bool, float]]:
                return share_with(
                    self.state.queues[entry.workload.cluster_queue], entry.assignment.usage
                )

            return sorted(
                entries, key=lambda e: (shares(e), -e.workload.priority, e.workload.order)
            )
        return sorted(
            entries, key=lambda e: (e.assignment.borrowing, -e.workload.priority, e.workload.order)
        )
