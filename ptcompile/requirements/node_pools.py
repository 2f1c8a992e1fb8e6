"""Node pools, cloud, GPUs and spot nodes of a profile, from the nodes of a cluster."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from itertools import chain

from ptcompile.hardware.machines import parse_nano
from ptcompile.hardware.nodes import ARM, HOST, LEVELS, SPOT
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.nodes import NodeGroup
from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    object_name,
    without_falsy,
    without_keys,
)
from ptcompile.world.nodes import is_of_autopilot, karpenter_group

_CLOUD_LABELS = {
    "gke": "cloud.google.com/gke-",
    "eks": "eks.amazonaws.com/",
    "aks": "kubernetes.azure.com/",
    "oke": "oci.oraclecloud.com/",
}
"""Prefix of labels that only a cloud's own nodes have, keyed by cloud."""
_KARPENTER_POOL = "karpenter.sh/nodepool"
_POOL_KINDS = frozenset(
    {"NodePool", "NodeClaim", "ComputeClass", "MachineDeployment", "ProvisioningRequest"}
)
"""Kinds by which something makes nodes: Karpenter's, GKE's, Cluster API's, cluster-autoscaler's."""
_POOL_LABELS = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    _KARPENTER_POOL,
    "kubernetes.azure.com/agentpool",
    "agentpool",
)
"""Labels whose value is the name of a node's pool."""
_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_PASSING_TAINTS = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "karpenter.sh/disrupted",
)
"""Prefixes of taints for a passing state of a node (Kubernetes 1.37, Taints; cluster-autoscaler;
Karpenter).
"""
_GPUS = (
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "amd.com/gpu",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
)
_PLAIN_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
_DOMAIN_LABELS = frozenset(label for levels in LEVELS.values() for label in levels.values())


def worker_nodes(nodes: Sequence[Json]) -> list[Json]:
    """Return the nodes without those of the control plane that keep other pods away."""
    return [
        node for node in nodes if not any(taint["key"] in _CONTROL_PLANE for taint in _taints(node))
    ]


def cloud_of(nodes: Sequence[Json]) -> str | None:
    """Return the cloud whose labels all nodes have, or None."""
    clouds = set(map(_cloud, nodes))
    return clouds.pop() if len(clouds) == 1 else None


def _cloud(node: Json) -> str | None:
    labels = _labels(node)
    return next(
        (
            cloud
            for cloud, prefix in _CLOUD_LABELS.items()
            if any(key.startswith(prefix) for key in labels)
        ),
        None,
    )


def platform_of(nodes: Sequence[Json], objects: Sequence[Json]) -> str | None:
    """Return the managed platform whose admission comes after the API server's, or None."""
    if nodes and all(map(is_of_autopilot, nodes)):
        return "gke-autopilot"
    keys = chain.from_iterable(map(_labels, nodes))
    if any(key.startswith("node.openshift.io/") for key in keys):
        return "openshift"

    for manifest in objects:
        group, _ = group_and_kind(manifest)
        if group.endswith(".openshift.io"):
            return "openshift"

    return None


def node_pools(nodes: Sequence[Json]) -> dict[str, JsonDict]:
    """Return the pools by name: nodes with the same pool label, machine, taints, zone and devices.

    A pool has the smallest allocatable amounts of its nodes, which differ by what each kubelet
    keeps, and the labels that all of them have.
    """
    groups: defaultdict[tuple[object, ...], list[Json]] = defaultdict(list)
    for node in nodes:
        if is_of_autopilot(node):
            continue

        labels = _labels(node)
        taints = tuple(sorted(tuple(taint.items()) for taint in _taints(node)))
        devices = tuple(
            sorted((k, v) for k, v in _allocatable(node).items() if k not in _PLAIN_RESOURCES)
        )
        named = (labels[label] for label in _POOL_LABELS if labels.get(label))
        key = (
            next(named, "") or _machine(labels) or "nodes",
            _machine(labels),
            taints,
            labels.get("topology.kubernetes.io/zone"),
            devices,
        )
        groups[key].append(node)

    repeated = Counter(str(name) for name, *_ in groups)
    numbers: Counter[str] = Counter()
    pools = {}
    for (pool_name, *_), members in groups.items():
        name = str(pool_name)
        if repeated[name] > 1:
            numbers[name] += 1
            name = f"{name}-{numbers[name]}"
        pools[name] = _pool(members)

    return pools


def _pool(nodes: Sequence[Json]) -> JsonDict:
    """Return the pool of nodes that are alike: what all of them have."""
    first = nodes[0]
    labels = _labels(first)
    amounts = [_allocatable(node) for node in nodes]
    resources = [name for name in amounts[0] if all(name in each for each in amounts)]
    shared = {
        key: value
        for key, value in labels.items()
        if key not in _DOMAIN_LABELS
        and value != object_name(first)
        and all(_labels(node).get(key) == value for node in nodes)
    }
    pool = {
        "machine": _machine(labels),
        "allocatable": {
            name: min((each[name] for each in amounts), key=parse_nano) for name in resources
        },
        "labels": dict(sorted(shared.items())),
        "taints": _taints(first),
        "count": len(nodes),
    }

    return without_falsy(pool)


