"""The nodes of a cluster as groups: the pools of a profile, Node objects, and Karpenter's
NodePools.

Sources: docs/facts/hardware.md; Karpenter 1.14,
pkg/controllers/provisioning/scheduling/nodeclaim.go (`CanAdd`) and pkg/apis/v1/labels.go;
karpenter-provider-aws 1.14, pkg/apis/v1/labels.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path, Severity
from ptcompile.hardware.machines import allocatable, machines_by_name
from ptcompile.kubernetes import amounts, quantity
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.nodes import NAME, NodeGroup, Placement, always, never, reaches
from ptcompile.kubernetes.quantity import NANO
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.spec import devices
from ptcompile.spec.objects import typed_amounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile, NodePool

_ENDED = ("Succeeded", "Failed")
"""Phases of pods that no longer take anything of their node."""
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_MANY_VALUES = 50
"""A label with more values than that does not tell nodes apart: it is their name, or the like."""
_KARPENTER_OFFERS = frozenset(
    {
        "nvidia.com/gpu",
        "amd.com/gpu",
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "habana.ai/gaudi",
    }
)
"""Accelerators that Karpenter's instance types have; it makes no node for another one without a
NodeOverlay.
"""
_RESOLVED_LABELS = (
    "karpenter.sh/",
    "topology.kubernetes.io/",
    "topology.k8s.aws/",
    "failure-domain.beta.kubernetes.io/",
    "node.kubernetes.io/",
    "kubernetes.io/",
    "beta.kubernetes.io/",
)
"""Prefixes of labels that the instance type decides on, beside those of the provider."""
_PROVIDERS = ("karpenter.k8s.aws", "eks.amazonaws.com", "karpenter.azure.com")
"""API groups of node classes, which are the prefixes of their providers' labels."""
_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})


class Pools(NamedTuple):
    """What is known of the nodes of a cluster."""

    groups: Sequence[NodeGroup]
    is_listed: bool = False
    """Whether the profile lists them: then they count instead of the catalog's machine types."""
    is_complete: bool = False
    """Whether there are no others."""
    has_nodes: bool = True
    """Whether nodes are among them. If not, Karpenter makes them all, and there are others that
    it does not make.
    """
    flavors: Sequence[Json] | None = None
    """The ResourceFlavors that a queue chose, whose labels and tolerations pods get; None if
    that is unknown.
    """


class PoolMisfit(NamedTuple):
    """Why no node takes a pod, and what to do."""

    path: Path
    """The field of the pod spec that decides, or the nearest one that is written."""
    text: str
    help: str
    severity: Severity


def misfit_in(pools: Pools, placement: Placement) -> PoolMisfit | None:
    """Return why none of the pools takes a pod, or None if one does or another node may."""
    if placement.fitting or not placement.refused or not is_about(pools, placement):
        return None
    severity: Severity = "error" if pools.is_complete else "warning"
    return PoolMisfit(placement.nearest.path, placement.text(), placement.nearest.help, severity)


def is_about(pools: Pools, placement: Placement) -> bool:
    """Return whether pods are for these nodes, as far as is known: Karpenter does not make all
    nodes of a cluster.
    """
    if pools.has_nodes:
        return True

    pod = placement.pod
    groups = [*placement.fitting, *(group for group, _ in placement.refused)]
    # a pod is for a group with its accelerators, or with a label that both name
    has_accelerators = any(is_accelerator(name) for name, _ in pod.requests)
    keys = {nested_string(requirement, "key") for choice in pod.choices for requirement in choice}
    return any(
        reaches(pod.choices, group) and (has_accelerators or not keys.isdisjoint(group.labels))
        for group in groups
    )


def pools_of_profile(cluster: ClusterProfile) -> Pools | None:
    """Return the pools that a profile lists, else those that its objects show, or None."""
    pools = cluster.spec.node_pools
    if not pools:
        return pools_of_objects(Objects(cluster.spec.objects))
    groups = [_profile_group(name, pool, cluster) for name, pool in pools.items()]
    return Pools(groups, is_listed=True, is_complete=not cluster.spec.other_pools)


