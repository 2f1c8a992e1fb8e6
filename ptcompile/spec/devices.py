"""The hardware that a cluster profile knows: its accelerators and fabrics, and what an amount of them means."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptcompile.kubernetes import quantity, resources as accelerators
from ptcompile.spec import reader
from ptcompile.spec.objects import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.hardware.nodes import SpotNodes
    from ptcompile.spec.cluster_profile import Accelerator, ClusterProfile, Fabric, NodeRequirement


def accelerator(profile: ClusterProfile, name: str | None) -> Accelerator | None:
    """The entry of a name: the profile's own, else the built-in one for its cloud; None where there is none."""
    if name is None:
        return None
    return profile.spec.accelerators.get(name) or built_in_accelerator(name, profile.spec.cloud)


def spot_nodes(profile: ClusterProfile) -> SpotNodes | None:
    """Return how the profile's cloud marks spot nodes, or None if the profile says so itself or names no cloud."""
    from ptcompile.hardware.nodes import SPOT

    return None if "spot" in profile.spec.model_fields_set else SPOT.get(profile.spec.cloud or "")


def node_requirements(profile: ClusterProfile, name: str | None, devices: int) -> list[NodeRequirement]:
    """Return what the nodes of an accelerator must be beyond its labels.

    Of the built-in machine types that a label names, those with fewer devices than a pod requests are left out.
    """
    entry, cloud = accelerator(profile, name), profile.spec.cloud
    if entry is None or name is None or name in profile.spec.accelerators or "/" in name:
        return list(entry.match_expressions) if entry is not None else []
    from ptcompile.hardware.accelerators import machines_of

    small = {one.name for one in machines_of(name, cloud, largest=False) if one.devices < devices}
    return [_without(one, small) for one in entry.match_expressions]


def _without(one: NodeRequirement, machines: set[str]) -> NodeRequirement:
    """Return a requirement without the values that are these machines, unless none would be left."""
    left = [value for value in one.values or () if value not in machines]
    return one.but(values=left) if left and len(left) < len(one.values or ()) else one


def gpu_resource(profile: ClusterProfile, accelerator_name: str | None) -> str:
    """What `gpu` is called: the named accelerator's resource, else the cluster's."""
    entry = accelerator(profile, accelerator_name)
    return (entry and entry.resource_name) or profile.spec.gpu.resource_name


def fabric(profile: ClusterProfile, name: str | None, accelerator_name: str | None = None) -> Fabric | None:
    """The fabric of a name: what the profile's entry says, over the built-in one; None where there is neither.

    Some built-in ones are others by the cloud and the accelerator.
    """
    if name is None:
        return None
    own, known = profile.spec.fabrics.get(name), built_in_fabric(name, profile.spec.cloud, accelerator_name)
    if own is None or known is None:
        return own or known
    return known.but(**{field: getattr(own, field) for field in own.model_fields_set})


def fabric_amounts(
    profile: ClusterProfile, name: str | None, accelerator_name: str | None, devices: int
) -> dict[str, str]:
    """What a pod with this many of the named accelerator asks for on a fabric, by Kubernetes resource name.

    The profile's amounts, else those of a whole node of that accelerator, else the built-in ones.
    """
    own, entry = fabric(profile, name, accelerator_name), accelerator(profile, accelerator_name)
    amounts = dict(as_text(own.resources)) if own else {}
    each = entry.devices_per_node if entry else None
    if entry is None or not each:
        return amounts
    resource, there = counted(profile, name), devices_of_fabric(profile, name, entry)
    if resource in amounts and devices >= each and there is not None:
        amounts[resource] = str(there)
    for shared, mebibytes in _node_has(profile, name, accelerator_name).items():
        asked, share = quantity.parse(amounts.get(shared)), devices * mebibytes // each
        if asked is not None and 0 < share < asked.value / 2**20:
            amounts[shared] = f"{share // 2 * 2}Mi"  # whole pages
    return amounts


def devices_of_fabric(profile: ClusterProfile, name: str | None, entry: Accelerator) -> int | None:
    """How many devices of a fabric, or of the one that comes along with it, a whole node has; None if unknown."""
    from ptcompile.hardware.fabrics import FABRICS

    known = FABRICS.get(name or "")
    along = known.beyond.get(profile.spec.cloud or "") if known is not None else None
    return next((entry.fabric_devices[one] for one in (name, along) if one in entry.fabric_devices), None)


def counted(profile: ClusterProfile, name: str | None) -> str | None:
    """The resource of a fabric of which each machine has its own number, where the profile does not give it."""
    own = profile.spec.fabrics.get(name or "")
    return None if own and own.resources else counted_resource(name or "", profile.spec.cloud)