def empty_pools(karpenter_pools: Sequence[Json], nodes: Sequence[Json]) -> dict[str, JsonDict]:
    """Return Karpenter's pools that have no node now, with what all nodes that it makes for them
    have.
    """
    present = {_labels(node).get(_KARPENTER_POOL) for node in nodes}
    groups = [karpenter_group(pool) for pool in karpenter_pools if object_name(pool) not in present]
    pools: dict[str, JsonDict] = {}
    for group in groups:
        (name,) = group.names
        labels = {key: values[0] for key, values in group.labels.items() if len(values) == 1}
        machine = labels.pop(_TYPES[0], None)
        pool = {
            "machine": machine,
            "labels": dict(sorted(labels.items())),
            "taints": _taints({"spec": {"taints": group.taints}}),
            "count": _most_nodes(group) if machine else None,
        }
        pools[name] = {key: value for key, value in pool.items() if value not in (None, {}, [])}

    return pools


def _most_nodes(group: NodeGroup) -> int | None:
    """Return how many nodes with all their devices the limits of a pool of one machine type
    allow, or None.
    """
    devices = [name for name in group.limits if is_accelerator(name) and group.amounts.get(name)]
    if devices and group.size != 0:
        return group.room({name: group.amounts[name] for name in devices})
    return group.size


def may_have_other_pools(
    kinds: Collection[str], names: Collection[str], nodes: Sequence[Json]
) -> bool:
    """Return whether something may add nodes that a dump does not show: a cloud, Karpenter,
    cluster-autoscaler.

    Clouds scale pools to zero, and then nothing in the cluster shows them.
    """
    has_cloud = any(_cloud(node) or _KARPENTER_POOL in _labels(node) for node in nodes)
    return has_cloud or not _POOL_KINDS.isdisjoint(kinds) or "cluster-autoscaler-status" in names


def gpu_settings(nodes: Sequence[Json], device_classes: Sequence[str]) -> JsonDict:
    """Return the profile's `gpu`, without what is its default: NVIDIA's resource and the taint
    of that name.
    """
    resources = [name for name in _GPUS if any(name in _allocatable(node) for node in nodes)]
    if not resources:
        return {"claim": {}} if "gpu.nvidia.com" in device_classes else {}

    resource = resources[0]
    holders = [node for node in nodes if resource in _allocatable(node)]
    settings: JsonDict = {} if resource == _GPUS[0] else {"resourceName": resource}
    taints = [
        taint for taint in _taints(holders[0]) if all(taint in _taints(node) for node in holders)
    ]
    taints = [taint for taint in taints if taint["key"] not in (*_spot_keys(), ARM.key)]
    if any((taint["key"], taint["effect"]) != (resource, "NoSchedule") for taint in taints):
        settings["tolerations"] = [_toleration(taint) for taint in taints]

    return settings


def spot_settings(nodes: Sequence[Json], cloud: str | None) -> JsonDict:
    """Return the profile's `spot` where no cloud implies it: the label of spot nodes that some
    nodes have.
    """
    if cloud is not None:
        return {}

    for marks in SPOT.values():
        for key, value in marks.labels.items():
            spot_nodes = [node for node in nodes if _labels(node).get(key) == value]
            if spot_nodes:
                taints = [taint for taint in _taints(spot_nodes[0]) if taint["key"] in _spot_keys()]
                tolerations = [_toleration(taint) for taint in taints]
                return without_falsy({"nodeLabels": {key: value}, "tolerations": tolerations})

    return {}


def kubelet_release(nodes: Sequence[Json]) -> tuple[int, int] | None:
    """Return the newest release of a kubelet, which is never newer than the API server."""
    texts = (nested_string(node, "status", "nodeInfo", "kubeletVersion") for node in nodes)
    return max((release for text in texts if (release := _release(text)) is not None), default=None)


def _release(text: str) -> tuple[int, int] | None:
    from ptcompile.kubernetes.versions import parse_version

    try:
        return parse_version(text)
    except ValueError:
        return None


def _machine(labels: dict[str, str]) -> str | None:
    return next((labels[label] for label in _TYPES if labels.get(label)), None)


def _labels(node: Json) -> dict[str, str]:
    return without_keys(nested_string_map(node, "metadata", "labels"), HOST)


def _taints(node: Json) -> list[dict[str, str]]:
    taints = []
    for taint in nested_maps(node, "spec", "taints"):
        key, value, effect = (nested_string(taint, field) for field in ("key", "value", "effect"))
        if (
            key
            and effect in {"NoSchedule", "PreferNoSchedule", "NoExecute"}
            and not key.startswith(_PASSING_TAINTS)
        ):
            taints.append({"key": key, **({"value": value} if value else {}), "effect": effect})
    return taints


def _toleration(taint: dict[str, str]) -> dict[str, str]:
    if "value" in taint:
        equal = {"operator": "Equal", "value": taint["value"]}
    else:
        equal = {"operator": "Exists"}
    return {"key": taint["key"], **equal, "effect": taint["effect"]}


def _spot_keys() -> set[str]:
    return {
        key
        for marks in SPOT.values()
        for key in (*marks.labels, *(taint.key for taint in marks.taints))
    }


def _allocatable(node: Json) -> dict[str, str]:
    amounts = nested_map(node, "status", "allocatable")
    return {key: str(value) for key, value in amounts.items() if key != "pods" and parse(value)}