def _profile_group(name: str, pool: NodePool, cluster: ClusterProfile) -> NodeGroup:
    """Return a pool with what the catalog knows of its machine type. Labels that it does not
    list are unknown.
    """
    labels, sizes = _machine_facts(pool.machine or "", cluster.spec.cloud)
    written = {key: quantity.parse(text) for key, text in typed_amounts(pool.allocatable).items()}
    sizes |= {key: amount.nano for key, amount in written.items() if amount is not None}

    return NodeGroup(
        names=(name,),
        labels={key: (value,) for key, value in {**labels, **pool.labels}.items()},
        taints=[
            {"key": taint.key, "value": taint.value, "effect": taint.effect}
            for taint in pool.taints
        ],
        amounts=sizes,
        size=pool.count,
        is_open=always,
        lacks=is_accelerator if sizes else never,
    )


def _machine_facts(machine: str, cloud: str | None) -> tuple[dict[str, str], dict[str, int]]:
    """Return the labels of a machine type's nodes in a cloud, and what they leave to pods, in
    nano units.
    """
    labels = {_INSTANCE_TYPE: machine} if machine else {}
    row = machines_by_name().get(machine)
    if row is None:
        return labels, {}

    entry = devices.built_in_accelerator(row.accelerator, cloud)
    sizes = {measure: allocatable(row.machine, measure, row.cloud) for measure in ("cpu", "memory")}
    if entry is not None:
        if cloud == row.cloud:
            labels |= entry.node_labels
        if entry.resource_name:
            sizes[entry.resource_name] = row.machine.devices * NANO
    for fabric, count in row.machine.fabrics.items():
        if resource := devices.counted_resource(fabric, row.cloud):
            sizes[resource] = count * NANO

    return labels, sizes


def pools_of_objects(objects: Objects, running: Iterable[Json] = ()) -> Pools | None:
    """Return the nodes of files, Node objects and Karpenter's NodePools, or None if the files have
    neither. There may be others.

    Nodes have what the pods `running` leave of them.
    """
    nodes = [node for node in objects.of_kind(("v1", "Node")) if not is_of_autopilot(node)]
    pools = objects.of_kind(("karpenter.sh/v1", "NodePool"))
    groups = [*_node_groups(nodes, _reserved_by_pods(running)), *map(karpenter_group, pools)]
    return Pools(groups, has_nodes=bool(nodes)) if groups else None


def is_of_autopilot(node: Json) -> bool:
    """Return whether GKE Autopilot, which makes nodes for what pods request, made this one;
    Standard writes gke-.
    """
    return object_name(node).startswith("gk3-")


def _reserved_by_pods(pods: Iterable[Json]) -> dict[str, dict[str, int]]:
    """Return what running pods reserve, in nano units, by the name of their node and by resource
    name.
    """
    taken: dict[str, dict[str, int]] = {}
    for pod in pods:
        spec = nested_map(pod, "spec")
        node = nested_string(spec, "nodeName")
        if node and nested_value(pod, "status", "phase") not in _ENDED:
            on_node = taken.setdefault(node, {})
            requests = {**amounts.pod_requests(spec), "pods": quantity.Quantity(NANO)}
            for name, amount in requests.items():
                on_node[name] = on_node.get(name, 0) + amount.nano

    return taken


def _node_groups(
    nodes: Iterable[Json], taken: Mapping[str, Mapping[str, int]]
) -> Iterator[NodeGroup]:
    """Yield the nodes in groups that differ in what decides on pods."""
    labels_of = {id(node): {**_labels(node), NAME: object_name(node)} for node in nodes}
    values: defaultdict[str, set[str]] = defaultdict(set)
    for labels in labels_of.values():
        for key, value in labels.items():
            values[key].add(value)
    varied = {NAME, *(key for key, seen in values.items() if len(seen) > _MANY_VALUES)}

    groups: defaultdict[str, list[Json]] = defaultdict(list)
    for node in nodes:
        labels = labels_of[id(node)]
        shared = sorted((key, "" if key in varied else value) for key, value in labels.items())
        spec = nested_map(node, "spec")
        free = _left_for_pods(node, taken)
        groups[repr([shared, spec.get("taints"), spec.get("unschedulable"), free])].append(node)

    for members in groups.values():
        first = members[0]
        sizes = _left_for_pods(first, taken)
        yield NodeGroup(
            names=tuple(map(object_name, members)),
            labels={
                key: [*{labels_of[id(node)][key]: 1 for node in members}]
                for key in labels_of[id(first)]
            },
            taints=nested_maps(first, "spec", "taints"),
            amounts=sizes,
            is_pool=False,
            is_cordoned=nested_value(first, "spec", "unschedulable") is True,
            size=len(members),
            lacks=_is_extended if sizes else never,
        )


