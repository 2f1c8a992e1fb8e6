"""Kueue's labels and annotations, its queues, and the most that their quotas can admit.

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
from ptcompile.operators.kueue.frameworks import framework_off
from ptcompile.registry.model import GroupVersionKind, QueueSystem
from ptcompile.registry.queue_systems import (
    KUEUE_POD_SET_GROUP,
    KUEUE_QUEUE,
    KUEUE_SLICE,
    KUEUE_SLICE_SIZE,
    KUEUE_TOPOLOGY,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


_GROUP: Final = "kueue.x-k8s.io/"
_MAX_ASSIGNMENTS: Final = 4096
"""Maximum number of flavor assignments that are tried; beyond it only the flavors of each pod set are checked."""

ResourceCounts = Mapping[str, int]


class PodSet(NamedTuple):
    """Equal pods of a job."""

    name: str
    pods: int
    requests: ResourceCounts
    """Requests of one pod."""
    spec: Json


class Shortage(NamedTuple):
    """Why a job can never be admitted."""

    why: str
    certain: bool
    """Whether it holds regardless of other files: no cohort exists whose members may lend more."""


class Queues:
    """The queues of a stream."""

    def __init__(self, objects: Sequence[Json]) -> None:
        kueue_objects = [manifest for manifest in objects if str(manifest.get("apiVersion")).startswith(_GROUP)]
        self.local = {(namespace_of(o), object_name(o)): o for o in kueue_objects if o.get("kind") == "LocalQueue"}
        self.cluster = {object_name(o): o for o in kueue_objects if o.get("kind") == "ClusterQueue"}
        self.cohorts = {object_name(o): o for o in kueue_objects if o.get("kind") == "Cohort"}
        self.flavors = {object_name(o): o for o in kueue_objects if o.get("kind") == "ResourceFlavor"}

    def most(self, queue: str, flavor: str, resource: str) -> int:
        """Return the most that a ClusterQueue can have of a resource, including what its cohort can lend."""
        return self._potential(self.cluster[queue], flavor, resource, ())

    def firm(self, queue: str, flavor: str, resource: str) -> bool:
        """Return whether ClusterQueues outside the files cannot lend more."""
        spec = nested_map(self.cluster[queue], "spec")
        return not _cohort_of(spec) or "borrowingLimit" in _quota_of(spec, flavor, resource)

    def _potential(self, node: Json, flavor: str, resource: str, seen: tuple[str, ...]) -> int:
        spec = nested_map(node, "spec")
        capacity, quota = self._subtree(node, flavor, resource, ()), _quota_of(spec, flavor, resource)
        name = _cohort_of(spec)
        if not name or name in seen:
            return capacity
        parent = self.cohorts.get(name, {"kind": "Cohort", "metadata": {"name": name}})
        available = _reserved(capacity, quota) + self._potential(parent, flavor, resource, (*seen, name))
        limit = quota.get("borrowingLimit")
        return available if limit is None else min(available, capacity + _nano(limit))

    def _subtree(self, node: Json, flavor: str, resource: str, seen: tuple[str, ...]) -> int:
        capacity = _nano(_quota_of(nested_map(node, "spec"), flavor, resource).get("nominalQuota"))
        if node.get("kind") != "Cohort":
            return capacity
        ancestors = (*seen, object_name(node))
        for child in self._children(object_name(node), ancestors):
            share = self._subtree(child, flavor, resource, ancestors)
            capacity += share - _reserved(share, _quota_of(nested_map(child, "spec"), flavor, resource))
        return capacity

    def _children(self, cohort: str, seen: tuple[str, ...]) -> Iterator[Json]:
        yield from (
            manifest for manifest in self.cluster.values() if _cohort_of(nested_map(manifest, "spec")) == cohort
        )
        for name, manifest in self.cohorts.items():
            if _cohort_of(nested_map(manifest, "spec")) == cohort and name not in seen:
                yield manifest


def _cohort_of(spec: Json) -> str:
    name = spec.get("cohortName") or spec.get("cohort") or spec.get("parentName")
    return name if isinstance(name, str) else ""


def _quota_of(spec: Json, flavor: str, resource: str) -> Json:
    for group in as_mappings(spec.get("resourceGroups")):
        for flavor_quota in as_mappings(group.get("flavors")):
            if flavor_quota.get("name") == flavor:
                for amount in as_mappings(flavor_quota.get("resources")):
                    if amount.get("name") == resource:
                        return amount
    return {}


def _as_names(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _nano(value: Any) -> int:
    parsed = quantity.parse(value)
    return parsed.nano if parsed is not None else 0


def _reserved(share: int, quota: Json) -> int:
    """Return the share that a queue does not lend to its cohort."""
    limit = quota.get("lendingLimit")
    return max(0, share - _nano(limit)) if limit is not None else 0


def find_shortage(queues: Queues, name: str, pods: Sequence[PodSet]) -> Shortage | None:
    """Return why a ClusterQueue can never admit a job with these pods, or None if it can."""
    groups = as_mappings(nested_map(queues.cluster[name], "spec").get("resourceGroups"))
    covered = {resource for group in groups for resource in _as_names(group.get("coveredResources"))}
    for pod_set in pods:
        for resource, amount in pod_set.requests.items():
            if amount > 0 and resource not in covered:
                return Shortage(f"resource {resource} unavailable in ClusterQueue", certain=True)
    for group in groups:
        group_shortage = _shortage_in_group(queues, name, group, pods)
        if group_shortage is not None:
            return group_shortage
    return None


def _shortage_in_group(queues: Queues, name: str, group: Json, pods: Sequence[PodSet]) -> Shortage | None:
    """Return why the flavors of a resource group cannot hold the pods, or None; each pod set uses a single flavor."""
    resources = _as_names(group.get("coveredResources"))
    flavors = [str(item.get("name")) for item in as_mappings(group.get("flavors"))]
    requested = [(item, _total_requests(item, resources)) for item in pods]
    requested = [(item, amounts) for item, amounts in requested if any(amounts.values())]
    choices = [
        [flavor for flavor in flavors if _fits_flavor(item.spec, queues.flavors.get(flavor))] for item, _ in requested
    ]
    for (item, _), fitting in zip(requested, choices, strict=True):
        if not fitting:
            why = f"no flavor of {', '.join(flavors)} fits pod set {item.name}: taints or node labels differ"
            return Shortage(why, certain=all(flavor in queues.flavors for flavor in flavors))
    assignments = 1
    for fitting in choices:
        assignments *= len(fitting)
    last_shortage: Shortage | None = None
    for assignment in product(*choices) if assignments <= _MAX_ASSIGNMENTS else ():
        last_shortage = _shortage_of_assignment(
            queues, name, list(zip((amounts for _, amounts in requested), assignment, strict=True))
        )
        if last_shortage is None:
            return None
    return last_shortage


def _total_requests(pod_set: PodSet, resources: Sequence[str]) -> dict[str, int]:
    amounts = {resource: pod_set.requests.get(resource, 0) * pod_set.pods for resource in resources}
    if "pods" in amounts:
        amounts["pods"] = pod_set.pods * 10**9
    return amounts


def _shortage_of_assignment(
    queues: Queues, name: str, assignment: Sequence[tuple[ResourceCounts, str]]
) -> Shortage | None:
    """Return the first resource that a flavor assignment exceeds, or None."""
    total: dict[tuple[str, str], int] = {}
    for amounts, flavor in assignment:
        for resource, amount in amounts.items():
            total[flavor, resource] = total.get((flavor, resource), 0) + amount
    for (flavor, resource), amount in total.items():
        most = queues.most(name, flavor, resource)
        if amount > most:
            why = f"insufficient quota for {resource} in flavor {flavor}: request > maximum capacity"
            comparison = f"({quantity.Quantity(amount)} > {quantity.Quantity(most)})"
            return Shortage(f"{why} {comparison}", queues.firm(name, flavor, resource))
    return None


def _fits_flavor(pod: Json, flavor: Json | None) -> bool:
    """Return whether a pod tolerates a flavor's taints and selects none but its nodes. Node affinity is ignored."""
    spec = nested_map(flavor or {}, "spec")
    labels, selector = string_map(spec.get("nodeLabels")), string_map(pod.get("nodeSelector"))
    if any(labels[key] != value for key, value in selector.items() if key in labels):
        return False
    tolerations = [*as_mappings(pod.get("tolerations")), *as_mappings(spec.get("tolerations"))]
    taints = [item for item in as_mappings(spec.get("nodeTaints")) if item.get("effect") in ("NoSchedule", "NoExecute")]
    return all(any(_tolerates(item, taint) for item in tolerations) for taint in taints)


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    if toleration.get("key") not in (None, "", taint.get("key")):
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (taint.get("value") or "")


