"""Accelerators and fabrics that a cluster profile defines or inherits, and their counts and
resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptcompile.kubernetes import quantity, resources as accelerators
from ptcompile.kubernetes.unstructured import without_keys
from ptcompile.spec import reader
from ptcompile.spec.objects import typed_amounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.hardware.nodes import SpotNodes
    from ptcompile.spec.cluster_profile import Accelerator, ClusterProfile, Fabric, NodeRequirement


def accelerator(profile: ClusterProfile, name: str | None) -> Accelerator | None:
    """Return the accelerator that `name` refers to: the profile's, else its cloud's built-in
    one, else None.
    """
    if name is None:
        return None
    return profile.spec.accelerators.get(name) or built_in_accelerator(name, profile.spec.cloud)


def spot_nodes(profile: ClusterProfile) -> SpotNodes | None:
    """Return how the profile's cloud marks spot nodes, or None if the profile sets `spot` or
    names no cloud.
    """
    from ptcompile.hardware.nodes import SPOT

    if "spot" in profile.spec.model_fields_set:
        return None
    return SPOT.get(profile.spec.cloud or "")


def node_requirements(
    profile: ClusterProfile, name: str | None, devices: int
) -> list[NodeRequirement]:
    """Return the node requirements of an accelerator besides its labels.

    Among the built-in machine types that a label names, those with fewer devices than a pod
    requests are omitted.
    """
    entry = accelerator(profile, name)
    cloud = profile.spec.cloud
    if entry is None or name is None or name in profile.spec.accelerators or "/" in name:
        return list(entry.match_expressions) if entry is not None else []

    from ptcompile.hardware.accelerators import machines_of

    small = {
        requirement.name
        for requirement in machines_of(name, cloud, largest=False)
        if requirement.devices < devices
    }

    return [_without(requirement, small) for requirement in entry.match_expressions]


def _without(requirement: NodeRequirement, machines: set[str]) -> NodeRequirement:
    """Return the requirement without these machine types, or unchanged if none would remain."""
    remaining = [value for value in requirement.values or () if value not in machines]
    if remaining and len(remaining) < len(requirement.values or ()):
        return requirement.replace(values=remaining)
    return requirement


def gpu_resource(profile: ClusterProfile, accelerator_name: str | None) -> str:
    """Return the resource that `gpu` requests: the named accelerator's, else the cluster's."""
    entry = accelerator(profile, accelerator_name)
    return (entry and entry.resource_name) or profile.spec.gpu.resource_name


def fabric(
    profile: ClusterProfile, name: str | None, accelerator_name: str | None = None
) -> Fabric | None:
    """Return the fabric that `name` refers to, or None: the built-in one with the profile's fields
    on top.

    Some built-in fabrics depend on the cloud and the accelerator.
    """
    if name is None:
        return None
    profile_fabric = profile.spec.fabrics.get(name)
    built_in = built_in_fabric(name, profile.spec.cloud, accelerator_name)
    if profile_fabric is None or built_in is None:
        return profile_fabric or built_in
    return built_in.replace(
        **{field: getattr(profile_fabric, field) for field in profile_fabric.model_fields_set}
    )


def fabric_amounts(
    profile: ClusterProfile, name: str | None, accelerator_name: str | None, devices: int
) -> dict[str, str]:
    """Return the resources that a pod with `devices` accelerators requests for a fabric, by
    Kubernetes resource name.

    The amounts are the profile's, else those of a whole node with this accelerator, else the
    built-in ones.
    """
    network = fabric(profile, name, accelerator_name)
    entry = accelerator(profile, accelerator_name)
    amounts = dict(typed_amounts(network.resources)) if network else {}
    devices_per_node = entry.devices_per_node if entry else None
    if entry is None or not devices_per_node:
        return amounts

    resource = per_machine_resource(profile, name)
    whole_node_devices = fabric_devices(profile, name, entry)
    if resource in amounts and devices >= devices_per_node and whole_node_devices is not None:
        amounts[resource] = str(whole_node_devices)
    for shared, mebibytes in _node_amounts(profile, name, accelerator_name).items():
        requested = quantity.parse(amounts.get(shared))
        share = devices * mebibytes // devices_per_node
        if requested is not None and 0 < share < requested.value / 2**20:
            amounts[shared] = f"{share // 2 * 2}Mi"  # whole pages

    return amounts


def fabric_devices(profile: ClusterProfile, name: str | None, entry: Accelerator) -> int | None:
    """Return the number of the fabric's devices on a whole node, or None if unknown.

    Devices of the fabric that accompanies it in this cloud count too.
    """
    from ptcompile.hardware.fabrics import FABRICS

    built_in = FABRICS.get(name or "")
    companion = built_in.companions.get(profile.spec.cloud or "") if built_in is not None else None

    return next(
        (
            entry.fabric_devices[fabric_name]
            for fabric_name in (name, companion)
            if fabric_name in entry.fabric_devices
        ),
        None,
    )


def per_machine_resource(profile: ClusterProfile, name: str | None) -> str | None:
    """Return the fabric's resource whose count depends on the machine type, or None if the
    profile sets its amounts.
    """
    profile_fabric = profile.spec.fabrics.get(name or "")
    if profile_fabric and profile_fabric.resources:
        return None
    return counted_resource(name or "", profile.spec.cloud)


def _node_amounts(
    profile: ClusterProfile, name: str | None, accelerator_name: str | None
) -> Mapping[str, int]:
    from ptcompile.hardware.fabrics import fabric_in

    profile_fabric = profile.spec.fabrics.get(name or "")
    if profile_fabric and profile_fabric.resources:
        return {}
    built_in = fabric_in(name or "", profile.spec.cloud, accelerator_name)
    return built_in.node_has if built_in is not None else {}


def is_accelerator(profile: ClusterProfile, resource: str) -> bool:
    """Return whether a resource is an accelerator in this cluster."""
    if (
        resource == "gpu"
        or accelerators.is_accelerator(resource)
        or resource == profile.spec.gpu.resource_name
    ):
        return True

    profile_accelerators = profile.spec.accelerators
    return bool(profile_accelerators) and any(
        entry.resource_name == resource for entry in profile_accelerators.values()
    )


def count_accelerators(profile: ClusterProfile, amounts: Mapping[str, str]) -> int:
    """Return how many accelerators of any kind the amounts contain."""
    counts = [
        quantity.parse(text) for name, text in amounts.items() if is_accelerator(profile, name)
    ]
    return sum([count.value for count in counts if count is not None])


def count_processes(
    profile: ClusterProfile, amounts: Mapping[str, str], accelerator_name: str | None
) -> int:
    """Return how many processes the amounts run: one per accelerator, or as many as the named
    accelerator takes.
    """
    entry = accelerator(profile, accelerator_name)
    processes_per_device = entry.processes_per_device if entry else 1
    if processes_per_device == 1:
        return count_accelerators(profile, amounts)

    resources = {"gpu", gpu_resource(profile, accelerator_name)}
    own_amounts = {name: amount for name, amount in amounts.items() if name in resources}
    other_amounts = without_keys(amounts, *resources)

    return count_accelerators(profile, own_amounts) * processes_per_device + count_accelerators(
        profile, other_amounts
    )


def uncounted_processes(
    profile: ClusterProfile, amounts: Mapping[str, str], accelerator_name: str | None
) -> int | None:
    """Return how many processes the amounts run if torchrun's `auto` would start a different
    number, else None.

    torchrun's `auto` counts the devices of CUDA, ROCm and XPU, one process each, or else the host's
    cores (PyTorch 2.13). Trainer 2.3 recognizes GPUs by the word "gpu" in the resource name and
    counts CPUs otherwise.
    """
    is_visible = any("gpu" in name.lower() for name in amounts if is_accelerator(profile, name))
    processes = count_processes(profile, amounts, accelerator_name)
    if is_visible and processes == count_accelerators(profile, amounts):
        return None
    return processes or None


@cache
def built_in_accelerator(name: str, cloud: str | None) -> Accelerator | None:
    """Return the catalog's entry of an accelerator in a cloud, or None."""
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

    return reader.read_accelerator(
        {
            "resourceName": entry.resource,
            "nodeLabels": {
                key: values[0] for key, values in entry.labels.items() if len(values) == 1
            },
            "matchExpressions": [*several, *absent],
            "tolerations": [taint.toleration() for taint in entry.taints],
            "processesPerDevice": entry.processes,
            "oneDrivesAll": entry.one_drives_all,
            "env": dict(entry.env),
            "devicesPerNode": entry.whole.devices if entry.whole else None,
            "fabricDevices": dict(entry.whole.fabrics) if entry.whole else {},
            "nodesPerDomain": entry.domain or None,
        }
    )


@cache
def built_in_fabric(
    name: str, cloud: str | None = None, accelerator_name: str | None = None
) -> Fabric | None:
    """Return the built-in fabric in a cloud and on the machines of an accelerator, or None."""
    from ptcompile.hardware.fabrics import fabric_in

    entry = fabric_in(name, cloud, accelerator_name)
    if entry is None:
        return None

    return reader.read_fabric(
        {
            "resources": dict(entry.resources),
            "capabilities": list(entry.capabilities),
            "env": dict(entry.env),
            "annotations": dict(entry.annotations),
            "deviceNetwork": entry.device_network or None,
            "claims": {
                key: {"deviceClassName": one, "count": n} for key, (one, n) in entry.claims.items()
            },
            "computeDomain": entry.compute_domain,
            "podTemplate": dict(entry.pod_template),
        }
    )


def counted_resource(fabric: str, cloud: str | None) -> str | None:
    """Return the resource of a built-in fabric whose count depends on the cloud's machine type,
    such as EFA's, or None.
    """
    from ptcompile.hardware.fabrics import fabric_in

    built_in = fabric_in(fabric, cloud, None)
    if built_in is None or (built_in.counted_on is not None and cloud not in built_in.counted_on):
        return None
    return built_in.counted