def _node_has(profile: ClusterProfile, name: str | None, accelerator_name: str | None) -> Mapping[str, int]:
    from ptcompile.hardware.fabrics import fabric_in

    own = profile.spec.fabrics.get(name or "")
    known = None if own and own.resources else fabric_in(name or "", profile.spec.cloud, accelerator_name)
    return known.node_has if known is not None else {}


def is_accelerator(profile: ClusterProfile, resource: str) -> bool:
    """Whether a resource name stands for an accelerator here."""
    if resource == "gpu" or accelerators.is_accelerator(resource) or resource == profile.spec.gpu.resource_name:
        return True
    own = profile.spec.accelerators
    return bool(own) and any(entry.resource_name == resource for entry in own.values())


def accelerators_in(profile: ClusterProfile, amounts: Mapping[str, str]) -> int:
    """How many accelerators these amounts are, of whatever kind."""
    counts = [quantity.parse(text) for name, text in amounts.items() if is_accelerator(profile, name)]
    return sum([count.value for count in counts if count is not None])


def processes_in(profile: ClusterProfile, amounts: Mapping[str, str], accelerator_name: str | None) -> int:
    """How many processes these amounts take: one for each accelerator, or as many as the named one's entry says."""
    entry = accelerator(profile, accelerator_name)
    each = entry.processes_per_device if entry else 1
    if each == 1:
        return accelerators_in(profile, amounts)
    named = {"gpu", gpu_resource(profile, accelerator_name)}
    ours = {name: amount for name, amount in amounts.items() if name in named}
    others = {name: amount for name, amount in amounts.items() if name not in named}
    return accelerators_in(profile, ours) * each + accelerators_in(profile, others)


def uncounted(profile: ClusterProfile, amounts: Mapping[str, str], accelerator_name: str | None) -> int | None:
    """How many processes these amounts take, where `auto` on the node would be another number; else None.

    torchrun's `auto` counts the devices of CUDA, ROCm and XPU, one process each, and host cores where it sees none
    (PyTorch 2.13); Trainer 2.3 takes a resource for GPUs by the word "gpu" in its name, and counts CPUs otherwise.
    """
    seen = any("gpu" in name.lower() for name in amounts if is_accelerator(profile, name))
    processes = processes_in(profile, amounts, accelerator_name)
    return None if seen and processes == accelerators_in(profile, amounts) else processes or None


@cache
def built_in_accelerator(name: str, cloud: str | None) -> Accelerator | None:
    """The catalogue's entry of a name in a cloud; None where there is none."""
    from ptcompile.hardware.accelerators import find
    from ptcompile.hardware.nodes import ANYWHERE

    entry = find(name, cloud or ANYWHERE)
    if entry is None:
        return None
    several = [
        {"key": key, "operator": "In", "values": list(values)}
        for key, values in entry.labels.items()
        if len(values) > 1
    ]
    absent = [{"key": key, "operator": "DoesNotExist"} for key in entry.without]
    return reader.accelerator(
        {
            "resourceName": entry.resource,
            "nodeLabels": {key: values[0] for key, values in entry.labels.items() if len(values) == 1},
            "matchExpressions": [*several, *absent],
            "tolerations": [one.toleration() for one in entry.taints],
            "processesPerDevice": entry.processes,
            "oneDrivesAll": entry.one_drives_all,
            "env": dict(entry.env),
            "devicesPerNode": entry.whole.devices if entry.whole else None,
            "fabricDevices": dict(entry.whole.fabrics) if entry.whole else {},
            "nodesPerDomain": entry.domain or None,
        }
    )


@cache
def built_in_fabric(name: str, cloud: str | None = None, accelerator_name: str | None = None) -> Fabric | None:
    """The built-in fabric of a name, in a cloud and on the machines of an accelerator; None where there is none."""
    from ptcompile.hardware.fabrics import fabric_in

    entry = fabric_in(name, cloud, accelerator_name)
    if entry is None:
        return None
    return reader.fabric(
        {
            "resources": dict(entry.resources),
            "capabilities": list(entry.capabilities),
            "env": dict(entry.env),
            "annotations": dict(entry.annotations),
            "deviceNetwork": entry.device_network or None,
            "claims": {key: {"deviceClassName": one, "count": n} for key, (one, n) in entry.claims.items()},
            "computeDomain": entry.compute_domain,
            "podTemplate": dict(entry.pod_template),
        }
    )


def counted_resource(fabric: str, cloud: str | None) -> str | None:
    """The resource of a built-in fabric of which a machine of a cloud has its own number, such as that of EFA."""
    from ptcompile.hardware.fabrics import fabric_in

    known = fabric_in(fabric, cloud, None)
    if known is None or (known.counted_on is not None and cloud not in known.counted_on):
        return None
    return known.counted
