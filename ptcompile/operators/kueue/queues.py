"""Kueue's labels and annotations, its queues, and what their quotas can ever admit.

Source: Kueue 0.19, pkg/cache/scheduler/resource_node.go and pkg/scheduler/flavorassigner. Amounts are in billionths, as
`Quantity.nano`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import as_mappings, namespace_of, nested_map, object_name, string_map
from ptcompile.kubernetes.versions import Versions
from ptcompile.registry.model import QueueSystem
from ptcompile.registry.queue_systems import KUEUE_QUEUE, KUEUE_SLICE, KUEUE_SLICE_SIZE, KUEUE_TOPOLOGY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


_GROUP: Final = "kueue.x-k8s.io/"
_MOST_WAYS: Final = 4096
"""Ways to give pod sets flavors that are tried; beyond, each pod set is looked at by itself."""

ResourceCounts = Mapping[str, int]


class PodSet(NamedTuple):
    """Equal pods of a job."""

    name: str
    pods: int
    requests: ResourceCounts
    """Of one pod."""
    spec: Json


class Shortage(NamedTuple):
    """Why a job can never be admitted."""

    why: str
    certain: bool
    """Whether nothing outside the files could change it: no cohort that others may lend to."""


class Queues:
    """The queues of a stream."""

    def __init__(self, objects: Sequence[Json]) -> None:
        found = [one for one in objects if str(one.get("apiVersion")).startswith(_GROUP)]
        self.local = {(namespace_of(o), object_name(o)): o for o in found if o.get("kind") == "LocalQueue"}
        self.cluster = {object_name(o): o for o in found if o.get("kind") == "ClusterQueue"}
        self.cohorts = {object_name(o): o for o in found if o.get("kind") == "Cohort"}
        self.flavors = {object_name(o): o for o in found if o.get("kind") == "ResourceFlavor"}

    def most(self, queue: str, flavor: str, resource: str) -> int:
        """What a ClusterQueue could have of a resource at most, all that its cohort lends included."""
        return self._potential(self.cluster[queue], flavor, resource, ())

    def firm(self, queue: str, flavor: str, resource: str) -> bool:
        """Whether other ClusterQueues than those of the files could not lend more."""
        spec = nested_map(self.cluster[queue], "spec")
        return not _cohort(spec) or "borrowingLimit" in _quota(spec, flavor, resource)

    def _potential(self, node: Json, flavor: str, resource: str, seen: tuple[str, ...]) -> int:
        spec = nested_map(node, "spec")
        own, quota = self._subtree(node, flavor, resource, ()), _quota(spec, flavor, resource)
        name = _cohort(spec)
        if not name or name in seen:
            return own
        parent = self.cohorts.get(name, {"kind": "Cohort", "metadata": {"name": name}})
        lent = _kept(own, quota) + self._potential(parent, flavor, resource, (*seen, name))
        limit = quota.get("borrowingLimit")
        return lent if limit is None else min(lent, own + _nano(limit))

    def _subtree(self, node: Json, flavor: str, resource: str, seen: tuple[str, ...]) -> int:
        own = _nano(_quota(nested_map(node, "spec"), flavor, resource).get("nominalQuota"))
        if node.get("kind") != "Cohort":
            return own
        above = (*seen, object_name(node))
        for child in self._children(object_name(node), above):
            share = self._subtree(child, flavor, resource, above)
            own += share - _kept(share, _quota(nested_map(child, "spec"), flavor, resource))
        return own

    def _children(self, cohort: str, seen: tuple[str, ...]) -> Iterator[Json]:
        yield from (one for one in self.cluster.values() if _cohort(nested_map(one, "spec")) == cohort)
        for name, one in self.cohorts.items():
            if _cohort(nested_map(one, "spec")) == cohort and name not in seen:
                yield one


def _cohort(spec: Json) -> str:
    name = spec.get("cohortName") or spec.get("cohort") or spec.get("parentName")
    return name if isinstance(name, str) else ""


def _quota(spec: Json, flavor: str, resource: str) -> Json:
    for group in as_mappings(spec.get("resourceGroups")):
        for one in as_mappings(group.get("flavors")):
            if one.get("name") == flavor:
                for amount in as_mappings(one.get("resources")):
                    if amount.get("name") == resource:
                        return amount
    return {}


def _words(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _nano(value: Any) -> int:
    parsed = quantity.parse(value)
    return parsed.nano if parsed is not None else 0


def _kept(share: int, quota: Json) -> int:
    """What is kept from the cohort."""
    limit = quota.get("lendingLimit")
    return max(0, share - _nano(limit)) if limit is not None else 0


def shortage(queues: Queues, name: str, pods: Sequence[PodSet]) -> Shortage | None:
    """Why a ClusterQueue can never admit a job of these pods; None where it could."""
    groups = as_mappings(nested_map(queues.cluster[name], "spec").get("resourceGroups"))
    covered = {resource for group in groups for resource in _words(group.get("coveredResources"))}
    for one in pods:
        for resource, amount in one.requests.items():
            if amount > 0 and resource not in covered:
                return Shortage(f"resource {resource} unavailable in ClusterQueue", certain=True)
    for group in groups:
        found = _of_group(queues, name, group, pods)
        if found is not None:
            return found
    return None


def _of_group(queues: Queues, name: str, group: Json, pods: Sequence[PodSet]) -> Shortage | None:
    """Why the flavors of one resource group cannot take the pods: each pod set takes all from one flavor."""
    resources = _words(group.get("coveredResources"))
    flavors = [str(one.get("name")) for one in as_mappings(group.get("flavors"))]
    wanted = [(one, _of_all(one, resources)) for one in pods]
    wanted = [(one, amounts) for one, amounts in wanted if any(amounts.values())]
    choices = [[flavor for flavor in flavors if _suits(one.spec, queues.flavors.get(flavor))] for one, _ in wanted]
    for (one, _), open_to in zip(wanted, choices, strict=True):
        if not open_to:
            why = f"no flavor of {', '.join(flavors)} fits pod set {one.name}: taints or node labels differ"
            return Shortage(why, certain=all(flavor in queues.flavors for flavor in flavors))
    ways = 1
    for open_to in choices:
        ways *= len(open_to)
    short: Shortage | None = None
    for way in product(*choices) if ways <= _MOST_WAYS else ():
        short = _too_much(queues, name, list(zip((amounts for _, amounts in wanted), way, strict=True)))
        if short is None:
            return None
    return short


def _of_all(one: PodSet, resources: Sequence[str]) -> dict[str, int]:
    amounts = {resource: one.requests.get(resource, 0) * one.pods for resource in resources}
    if "pods" in amounts:
        amounts["pods"] = one.pods * 10**9
    return amounts


def _too_much(queues: Queues, name: str, way: Sequence[tuple[ResourceCounts, str]]) -> Shortage | None:
    """What one way to give pod sets flavors asks too much of."""
    total: dict[tuple[str, str], int] = {}
    for amounts, flavor in way:
        for resource, amount in amounts.items():
            total[flavor, resource] = total.get((flavor, resource), 0) + amount
    for (flavor, resource), amount in total.items():
        most = queues.most(name, flavor, resource)
        if amount > most:
            why = f"insufficient quota for {resource} in flavor {flavor}: request > maximum capacity"
            shown = f"({quantity.Quantity(amount)} > {quantity.Quantity(most)})"
            return Shortage(f"{why} {shown}", queues.firm(name, flavor, resource))
    return None


def _suits(pod: Json, flavor: Json | None) -> bool:
    """Whether a pod tolerates a flavor's taints and wants no other nodes. Node affinity is not looked at."""
    spec = nested_map(flavor or {}, "spec")
    labels, selector = string_map(spec.get("nodeLabels")), string_map(pod.get("nodeSelector"))
    if any(labels[key] != value for key, value in selector.items() if key in labels):
        return False
    tolerations = [*as_mappings(pod.get("tolerations")), *as_mappings(spec.get("tolerations"))]
    taints = [one for one in as_mappings(spec.get("nodeTaints")) if one.get("effect") in ("NoSchedule", "NoExecute")]
    return all(any(_tolerates(one, taint) for one in tolerations) for taint in taints)


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (taint.get("value") or "")


