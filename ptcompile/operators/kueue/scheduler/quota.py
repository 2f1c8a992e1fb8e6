"""Quotas in use: what a queue has left, what its cohort lends, and who borrows.

Source: Kueue 0.19, pkg/cache/scheduler/resource_node.go and fair_sharing.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.lazy import cached_property
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_value
from ptcompile.operators.kueue.scheduler.objects import Cluster, FlavorResource, Quota, QuotaHolder

Usage = Mapping[FlavorResource, int]
"""Amounts by flavor and resource."""

_MAX_DEPTH = 64
"""Cohorts above a queue; deeper trees are taken for a cycle."""
_NO_QUOTA = Quota(0, None, None)


class QuotaNode:
    """A ClusterQueue or a cohort with what is in use of its quota."""

    def __init__(self, holder: QuotaHolder, *, is_cohort: bool) -> None:
        self.name = holder.name
        self.holder = holder
        self.is_cohort = is_cohort
        self.parent: QuotaNode | None = None
        self.children: list[QuotaNode] = []
        self.usage: dict[FlavorResource, int] = {}
        self._subtree_quota: dict[FlavorResource, int] = {}

    @cached_property
    def ancestors(self) -> tuple[QuotaNode, ...]:
        """The cohorts from the parent to the root."""
        if self.parent is None:
            return ()
        return (self.parent, *self.parent.ancestors)

    @property
    def root(self) -> QuotaNode:
        """The topmost cohort, or the queue itself."""
        return self.ancestors[-1] if self.ancestors else self

    @cached_property
    def height(self) -> int:
        """The distance to the furthest leaf."""
        heights = [child.height + 1 for child in self.children if child.is_cohort]
        return max(heights, default=min(len(self.children), 1))

    @property
    def preemption(self) -> Json:
        """The preemption policies of the queue."""
        return nested_map(self.holder.spec, "preemption")

    @property
    def may_borrow_within_cohort(self) -> bool:
        """Whether the queue may preempt others in the cohort while it borrows."""
        policy = nested_value(self.preemption, "borrowWithinCohort", "policy")
        return policy not in (None, "", "Never")

    def quota(self, key: FlavorResource) -> Quota:
        """Return the node's own quota."""
        return self.holder.quotas.get(key, _NO_QUOTA)

    def subtree_quota(self, key: FlavorResource) -> int:
        """Return the node's own quota plus what its members lend."""
        if key not in self._subtree_quota:
            lent = (child.subtree_quota(key) - child.local_quota(key) for child in self.children)
            self._subtree_quota[key] = self.quota(key).nominal + sum(lent)
        return self._subtree_quota[key]

    def local_quota(self, key: FlavorResource) -> int:
        """Return the quota that the node does not lend."""
        lending = self.quota(key).lending
        if lending is None:
            return 0
        return max(0, self.subtree_quota(key) - lending)

    def local_available(self, key: FlavorResource) -> int:
        """Return what is left of the quota that the node does not lend."""
        return max(0, self.local_quota(key) - self.usage.get(key, 0))

    def available(self, key: FlavorResource) -> int:
        """Return what the node can still use; below zero if it uses more than it may."""
        if self.parent is None:
            return self.subtree_quota(key) - self.usage.get(key, 0)

        from_parent = self.parent.available(key)
        limit = self.quota(key).borrowing
        if limit is not None:
            used_above = max(0, self.usage.get(key, 0) - self.local_quota(key))
            from_parent = min(
                self.subtree_quota(key) - self.local_quota(key) - used_above + limit, from_parent
            )

        return self.local_available(key) + from_parent

    def potential_available(self, key: FlavorResource) -> int:
        """Return the most that the node can have if nothing is in use."""
        if self.parent is None:
            return self.subtree_quota(key)
        most = self.local_quota(key) + self.parent.potential_available(key)
        limit = self.quota(key).borrowing
        if limit is None:
            return most
        return min(self.subtree_quota(key) + limit, most)

    def borrowing_with(self, key: FlavorResource, amount: int) -> bool:
        """Return whether the node borrows if it uses `amount` more."""
        return self.usage.get(key, 0) + amount > self.subtree_quota(key)

    def is_within_nominal_in_resources(self, keys: Iterable[FlavorResource]) -> bool:
        """Return whether the node borrows none of these resources."""
        return not any(self.borrowing_with(key, 0) for key in keys)

    def add_usage(self, usage: Usage) -> None:
        """Add to the node's usage, and to that of the cohorts that lend to it."""
        for key, amount in usage.items():
            self._add(key, amount)

    def remove_usage(self, usage: Usage) -> None:
        """Undo `add_usage`."""
        for key, amount in usage.items():
            self._remove(key, amount)

    def _add(self, key: FlavorResource, amount: int) -> None:
        beyond = amount - self.local_available(key)
        self.usage[key] = self.usage.get(key, 0) + amount
        if self.parent is not None and beyond > 0:
            self.parent._add(key, beyond)

    def _remove(self, key: FlavorResource, amount: int) -> None:
        in_parent = self.usage.get(key, 0) - self.local_quota(key)
        self.usage[key] = self.usage.get(key, 0) - amount
        if self.parent is not None and in_parent > 0:
            self.parent._remove(key, min(amount, in_parent))

    def find_height_of_lowest_subtree_that_fits(
        self, key: FlavorResource, amount: int
    ) -> tuple[int, bool]:
        """Return the height of the smallest subtree that has `amount` more, and whether that
        subtree has a parent.
        """
        if self.parent is None or not self.borrowing_with(key, amount):
            return 0, self.parent is not None

        remaining = amount - self.local_available(key)
        for node in self.ancestors:
            if not node.borrowing_with(key, remaining):
                return node.height, node.parent is not None
            remaining -= node.local_available(key)
        return self.root.height, False

    def quantities_fit_in_quota(self, requested: Usage) -> tuple[bool, dict[FlavorResource, int]]:
        """Return whether the node has the amounts without borrowing, and which part of each its
        parent must provide.
        """
        fits = not any(self.borrowing_with(key, amount) for key, amount in requested.items())
        from_parent = {
            key: max(0, amount - self.local_available(key)) for key, amount in requested.items()
        }
        return fits, from_parent

    @cached_property
    def all_keys(self) -> frozenset[FlavorResource]:
        """The flavors and resources of the node and of its members."""
        return frozenset(self.holder.quotas).union(*(child.all_keys for child in self.children))

    def queues(self) -> Iterator[QuotaNode]:
        """Yield the ClusterQueues at or below the node."""
        if not self.is_cohort:
            yield self
        for child in self.children:
            yield from child.queues()


