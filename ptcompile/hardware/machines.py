"""Machine types of the clouds, the amounts that the kubelet leaves for pods, and which requests fit.

Requests are checked in order, each against the machines that satisfy the earlier ones: accelerators first, because they
decide which machines are possible. If no source states an amount of a machine, any request fits.

Local disks: for GKE, the largest attachable size in GiB; for EC2, the size in GB.

Sources, each with its date:
- EKS: aws/karpenter-provider-aws, reference/instance-types.md (2026-08-21); p3.* and dl1: kubernetes/autoscaler,
  cloudprovider/aws/ec2_instance_types.go (2026-08-22). EFA counts are those of the network cards of an instance.
- AKS: kubernetes/autoscaler, cloudprovider/azure/azure_instance_types.go (2026-08-22); InfiniBand counts, one HCA for
  each `rdma/ib`: Azure/ai-infrastructure-on-azure (2026-04-22).
- OKE: oracle-quickstart/oci-hpc-oke docs/using-rdma-network-interfaces-in-manifests.md (2026-08-20): accelerators and
  virtual functions; RTXPRO, MI355X and the GB shapes use the host's network.
- GKE: https://docs.cloud.google.com/compute/docs/accelerator-optimized-machines and, for TPU hosts, plan-tpus and
  dstackai/gpuhunt (2026-06). N1 machines take T4 and V100 in many combinations, and TPU v4 hosts have no public
  memory size: neither has a row. Fabric devices are the NICs besides the host's own: TCPX of A3 High with eight GPUs
  and of A3 Edge, TCPXO of A3 Mega, RDMA of A3 Ultra, A4 and A4X (the same page, and
  https://docs.cloud.google.com/ai-hypercomputer/docs/nccl/test-gke-custom-a3-edge, 2026).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.hardware.nodes import ANYWHERE
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.quantity import MILLI, NANO

EKS_ROOT_LEFT = "17Gi"
"""The part of EKS's default 20 GiB root volume that pods can use (aws/karpenter-provider-aws, types.go, 2026-08-21)."""


def _disks(family: str, *disks: tuple[str, int]) -> dict[str, str]:
    return {f"{family}.{size}xlarge": f"{disk}G" for size, disk in disks}


_G6 = (("", 250), ("2", 450), ("4", 600), ("8", 900), ("16", 1880), ("12", 3760), ("24", 3760), ("48", 7520))
_G5 = (("", 250), ("2", 450), ("4", 600), ("8", 900), ("16", 1900), ("12", 3800), ("24", 3800), ("48", 7600))

DISKS: dict[str, str] = {
    **{f"g2-standard-{n}": "375Gi" for n in (4, 8, 12, 16, 32)},
    "g2-standard-24": "750Gi", "g2-standard-48": "1500Gi", "g2-standard-96": "3000Gi",
    "g4-standard-48": "1500Gi", "g4-standard-96": "3000Gi", "g4-standard-192": "6000Gi", "g4-standard-384": "12000Gi",
    "a2-ultragpu-1g": "375Gi", "a2-ultragpu-2g": "750Gi", "a2-ultragpu-4g": "1500Gi", "a2-ultragpu-8g": "3000Gi",
    "a3-highgpu-1g": "750Gi", "a3-highgpu-2g": "1500Gi", "a3-highgpu-4g": "3000Gi", "a3-highgpu-8g": "6000Gi",
    "a3-edgegpu-8g": "6000Gi", "a3-megagpu-8g": "6000Gi", "a3-ultragpu-8g": "12000Gi", "a4-highgpu-8g": "12000Gi",
    "a4x-highgpu-4g": "12000Gi", "a4x-maxgpu-4g-metal": "12000Gi",
    "p3dn.24xlarge": "1800G", "p4d.24xlarge": "8000G", "p4de.24xlarge": "8000G",
    "p5.4xlarge": "3800G", "p5.48xlarge": "30400G", "p5e.48xlarge": "30400G", "p5en.48xlarge": "30400G",
    "p6-b200.48xlarge": "30400G", "p6-b300.48xlarge": "30400G", "p6e-gb200.36xlarge": "22500G",
    **_disks("g4dn", ("", 125), ("2", 225), ("4", 225), ("8", 900), ("16", 900), ("12", 900)), "g4dn.metal": "1800G",
    **_disks("g5", *_G5), **_disks("g6", *_G6), **_disks("g6e", *_G5),
    **_disks("g7e", ("2", 1900), ("4", 1900), ("8", 1900), ("12", 3800), ("24", 7600), ("48", 15200)),
    "trn1.2xlarge": "474G", "trn1.32xlarge": "7600G", "trn1n.32xlarge": "7600G", "trn2.48xlarge": "7600G",
}  # fmt: skip
"""Size of the local disks, keyed by machine type."""


