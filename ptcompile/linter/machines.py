"""The machine types that a pod selects by labels, and what it requests of them beyond their
size.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabric_gaps import EFA
from ptcompile.hardware.machines import MACHINES, Ask, Machines, Misfit, machines_by_name, misfits
from ptcompile.hardware.nodes import ANYWHERE, VENDORS
from ptcompile.kubernetes.pod_spec import pinned_values, request_path
from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.world.templates import EnvEntry, ManifestTemplate

_INSTANCE_TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_GKE_LABEL = "cloud.google.com/gke-accelerator"
_PRODUCT_LABEL = "nvidia.com/gpu.product"
_SHARED_GPU_LABELS = (
    "cloud.google.com/gke-gpu-partition-size",
    "cloud.google.com/gke-gpu-sharing-strategy",
    "cloud.google.com/gke-max-shared-clients-per-gpu",
)
"""Labels of nodes that share their GPUs: the device plugin counts more of them than the machine
type has.
"""


class PinnedMachines(NamedTuple):
    """The machine types that a pod may run on."""

    machines: Machines
    cloud: str
    resource: str
    """The Kubernetes resource name of their accelerators."""
    label: str
    """The label values that select them, as text."""
    is_certain: bool
    """Whether no other machine type can have the label: hardware that no cloud sells may have the
    same product label.
    """


class ExcessRequest(NamedTuple):
    """A pod's request that does not fit, and its path."""

    path: Path
    text: str
    misfit: Misfit
    pins: PinnedMachines


def excess_requests(template: ManifestTemplate) -> Iterator[ExcessRequest]:
    """Yield the requests of a template's pods that no machine type they select can satisfy."""
    pins = pinned_machines(template)
    if pins is None:
        return

    from ptcompile.kubernetes.amounts import pod_requests

    amounts = pod_requests(template.spec)
    resources = _machine_amounts(pins, template)
    asks = {
        name: Ask(amount, amounts[name].nano)
        for name, amount in resources.items()
        if name in amounts
    }
    for misfit in misfits(list(asks.values()), pins.machines, pins.cloud or None):
        name = next(name for name, ask in asks.items() if ask is misfit.ask)
        path = request_path(template.spec, name)
        if path:
            yield ExcessRequest((*template.spec_path, *path), str(amounts[name]), misfit, pins)


class MissingFabric(NamedTuple):
    """A fabric that a template's pods use, its path, and the selected machine types, none of
    which has it.
    """

    path: Path
    text: str
    fabric: str
    pins: PinnedMachines


def missing_fabrics(template: ManifestTemplate) -> Iterator[MissingFabric]:
    """Yield the cloud fabrics that the pods use, if no machine type that they select has them."""
    used_fabrics = list(_used_fabrics(template))
    pins = pinned_machines(template) if used_fabrics else None
    if pins is None or not pins.cloud:
        return
    offered = {fabric for machine in pins.machines for fabric in machine.fabrics}
    for path, text, fabric in used_fabrics:
        if fabric not in offered:
            yield MissingFabric(path, text, fabric, pins)


_FABRIC_PREFIXES = {"NCCL_GPUDIRECTTCPX_": "tcpx", "NCCL_FASTRAK_": "tcpxo"}
"""Fabrics of GKE, keyed by the prefix of NCCL's variables for each."""


def _used_fabrics(template: ManifestTemplate) -> Iterator[tuple[Path, str, str]]:
    """Yield each fabric that containers use by a device or a variable, once: the path and the name
    of its first use, then the fabric.
    """
    seen = set()
    for container in template.containers:
        names = [
            (_fabric_of_variable(entry), entry.name_path, entry.name)
            for entry in container.variables
        ]
        names += [("efa", path, name) for path, name, _ in container.resources if name == EFA]

        for fabric, path, text in names:
            if fabric and fabric not in seen:
                seen.add(fabric)
                yield path, text, fabric


def _fabric_of_variable(entry: EnvEntry) -> str:
    """Return the fabric that a variable configures, or ""."""
    if entry.name == "NCCL_NET" and entry.text.lower() == "gib":
        return "gib"
    return next(
        (fabric for prefix, fabric in _FABRIC_PREFIXES.items() if entry.name.startswith(prefix)), ""
    )


def _machine_amounts(pins: PinnedMachines, template: ManifestTemplate) -> dict[str, str]:
    """Return which amount of a machine type each resource uses, accelerators first: they select
    the type.
    """
    from ptcompile.spec.devices import counted_resource

    selector = nested_string_map(template.spec, "nodeSelector")
    is_whole = not any(label in selector for label in _SHARED_GPU_LABELS)
    amounts = {pins.resource: "devices"} if is_whole else {}
    for fabric in {fabric for machine in pins.machines for fabric in machine.fabrics}:
        if name := counted_resource(fabric, pins.cloud or None):
            amounts[name] = fabric
    return {**amounts, "cpu": "cpu", "memory": "memory"}


def pinned_machines(template: ManifestTemplate) -> PinnedMachines | None:
    """Return the machine types that all values of a label select, or None if one of them is
    unknown.
    """
    for label in _INSTANCE_TYPE_LABELS:
        for _, values in pinned_values(template.spec, label):
            types = [machines_by_name().get(value) for value in values]
            known_types = [machine for machine in types if machine is not None]
            if (
                not known_types
                or len(known_types) < len(types)
                or len({machine.cloud for machine in known_types}) > 1
            ):
                return None

            machines = tuple(machine.machine for machine in known_types)
            return PinnedMachines(
                machines,
                known_types[0].cloud,
                _resource_of(known_types[0].accelerator),
                " or ".join(values),
                True,
            )

    for label, cloud in ((_GKE_LABEL, "gke"), (_PRODUCT_LABEL, ANYWHERE)):
        for _, values in pinned_values(template.spec, label):
            rows = [
                name for name, row in ROWS.items() if set(row.nodes.get(cloud, ())) & set(values)
            ]
            machines = tuple(machine for name in rows for machine in _machines_in(name, cloud))
            if not rows or not all(_machines_in(name, cloud) for name in rows):
                return None
            return PinnedMachines(
                machines, cloud, _resource_of(rows[0]), " or ".join(values), cloud == "gke"
            )

    return None


def _machines_in(accelerator: str, cloud: str) -> Machines:
    """Return the accelerator's machine types in a cloud, or in all clouds if none is given."""
    clouds = MACHINES.get(accelerator, {})
    if cloud:
        return clouds.get(cloud, ())
    return tuple(machine for machines in clouds.values() for machine in machines)


def _resource_of(accelerator: str) -> str:
    return VENDORS[ROWS[accelerator].vendor].resource