def dominant_share(node: QuotaNode) -> tuple[bool, float]:
    """Return a node's share in fair sharing; the node with the larger share gives way first.

    The first item is whether the node borrows with a weight of 0, which outranks every ratio.
    """
    if node.parent is None:
        return (False, 0.0)

    borrowed: dict[str, int] = {}
    for key in node.all_keys:
        amount = node.usage.get(key, 0) - node.subtree_quota(key)
        if amount > 0:
            _, name = key
            borrowed[name] = borrowed.get(name, 0) + amount

    if not borrowed:
        return (False, 0.0)

    lendable: dict[str, int] = {}
    for key in node.root.all_keys:
        _, name = key
        lendable[name] = lendable.get(name, 0) + node.parent.potential_available(key)

    ratio = 0.0
    for name, amount in borrowed.items():
        if lendable.get(name, 0) > 0:
            ratio = max(ratio, amount * 1000 / lendable[name])

    if node.holder.weight == 0:
        return (True, ratio)

    return (False, ratio / node.holder.weight)


def is_borrowing(node: QuotaNode) -> bool:
    """Return whether a node borrows anything."""
    return node.parent is not None and any(node.borrowing_with(key, 0) for key in node.all_keys)


def quota_nodes(cluster: Cluster) -> dict[str, QuotaNode]:
    """Return the ClusterQueues by name, linked to their cohorts. Members of a cycle of cohorts
    are left out.
    """
    cohorts: dict[str, QuotaNode] = {}
    queues: dict[str, QuotaNode] = {}
    for queue in cluster.queues.values():
        chain = cohort_chain(cluster, queue)
        if chain is None:
            continue

        node = queues[queue.name] = QuotaNode(queue, is_cohort=False)
        for name in chain:
            is_new = name not in cohorts
            if is_new:
                cohorts[name] = _cohort_node(cluster, name)
            node.parent = cohorts[name]
            node.parent.children.append(node)
            if not is_new:
                break
            node = node.parent

    _add_empty_cohorts(cluster, cohorts)
    return queues


def _cohort_node(cluster: Cluster, name: str) -> QuotaNode:
    # a cohort without an object has no quota and no parent
    holder = cluster.cohorts.get(name, QuotaHolder(name, "", (), {}, 1.0, {}))
    return QuotaNode(holder, is_cohort=True)


def _add_empty_cohorts(cluster: Cluster, cohorts: dict[str, QuotaNode]) -> None:
    """Add the cohorts without queues below them, since they may have quota to lend."""
    for name, holder in cluster.cohorts.items():
        missing: list[str] = []
        chain = cohort_chain(cluster, holder)
        if chain is not None and name not in cohorts:
            for member in (name, *chain):
                if member in cohorts:
                    break
                missing.append(member)

        for member in reversed(missing):
            node = cohorts[member] = _cohort_node(cluster, member)
            node.parent = cohorts.get(node.holder.parent)
            if node.parent is not None:
                node.parent.children.append(node)


def cohort_chain(cluster: Cluster, holder: QuotaHolder) -> tuple[str, ...] | None:
    """Return the names of the cohorts above a queue or cohort, or None if they are a cycle or
    too many.
    """
    chain: list[str] = []
    name = holder.parent
    while name:
        if name in chain or len(chain) == _MAX_DEPTH:
            return None
        chain.append(name)
        name = cluster.cohorts[name].parent if name in cluster.cohorts else ""

    return tuple(chain)
