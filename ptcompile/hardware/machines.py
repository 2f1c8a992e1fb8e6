"""Machine types of the clouds, the amounts that the kubelet leaves for pods, and which requests
fit.

Requests are checked in order, each against the machines that satisfy the earlier ones: accelerators
first, because they decide which machines are possible. If no source states an amount of a machine,
any request fits.

`machines.json` has a row for each machine type, with its sources by cloud. A row says which
accelerator the machine has and how many, its vCPUs and its memory in GiB (0 if no source gives
them), the number of devices of each fabric, and, where a source gives them, the size of its local
disks (for GKE, the largest attachable size in GiB; for EC2, the size in GB) and the most pods that
an EC2 machine runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import MILLI, NANO

EKS_ROOT_LEFT = "17Gi"
"""The part of EKS's default 20 GiB root volume that pods can use (aws/karpenter-provider-aws,
types.go, 2026-08-21).
"""


class Machine(NamedTuple):
    """One machine type."""

    name: str
    devices: int
    cpu: int
    """Number of vCPUs; 0 if no source gives it."""
    memory: int
    """Memory in GiB; 0 if no source gives it."""
    fabrics: Mapping[str, int]
    """Number of fabric devices, keyed by fabric name."""


Machines = tuple[Machine, ...]
_ROWS = load_table("hardware/machines.json")["machines"]


def _machines() -> dict[str, dict[str, Machines]]:
    machines: dict[str, dict[str, Machines]] = {}
    for row in _ROWS:
        machine = Machine(**{field: row[field] for field in Machine._fields})
        by_cloud = machines.setdefault(row["accelerator"], {})
        for cloud in row["clouds"]:
            by_cloud[cloud] = (*by_cloud.get(cloud, ()), machine)

    return machines


MACHINES = _machines()
"""Keyed by accelerator name and cloud."""

DISKS: dict[str, str] = {row["name"]: row["disk"] for row in _ROWS if "disk" in row}
"""Size of the local disks, keyed by machine type."""

_OTHER_PODS = 234
_PODS: dict[str, int] = {row["name"]: row["pods"] for row in _ROWS if "pods" in row}
"""Maximum number of pods of EC2 machines, if not 234."""


def least_memory(machine: Machine, cloud: str | None) -> int:
    """Return the least memory in MiB that the kubelet leaves of a machine before any DaemonSet.

    Only on EKS is it less than `left_for_pods` says: the hypervisor takes up to 7.5% of an
    instance's memory (Karpenter's vmMemoryOverheadPercent), and the kubelet reserves 11 MiB for
    each pod that the instance's network interfaces have addresses for. Measured: g5.8xlarge leaves
    124474 MiB (aws/aws-k8s-tester#471), g6.4xlarge 58981 (pytorch/ci-infra#1082).
    """
    if cloud != "eks":
        _, memory = left_for_pods(machine, cloud)
        return memory

    return int(
        machine.memory * 1024 * 0.925 - 255 - 11 * _PODS.get(machine.name, _OTHER_PODS) - 100
    )


def left_for_pods(machine: Machine, cloud: str | None) -> tuple[int, int]:
    """Return what the kubelet leaves for pods before any DaemonSet, at most: cores in thousandths,
    and memory in MiB.

    GKE and EKS keep 6% of the first core, 1% of the second, 0.5% of the next two and 0.25% of the
    others; AKS 6%, 4%, 2% and 1%. Memory: GKE and AKS keep a share by size, GKE after what its
    image takes (cluster-autoscaler, gce_reserved.go); EKS 255 MiB and 11 MiB a pod, and may keep
    more: see `least_memory` (cloudpilot-ai/karpenter-provider-gcp, aws/karpenter-provider-aws,
    Azure/karpenter-provider-azure, 2026-08).
    """
    first, second, next_two, remaining = (60, 40, 20, 10.0) if cloud == "aks" else (60, 10, 5, 2.5)
    reserved = first + second + 2 * next_two + max(machine.cpu - 4, 0) * remaining
    memory = machine.memory * 1024
    if cloud == "gke":
        kept = _reserved_memory(memory) + 100 + memory / 64 + 80 + min(memory * 0.00175, 248)
    elif cloud == "aks":
        kept = _reserved_memory(memory) + 750
    else:
        kept = 255 + 11 * 29 + 100.0  # the smallest instances allow 29 pods

    return int(machine.cpu * 1000 - reserved), int(memory - kept)


def _reserved_memory(memory: int) -> float:
    """Return the MiB that GKE and AKS reserve: 25% of 4 GiB, 20% of the next 4, 10% of 8, 6% of
    112, 2% of the rest.
    """
    kept = 0.0
    lower = 0
    for upto, share in ((4, 0.25), (8, 0.2), (16, 0.1), (128, 0.06)):
        kept += max(min(memory, upto * 1024) - lower, 0) * share
        lower = upto * 1024
    return kept + max(memory - lower, 0) * 0.02


MIB = 2**20 * NANO


class Ask(NamedTuple):
    """An amount that a pod requests, in nano units. `what` is cpu, memory, devices or a fabric's
    name.
    """

    what: str
    nano: int


class Misfit(NamedTuple):
    """A requested amount that no machine has, or that its kubelet does not leave to pods."""

    ask: Ask
    machine: str
    """The machine with the largest amount."""
    has: str
    """The machine's amount, as text."""
    left: str | None
    """The amount left to pods and its conditions, or None if the machine itself has too little."""


def misfits(asks: Sequence[Ask], machines: Machines, cloud: str | None) -> Iterator[Misfit]:
    """Yield the amounts that do not fit, each at most once. The kubelet's share is checked only if
    everything fits without it.
    """
    fits = True
    remaining = machines
    for ask in asks:
        enough = tuple([item for item in remaining if _capacity(item, ask.what) >= ask.nano])
        if not enough:
            largest = max(remaining, key=lambda item: _capacity(item, ask.what))
            fits = False
            yield Misfit(ask, largest.name, format_capacity(largest, ask.what), None)
        remaining = enough or remaining

    if not fits:
        return

    for ask in asks:
        enough = tuple(
            [item for item in remaining if guaranteed_amount(item, ask.what, cloud) >= ask.nano]
        )
        if not enough:
            largest = max(remaining, key=lambda item: guaranteed_amount(item, ask.what, cloud))
            capacity = format_capacity(largest, ask.what)
            yield Misfit(ask, largest.name, capacity, _format_left(largest, ask, cloud))
        remaining = enough or remaining


def _format_left(machine: Machine, ask: Ask, cloud: str | None) -> str:
    """Return as text what a machine leaves to pods; a range if the requested amount is within
    it.
    """
    least = guaranteed_amount(machine, ask.what, cloud)
    most = allocatable(machine, ask.what, cloud)
    if ask.nano > most:
        return f"at most {_format_amount(most, ask.what)} to pods"
    depends = "depending on the hypervisor's share and the kubelet's maximum number of pods"
    return (
        f"{_format_amount(least, ask.what)} to {_format_amount(most, ask.what)} to pods, {depends}"
    )


class Shared(NamedTuple):
    """A machine that several pods share, each with a part of its accelerators."""

    machine: str
    devices: int
    pods: int
    """Number of such pods that fit the machine."""


def find_shared_machine(
    asks: Sequence[Ask], machines: Machines, cloud: str | None
) -> Shared | None:
    """Return the smallest machine that fits, or None if the pod takes all of its accelerators or
    no machine fits.
    """
    fitting = [
        machine
        for machine in machines
        if all(allocatable(machine, ask.what, cloud) >= ask.nano for ask in asks)
    ]
    devices = next((ask.nano // NANO for ask in asks if ask.what == "devices"), 0)
    least = min(fitting, key=lambda machine: machine.devices, default=None)
    if least is None or not 0 < devices < least.devices:
        return None

    pods = min(allocatable(least, ask.what, cloud) // ask.nano for ask in asks if ask.nano)
    return Shared(least.name, least.devices, pods)


_PLENTY = 2**63 * NANO


def _capacity(machine: Machine, resource: str) -> int:
    """Return a machine's amount, in nano units."""
    if resource == "devices":
        return machine.devices * NANO
    if resource == "cpu":
        return machine.cpu * NANO or _PLENTY
    if resource == "memory":
        return machine.memory * 1024 * MIB or _PLENTY
    return machine.fabrics.get(resource, 0) * NANO


def allocatable(machine: Machine, resource: str, cloud: str | None) -> int:
    """Return the amount that the kubelet leaves to pods, in nano units."""
    if resource not in {"cpu", "memory"} or not machine.cpu:
        return _capacity(machine, resource)
    cpu, memory = left_for_pods(machine, cloud)
    return cpu * MILLI if resource == "cpu" else memory * MIB


def guaranteed_amount(machine: Machine, resource: str, cloud: str | None) -> int:
    """Return the amount that any node of the machine type leaves to pods, in nano units."""
    if resource != "memory" or not machine.memory:
        return allocatable(machine, resource, cloud)
    return least_memory(machine, cloud) * MIB


def format_capacity(machine: Machine, resource: str) -> str:
    """Return a machine's amount as text."""
    if resource == "cpu":
        return f"{machine.cpu} vCPUs"
    if resource == "memory":
        return f"{machine.memory}Gi"
    return str(_capacity(machine, resource) // NANO)


def _format_amount(nano: int, resource: str) -> str:
    """Return an amount of cpu or memory left to pods, as text."""
    if resource == "cpu":
        return f"{nano // MILLI}m"
    return f"{nano // MIB // 1024}Gi"


class KnownMachine(NamedTuple):
    """A machine type with its accelerator and cloud."""

    machine: Machine
    accelerator: str
    cloud: str


@cache
def machines_by_name() -> dict[str, KnownMachine]:
    """Return the machines of all clouds, keyed by machine type."""
    return {
        machine.name: KnownMachine(machine, accelerator, cloud)
        for accelerator, clouds in MACHINES.items()
        for cloud, machines in clouds.items()
        for machine in machines
    }


def parse_nano(text: str) -> int:
    """Return a quantity of the catalog in nano units."""
    parsed = quantity.parse(text)
    return parsed.nano if parsed is not None else 0