_NO_FABRIC: Mapping[str, int] = {}


class Machine(NamedTuple):
    """One machine type."""

    name: str
    devices: int
    cpu: int
    """Number of vCPUs; 0 if no source gives it."""
    memory: int
    """Memory in GiB; 0 if no source gives it."""
    fabrics: Mapping[str, int] = _NO_FABRIC
    """Number of fabric devices, keyed by fabric name."""


Machines = tuple[Machine, ...]
_EFA = {"efa": 1}


def _series(family: str, memory: int) -> Machines:
    """Return the sizes that g5, g6 and g6e share: `memory` GiB per vCPU; EFA from 8xlarge on."""
    sizes = ((1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (12, 4), (24, 4), (48, 8))
    wide = {24: 2, 48: 4} if family == "g6e" else {}
    return tuple(
        Machine(
            f"{family}.{'' if size == 1 else size}xlarge",
            devices,
            4 * size,
            4 * size * memory,
            {"efa": wide.get(size, 1)} if size >= 8 else _NO_FABRIC,
        )
        for size, devices in sizes
    )


def _nd(name: str, memory: int) -> Machine:
    return Machine(f"Standard_{name}", 8, 96, memory, {"infiniband": 8})


_TRN1 = (
    Machine("trn1.2xlarge", 1, 8, 32),
    Machine("trn1.32xlarge", 16, 128, 512, {"efa": 8}),
    Machine("trn1n.32xlarge", 16, 128, 512, {"efa": 16}),
)
_TRN2 = (Machine("trn2.48xlarge", 16, 192, 2048, {"efa": 16}), Machine("trn2u.48xlarge", 16, 192, 2048, {"efa": 16}))
_V5E = tuple(Machine(f"ct5lp-hightpu-{n}t", n, cpu, memory) for n, cpu, memory in ((1, 24, 48), (4, 112, 192),
                                                                                   (8, 224, 384)))  # fmt: skip
_V5P = (Machine("ct5p-hightpu-4t", 4, 208, 448),)
_V6E = tuple(Machine(f"ct6e-standard-{n}t", n, cpu, memory) for n, cpu, memory in ((1, 44, 448), (4, 180, 720),
                                                                                   (8, 180, 1440)))  # fmt: skip


def _oci(shape: str, functions: int = 0) -> Machine:
    """Return a bare-metal shape with this many virtual functions for RDMA. The source omits OCPUs and memory."""
    return Machine(f"BM.GPU{shape}", int(shape.rpartition(".")[2]), 0, 0, {"rdma-vf": functions} if functions else {})


MACHINES: dict[str, dict[str, Machines]] = {
    "nvidia-t4": {
        "eks": (
            *(Machine(f"g4dn.{n}xlarge" if n > 1 else "g4dn.xlarge", 1, 4 * n, 16 * n, _EFA if n >= 8 else _NO_FABRIC)
              for n in (1, 2, 4, 8, 16)),
            Machine("g4dn.12xlarge", 4, 48, 192, _EFA),
            Machine("g4dn.metal", 8, 96, 384, _EFA),
        ),
        "aks": tuple(Machine(f"Standard_NC{cpu}as_T4_v3", 4 if cpu == 64 else 1, cpu, memory)
                     for cpu, memory in ((4, 28), (8, 56), (16, 110), (64, 440))),
    },
    "nvidia-v100": {
        "eks": (
            Machine("p3.2xlarge", 1, 8, 61), Machine("p3.8xlarge", 4, 32, 244), Machine("p3.16xlarge", 8, 64, 488),
            Machine("p3dn.24xlarge", 8, 96, 768, _EFA),
        ),
        "aks": (
            Machine("Standard_NC6s_v3", 1, 6, 112), Machine("Standard_NC12s_v3", 2, 12, 224),
            Machine("Standard_NC24s_v3", 4, 24, 448), Machine("Standard_NC24rs_v3", 4, 24, 448),
            Machine("Standard_ND40rs_v2", 8, 40, 672, {"infiniband": 1}),
        ),
    },
    "nvidia-l4": {
        "gke": tuple(Machine(f"g2-standard-{cpu}", {24: 2, 48: 4, 96: 8}.get(cpu, 1), cpu, 4 * cpu)
                     for cpu in (4, 8, 12, 16, 32, 24, 48, 96)),
        "eks": (*_series("g6", 4), Machine("gr6.4xlarge", 1, 16, 128), Machine("gr6.8xlarge", 1, 32, 256, _EFA)),
    },
    "nvidia-l40s": {"eks": _series("g6e", 8)},
    "nvidia-a10g": {"eks": _series("g5", 4)},
    "nvidia-a100-40gb": {
        "gke": (
            *(Machine(f"a2-highgpu-{n}g", n, 12 * n, 85 * n) for n in (1, 2, 4, 8)),
            Machine("a2-megagpu-16g", 16, 96, 1360),
        ),
        "eks": (Machine("p4d.24xlarge", 8, 96, 1152, {"efa": 4}),),
        "aks": (_nd("ND96asr_v4", 900),),
        "oke": (_oci("4.8", 16), _oci(".B4.8", 16)),
    },
    "nvidia-a100-80gb": {
        "gke": tuple(Machine(f"a2-ultragpu-{n}g", n, 12 * n, 170 * n) for n in (1, 2, 4, 8)),
        "eks": (Machine("p4de.24xlarge", 8, 96, 1152, {"efa": 4}),),
        "aks": (
            *(Machine(f"Standard_NC{24 * n}ads_A100_v4", n, 24 * n, 220 * n) for n in (1, 2, 4)),
            _nd("ND96amsr_A100_v4", 1800),
        ),
        "oke": (_oci(".A100-v2.8", 16),),
    },
    "nvidia-h100": {
        "gke": (
            *(Machine(f"a3-highgpu-{n}g", n, 26 * n, 234 * n) for n in (1, 2, 4)),
            Machine("a3-highgpu-8g", 8, 208, 1872, {"tcpx": 4}), Machine("a3-edgegpu-8g", 8, 208, 1872, {"tcpx": 4}),
        ),
        "eks": (Machine("p5.48xlarge", 8, 192, 2048, {"efa": 32}), Machine("p5.4xlarge", 1, 16, 256, _EFA)),
        "aks": (_nd("ND96isr_H100_v5", 1900),),
        "oke": (_oci(".H100.8", 16),),
    },
    "nvidia-h100-nvl": {
        "aks": (Machine("Standard_NC40ads_H100_v5", 1, 40, 320), Machine("Standard_NC80adis_H100_v5", 2, 80, 640)),
    },
    "nvidia-h100-mega": {"gke": (Machine("a3-megagpu-8g", 8, 208, 1872, {"tcpxo": 8}),)},
    "nvidia-h200": {
        "gke": (Machine("a3-ultragpu-8g", 8, 224, 2952, {"gib": 8}),),
        "eks": (
            Machine("p5e.48xlarge", 8, 192, 2048, {"efa": 32}), Machine("p5en.48xlarge", 8, 192, 2048, {"efa": 16}),
        ),
        "aks": (_nd("ND96isr_H200_v5", 1850),),
        "oke": (_oci(".H200.8", 8),),
    },
    "nvidia-b200": {
        "gke": (Machine("a4-highgpu-8g", 8, 224, 3968, {"gib": 8}),),
        "eks": (Machine("p6-b200.48xlarge", 8, 192, 2048, {"efa": 8}),),
        "oke": (_oci(".B200.8", 8),),
    },
    "nvidia-b300": {"eks": (Machine("p6-b300.48xlarge", 8, 192, 4096, {"efa": 16}),), "oke": (_oci(".B300.8", 16),)},
    "nvidia-gb200": {
        "gke": (Machine("a4x-highgpu-4g", 4, 140, 884, {"gib": 4}),),
        "eks": (Machine("p6e-gb200.36xlarge", 4, 144, 960, {"efa": 4}),),
        "aks": (Machine("Standard_ND128isr_NDR_GB200_v6", 4, 128, 864, {"infiniband": 4}),),
        "oke": (_oci(".GB200.4"), _oci(".GB200-v2.4"), _oci(".GB200-v3.4")),
    },
    "nvidia-gb300": {
        "gke": (Machine("a4x-maxgpu-4g-metal", 4, 144, 960, {"gib": 8}),),
        "aks": (Machine("Standard_ND128isr_GB300_v6", 4, 128, 864, {"infiniband": 4}),),
        "oke": (_oci(".GB300.4"),),
    },
    "nvidia-rtx-pro-6000": {
        "gke": tuple(Machine(f"g4-standard-{48 * n}", n, 48 * n, 180 * n) for n in (1, 2, 4, 8)),
        "eks": tuple(
            Machine(f"g7e.{size}xlarge", devices, 4 * size, memory, {"efa": efa} if efa else _NO_FABRIC)
            for size, devices, memory, efa in ((2, 1, 64, 0), (4, 1, 128, 0), (8, 1, 256, 1), (12, 2, 512, 1),
                                               (24, 4, 1024, 2), (48, 8, 2048, 4))
        ),
        "oke": (_oci(".RTXPRO.8"),),
    },
    "amd-mi300x": {
        "aks": (_nd("ND96isr_MI300X_v5", 1850), Machine("Standard_ND96is_MI300X_v5", 8, 96, 1850)),
        "oke": (_oci(".MI300X.8", 8),),
    },
    "amd-mi355x": {"oke": (_oci(".MI355X-v1.8", 8), _oci(".MI355X.8"))},
    "intel-gaudi": {"eks": (Machine("dl1.24xlarge", 8, 96, 768, {"efa": 4}),)},
    "google-tpu-v5e": dict.fromkeys(("gke", ANYWHERE), _V5E),
    "google-tpu-v5p": dict.fromkeys(("gke", ANYWHERE), _V5P),
    "google-tpu-v6e": dict.fromkeys(("gke", ANYWHERE), _V6E),
    "google-tpu-v7": dict.fromkeys(("gke", ANYWHERE), (Machine("tpu7x-standard-4t", 4, 224, 960),)),
    "aws-trainium1": dict.fromkeys(("eks", ANYWHERE), _TRN1),
    "aws-trainium2": dict.fromkeys(("eks", ANYWHERE), _TRN2),
}  # fmt: skip
"""Keyed by accelerator name and cloud."""


_OTHER_PODS = 234
_PODS: dict[str, int] = {
    machine: pods
    for pods, machines in {
        29: ("g4dn.xlarge", "g4dn.2xlarge", "g4dn.4xlarge"),
        58: ("p3.2xlarge", "g4dn.8xlarge", "g4dn.16xlarge", "g5.xlarge", "g5.2xlarge", "g6.xlarge", "g6.2xlarge",
             "g6e.xlarge", "g6e.2xlarge", "trn1.2xlarge"),
        100: ("p5.48xlarge", "p5e.48xlarge", "trn2.48xlarge", "trn2u.48xlarge"),
        118: ("p5.4xlarge",),
        198: ("p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge"),
        247: ("trn1.32xlarge", "trn1n.32xlarge"),
        292: ("g6e.12xlarge",),
        345: ("g5.48xlarge",),
        492: ("g6e.24xlarge", "g6e.48xlarge"),
        737: ("p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge", "g4dn.metal", "g5.12xlarge", "g5.24xlarge",
              "g6.16xlarge", "g6.24xlarge", "g6.48xlarge", "g6e.16xlarge", "dl1.24xlarge"),
    }.items()
    for machine in machines
}  # fmt: skip
"""Maximum number of pods of EC2 machines, if not 234: awslabs/amazon-eks-ami,
templates/shared/runtime/eni-max-pods.txt (2026). The file lacks g7e, p6e-gb200 and trn2u.
"""


def least_memory(machine: Machine, cloud: str | None) -> int:
    """Return the MiB of memory that the kubelet leaves of a machine before any DaemonSet, at least.

    Only on EKS is that less than `left_for_pods` says: the hypervisor takes up to 7.5% of an instance's memory
    (Karpenter's vmMemoryOverheadPercent), and the kubelet reserves 11 MiB for each pod that the instance's network
    interfaces have addresses for. Measured: g5.8xlarge leaves 124474 MiB (aws/aws-k8s-tester#471), g6.4xlarge 58981
    (pytorch/ci-infra#1082).
    """
    if cloud != "eks":
        return left_for_pods(machine, cloud)[1]
    return int(machine.memory * 1024 * 0.925 - 255 - 11 * _PODS.get(machine.name, _OTHER_PODS) - 100)


def left_for_pods(machine: Machine, cloud: str | None) -> tuple[int, int]:
    """Return what the kubelet leaves for pods before any DaemonSet, at most: cores in thousandths, and memory in MiB.

    GKE and EKS keep 6% of the first core, 1% of the second, 0.5% of the next two and 0.25% of the others; AKS 6%, 4%,
    2% and 1%. Memory: GKE and AKS keep a share by size, GKE after what its image takes (cluster-autoscaler,
    gce_reserved.go); EKS 255 MiB and 11 MiB a pod, and may keep more: see `least_memory`
    (cloudpilot-ai/karpenter-provider-gcp, aws/karpenter-provider-aws, Azure/karpenter-provider-azure, 2026-08).
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
    """Return the MiB that GKE and AKS reserve: 25% of 4 GiB, 20% of the next 4, 10% of 8, 6% of 112, 2% of the rest."""
    kept, lower = 0.0, 0
    for upto, share in ((4, 0.25), (8, 0.2), (16, 0.1), (128, 0.06)):
        kept += max(min(memory, upto * 1024) - lower, 0) * share
        lower = upto * 1024
    return kept + max(memory - lower, 0) * 0.02


MIB = 2**20 * NANO


class Ask(NamedTuple):
    """An amount that a pod requests, in nano units. `what` is cpu, memory, devices or a fabric's name."""

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
    """Yield the amounts that do not fit, each at most once. The kubelet's share is checked only if everything fits
    without it.
    """
    fits, rest = True, machines
    for ask in asks:
        enough = tuple([machine for machine in rest if _capacity(machine, ask) >= ask.nano])
        if not enough:
            most, fits = max(rest, key=lambda machine: _capacity(machine, ask)), False
            yield Misfit(ask, most.name, format_capacity(most, ask.what), None)
        rest = enough or rest
    for ask in asks if fits else ():
        enough = tuple([machine for machine in rest if guaranteed_amount(machine, ask.what, cloud) >= ask.nano])
        if not enough:
            most = max(rest, key=lambda machine: guaranteed_amount(machine, ask.what, cloud))
            yield Misfit(ask, most.name, format_capacity(most, ask.what), _format_left(most, ask, cloud))
        rest = enough or rest


def _format_left(machine: Machine, ask: Ask, cloud: str | None) -> str:
    """Return as text what a machine leaves to pods; a range if the requested amount is within it."""
    least, most = guaranteed_amount(machine, ask.what, cloud), allocatable(machine, ask.what, cloud)
    if ask.nano > most:
        return f"at most {_format_amount(most, ask.what)} to pods"
    depends = "depending on the hypervisor's share and the kubelet's maximum number of pods"
    return f"{_format_amount(least, ask.what)} to {_format_amount(most, ask.what)} to pods, {depends}"


class Shared(NamedTuple):
    """A machine that several pods share, each with a part of its accelerators."""

    machine: str
    devices: int
    pods: int
    """Number of such pods that fit the machine."""


def find_shared_machine(asks: Sequence[Ask], machines: Machines, cloud: str | None) -> Shared | None:
    """Return the smallest machine that fits, or None if the pod takes all of its accelerators or no machine fits."""
    fitting = [
        machine for machine in machines if all(allocatable(machine, ask.what, cloud) >= ask.nano for ask in asks)
    ]
    devices = next((ask.nano // NANO for ask in asks if ask.what == "devices"), 0)
    least = min(fitting, key=lambda machine: machine.devices, default=None)
    if least is None or not 0 < devices < least.devices:
        return None
    pods = min(allocatable(least, ask.what, cloud) // ask.nano for ask in asks if ask.nano)
    return Shared(least.name, least.devices, pods)


_PLENTY = 2**63 * NANO


def _capacity(machine: Machine, ask: Ask) -> int:
    """Return a machine's amount, in nano units."""
    if ask.what == "devices":
        return machine.devices * NANO
    if ask.what == "cpu":
        return machine.cpu * NANO or _PLENTY
    if ask.what == "memory":
        return machine.memory * 1024 * MIB or _PLENTY
    return machine.fabrics.get(ask.what, 0) * NANO


def allocatable(machine: Machine, resource: str, cloud: str | None) -> int:
    """Return the amount that the kubelet leaves to pods, in nano units."""
    if resource not in {"cpu", "memory"} or not machine.cpu:
        return _capacity(machine, Ask(resource, 0))
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
    return f"{machine.memory}Gi" if resource == "memory" else str(_capacity(machine, Ask(resource, 0)) // NANO)


def _format_amount(nano: int, resource: str) -> str:
    """Return an amount of cpu or memory left to pods, as text."""
    return f"{nano // MILLI}m" if resource == "cpu" else f"{nano // MIB // 1024}Gi"


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