def karpenter_group(pool: Json) -> NodeGroup:
    """Return the nodes that Karpenter may make for a NodePool."""
    spec = nested_map(pool, "spec", "template", "spec")
    requirements: defaultdict[str, list[Json]] = defaultdict(list)
    for requirement in nested_maps(spec, "requirements"):
        if requirement.get("operator") in _OPERATORS:
            requirements[nested_string(requirement, "key")].append(requirement)

    name = object_name(pool)
    fixed = {**_labels(nested_map(pool, "spec", "template")), "karpenter.sh/nodepool": name}
    listed = {
        key: nested_strings(requirement, "values")
        for key, of_key in requirements.items()
        for requirement in of_key
        if requirement.get("operator") == "In"
    }
    labels = {**listed, **{key: [value] for key, value in fixed.items()}}

    limits = {
        key: limit.nano
        for key, limit in amounts.quantities_of(nested_map(pool, "spec"), "limits").items()
    }
    nodes = [limits["nodes"]] if "nodes" in limits else []
    replicas = nested_value(pool, "spec", "replicas")
    if isinstance(replicas, int) and replicas >= 0:  # a static pool
        nodes.append(replicas * NANO)

    machines = _amounts_by_machine(labels.get(_INSTANCE_TYPE, ()))
    possible = [
        machine
        for machine in machines
        if all(machine.get(key, 0) <= limit for key, limit in limits.items())
    ]
    if machines and not possible:
        nodes.append(0)
    sizes: dict[str, int] = {}
    for machine in possible:
        for resource, amount in machine.items():
            sizes[resource] = max(amount, sizes.get(resource, 0))
    sizes |= {key: min(limit, sizes.get(key, limit)) for key, limit in limits.items()}

    return NodeGroup(
        names=(name,),
        labels=labels,
        taints=nested_maps(spec, "taints"),
        amounts=sizes,
        size=min(nodes) // NANO if nodes else None,
        limits=limits,
        requirements=requirements,
        is_open=partial(_is_resolved, nested_string(spec, "nodeClassRef", "group")),
        lacks=is_accelerator if machines else _is_never_offered,
    )


def _amounts_by_machine(names: Sequence[str]) -> list[Mapping[str, int]]:
    """Return the amounts of each machine type, or [] if one of them is not in the catalog."""
    rows = [row for name in names if (row := machines_by_name().get(name)) is not None]
    if len(rows) < len(names):
        return []
    return [_machine_facts(row.machine.name, row.cloud)[1] for row in rows]


def _is_resolved(provider: str, label: str) -> bool:
    """Return whether the instance type may decide on a label that a NodePool does not list."""
    return provider not in _PROVIDERS or label.startswith((*_RESOLVED_LABELS, f"{provider}/"))


def _is_never_offered(resource: str) -> bool:
    return is_accelerator(resource) and resource not in _KARPENTER_OFFERS


def _is_extended(resource: str) -> bool:
    return "/" in resource


def _labels(holder: Json) -> dict[str, str]:
    return nested_string_map(holder, "metadata", "labels")


def _left_for_pods(node: Json, taken: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return what a node leaves to pods, in nano units, by resource name."""
    of_others = taken.get(object_name(node), {})
    whole = amounts.quantities_of(nested_map(node, "status"), "allocatable")
    return {name: max(0, amount.nano - of_others.get(name, 0)) for name, amount in whole.items()}