PREFIX: Final = "kueue.x-k8s.io/"
QUEUE: Final = KUEUE_QUEUE

LABELS: Final = tuple(
    PREFIX + name for name in ("queue-name", "priority-class", "max-exec-time-seconds", "pod-group-name")
)
"""Labels of the object that is queued."""

REQUESTS: Final = tuple(KUEUE_TOPOLOGY.values())
"""Annotations of a pod template: one of them is its topology request."""

TOPOLOGY: Final = (*REQUESTS, KUEUE_SLICE, KUEUE_SLICE_SIZE)
"""All annotations of a pod template that say where its pods are placed."""

ANNOTATIONS: Final = (
    *TOPOLOGY,
    *(PREFIX + name for name in ("podset-group-name", "pod-group-total-count", "pod-group-fast-admission")),
    *(PREFIX + name for name in ("retriable-in-group", "job-min-parallelism", "elastic-job")),
)
"""Annotations, of the object or of its pod template."""


def queue(metadata: Json) -> str:
    """The queue that an object names, or an empty string."""
    return string_map(metadata.get("labels")).get(QUEUE, "")


def api(versions: Versions) -> str:
    """API group and version: v1beta2 today (Kueue 0.19), v1beta1 before 0.15."""
    return f"kueue.x-k8s.io/v1beta{2 if versions.kueue >= (0, 15) else 1}"


def _cluster_queue(local: dict[str, Any]) -> tuple[str, str]:
    """The ClusterQueue behind a LocalQueue. It holds the quota, which no file here knows, so it is not written."""
    why = "with its quota; if yours has another name, write it as clusterQueue of the LocalQueue"
    return f"ClusterQueue/{local['spec']['clusterQueue']}", why


def _device_class(name: str, versions: Versions) -> tuple[str, str]:
    """Kueue admits no job whose classes it cannot count (Kueue 0.19, pkg/dra/claims.go)."""
    if versions.kueue < (0, 18):
        why = "the feature gate DynamicResourceAllocation is on: Kueue has counted claims since 0.18"
    else:
        why = f"resources.deviceClassMappings names {name}, and the ClusterQueue has quota for its name there"
    return "Configuration/kueue", why


QUEUES = QueueSystem(
    api,
    "LocalQueue",
    lambda name: {"clusterQueue": name},
    namespaced=True,
    priority="WorkloadPriorityClass",
    behind=_cluster_queue,
    devices=_device_class,
    named_by=queue,
)