PREFIX: Final = "kueue.x-k8s.io/"
QUEUE: Final = KUEUE_QUEUE

LABELS: Final = tuple(PREFIX + name for name in ("queue-name", "priority-class", "max-exec-time-seconds"))
"""Labels of the queued object. Since 0.18 pod-group-name and prebuilt-workload-name may be annotations."""

REQUESTS: Final = tuple(KUEUE_TOPOLOGY.values())
"""Annotations of a pod template, one of which is its topology request."""

TOPOLOGY: Final = (*REQUESTS, KUEUE_SLICE, KUEUE_SLICE_SIZE, f"{KUEUE_SLICE}-constraints", KUEUE_POD_SET_GROUP)
"""All placement annotations of a pod template."""

ANNOTATIONS: Final = (
    *TOPOLOGY,
    *(PREFIX + name for name in ("pod-group-total-count", "pod-group-fast-admission", "retriable-in-group")),
    *(PREFIX + name for name in ("job-min-parallelism", "job-completions-equal-parallelism", "elastic-job")),
    f"{PREFIX}admission-gated-by",
)
"""Annotations of the object or of its pod template."""


def queue_of(metadata: Json) -> str:
    """Return the queue that an object names, or an empty string."""
    return string_map(metadata.get("labels")).get(QUEUE, "")


