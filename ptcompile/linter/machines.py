"""The machines that a pod pins by labels, and what it asks of them beyond their size."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabric_gaps import EFA
from ptcompile.hardware.machines import MACHINES, Ask, Machines, Misfit, machines_by_name, misfits
from ptcompile.hardware.nodes import ANYWHERE, VENDORS
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.kubernetes.unstructured import nested_map, string_map
from ptcompile.linter.templates import EnvEntry, ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_INSTANCE_TYPE_LABELS: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_GKE_LABEL: Final = "cloud.google.com/gke-accelerator"
_PRODUCT_LABEL: Final = "nvidia.com/gpu.product"
_SHARED_GPU_LABELS: Final = (
    "cloud.google.com/gke-gpu-partition-size",
    "cloud.google.com/gke-gpu-sharing-strategy",
    "cloud.google.com/gke-max-shared-clients-per-gpu",
)
"""Labels of nodes whose GPUs are handed out in parts: the device plugin counts more of them than the machine has."""


class PinnedMachines(NamedTuple):
    """The machines that a pod may run on."""

    machines: Machines
    cloud: str
    resource: str
    """The Kubernetes resource of their accelerators."""
    label: str
    """What pins them, for people."""
    is_certain: bool
    """Whether no other machine can have the label: a product may be in hardware that no cloud sells."""


class ExcessRequest(NamedTuple):
    """An amount of a pod that does not fit, and where it is written."""

    path: Path
    text: str
    misfit: Misfit
    pins: PinnedMachines


def excess_requests(template: ManifestTemplate) -> Iterator[ExcessRequest]:
    """What the pods of a template ask for and the machines that they pin do not have, or do not leave."""
    pins = pinned_machines(template)
    if pins is None:
        return
    from ptcompile.simulator.amounts import pod_requests

    amounts, words = pod_requests(template.spec), _machine_amounts(pins, template)
    asks = {name: Ask(what, amounts[name].nano) for name, what in words.items() if name in amounts}
    for misfit in misfits(list(asks.values()), pins.machines, pins.cloud or None):
        name = next(name for name, ask in asks.items() if ask is misfit.ask)
        path = _request_path(template, name)
        if path is not None:
            yield ExcessRequest(path, str(amounts[name]), misfit, pins)


class MissingFabric(NamedTuple):
    """A fabric that the pods of a template use, where that is written, and the machines that do not have it."""

    path: Path
    text: str
    fabric: str
    pins: PinnedMachines


def missing_fabrics(template: ManifestTemplate) -> Iterator[MissingFabric]:
    """Yield the fabric of a cloud that the pods use, if no machine that they pin has it."""
    used = list(_used_fabrics(template))
    pins = pinned_machines(template) if used else None
    if pins is None or not pins.cloud:
        return
    offered = {fabric for one in pins.machines for fabric in one.fabrics}
    for path, text, fabric in used:
        if fabric not in offered:
            yield MissingFabric(path, text, fabric, pins)


_FABRIC_PREFIXES: Final = {"NCCL_GPUDIRECTTCPX_": "tcpx", "NCCL_FASTRAK_": "tcpxo"}
"""The fabrics of GKE, keyed by the prefix of NCCL's variables for each."""


def _used_fabrics(template: ManifestTemplate) -> Iterator[tuple[Path, str, str]]:
    """Yield the fabrics that containers name by a device or by variables: where, by what, and which; each once."""
    seen = set()
    for container in template.containers:
        named = [(_fabric_of_variable(entry), (*entry.path, "name"), entry.name) for entry in container.env]
        half = next(
            (half for half in ("limits", "requests") if EFA in nested_map(container.spec, "resources", half)), None
        )
        named += [("efa", (*container.path, "resources", half, EFA), EFA)] if half is not None else []
        for fabric, path, text in named:
            if fabric and fabric not in seen:
                seen.add(fabric)
                yield path, text, fabric


def _fabric_of_variable(entry: EnvEntry) -> str:
    """Return the fabric that a variable is for, or ""."""
    if entry.name == "NCCL_NET" and (entry.value or "").lower() == "gib":
        return "gib"
    return next((fabric for prefix, fabric in _FABRIC_PREFIXES.items() if entry.name.startswith(prefix)), "")


def _machine_amounts(pins: PinnedMachines, template: ManifestTemplate) -> dict[str, str]:
    """What of a machine each resource takes; the accelerators first, since they decide which machine it can be."""
    from ptcompile.spec.devices import counted_resource

    selector = string_map(template.spec.get("nodeSelector"))
    whole = not any(label in selector for label in _SHARED_GPU_LABELS)
    words = {pins.resource: "devices"} if whole else {}
    for fabric in {fabric for one in pins.machines for fabric in one.fabrics}:
        if name := counted_resource(fabric, pins.cloud or None):
            words[name] = fabric
    return {**words, "cpu": "cpu", "memory": "memory"}


def pinned_machines(template: ManifestTemplate) -> PinnedMachines | None:
    """Return the machines that all values of a label leave, or None if one of them is unknown."""
    for label in _INSTANCE_TYPE_LABELS:
        for _, values in pinned_values(template.spec, label):
            known = [machines_by_name().get(value) for value in values]
            found = [one for one in known if one is not None]
            if not found or len(found) < len(known) or len({one.cloud for one in found}) > 1:
                return None
            machines = tuple(one.machine for one in found)
            return PinnedMachines(
                machines, found[0].cloud, _resource_of(found[0].accelerator), " or ".join(values), True
            )
    for label, cloud in ((_GKE_LABEL, "gke"), (_PRODUCT_LABEL, ANYWHERE)):
        for _, values in pinned_values(template.spec, label):
            rows = [name for name, row in ROWS.items() if set(row.nodes.get(cloud, ())) & set(values)]
            machines = tuple(one for name in rows for one in _machines_in(name, cloud))
            if not rows or not all(_machines_in(name, cloud) for name in rows):
                return None
            return PinnedMachines(machines, cloud, _resource_of(rows[0]), " or ".join(values), cloud == "gke")
    return None


def _machines_in(accelerator: str, cloud: str) -> Machines:
    """An accelerator's machines in a cloud; of all clouds where none is known."""
    clouds = MACHINES.get(accelerator, {})
    return clouds.get(cloud, ()) if cloud else tuple(one for of in clouds.values() for one in of)


def _resource_of(accelerator: str) -> str:
    return VENDORS[ROWS[accelerator].vendor].resource


def _request_path(template: ManifestTemplate, name: str) -> Path | None:
    """Where the containers of a template ask for a resource: the first that does."""
    for container in template.containers:
        for half in ("requests", "limits"):
            if name in nested_map(container.spec, "resources", half):
                return (*container.path, "resources", half, name)
    return None