def api_version(versions: Versions) -> str:
    """Return API group and version: v1beta2 since 0.15, v1beta1 before."""
    return f"kueue.x-k8s.io/v1beta{2 if versions.kueue >= (0, 15) else 1}"


def _cluster_queue(local: dict[str, Any]) -> tuple[str, str]:
    """Return a LocalQueue's ClusterQueue and its advice; it is not emitted, since no file contains its quota."""
    why = "with its quota; if yours has another name, write it as clusterQueue of the LocalQueue"
    return f"ClusterQueue/{local['spec']['clusterQueue']}", why


def _device_class(name: str, versions: Versions) -> tuple[str, str]:
    """Return the configuration without which Kueue admits no job that claims this class (Kueue 0.19,
    pkg/dra/claims.go).
    """
    if versions.kueue < (0, 18):
        why = "the feature gate DynamicResourceAllocation is on: Kueue has counted claims since 0.18"
    else:
        why = f"resources.deviceClassMappings names {name}, and the ClusterQueue has quota for its name there"
    return "Configuration/kueue", why


def _framework(kind: GroupVersionKind, versions: Versions) -> tuple[str, str] | None:
    """Return the configuration without which Kueue ignores the queue of this kind, or None."""
    name = framework_off(kind, versions, ())
    release = f"{versions.kueue[0]}.{versions.kueue[1]}"
    return (
        ("Configuration/kueue", f"integrations.frameworks lists {name}: Kueue {release} leaves it out")
        if name
        else None
    )


QUEUES = QueueSystem(
    api_version,
    "LocalQueue",
    lambda name: {"clusterQueue": name},
    namespaced=True,
    priority="WorkloadPriorityClass",
    backing_object=_cluster_queue,
    devices=_device_class,
    framework=_framework,
    named_by=queue_of,
)
