"""The accelerators, and the meaning of each name in a cloud.

Data with sources, from public documentation as of 2026. A name is `nvidia-h100`, optionally with a slice after a slash:
`nvidia-a100-40gb/1g.5gb` (a MIG profile), `google-tpu-v5e/2x4` (a topology). A profile's own entries take precedence.
Nothing imports this module until a job or a profile names an accelerator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isqrt, prod

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.hardware.machines import MACHINES, Machines
from ptcompile.hardware.nodes import ANYWHERE, ARM, VENDORS, NodeTaint

_NONE: Mapping[str, tuple[str, ...]] = {}

MIG = "https://github.com/NVIDIA/gpu-operator assets/state-mig-manager/0400_configmap.yaml (2026-08)"
_XPK = "https://github.com/AI-Hypercomputer/xpk src/xpk/core/system_characteristics.py (2026-06-25)"
_KARPENTER = "https://github.com/aws/karpenter-provider-aws reference/instance-types.md (2026-08-21)"
SOURCES = {
    "gke": _XPK,
    "eks": f"{_KARPENTER}; p3.* and dl1: kubernetes/autoscaler ec2_instances.go (2026-08-22); "
    "trn2u: https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html (2026)",
    "aks": "https://github.com/kubernetes/autoscaler cloudprovider/azure/azure_instances.go (2026-08-22)",
    "oke": "https://github.com/oracle-quickstart/oci-hpc-oke docs (2026-08-20)",
    "nvidia": "https://github.com/NVIDIA/k8s-device-plugin docs/gpu-feature-discovery (2026-08-19)",
    "amd": "https://github.com/ROCm/k8s-device-plugin cmd/k8s-node-labeller (2026-08-11)",
    "gaudi": "https://docs.habana.ai/en/latest/Orchestration/Gaudi_Kubernetes (2026)",
    "tpu": _XPK,
    "neuron": f"{_KARPENTER}; https://github.com/aws-neuron/aws-neuron-sdk (2026-08-21)",
}
"""Sources of the values with the dates of retrieval, keyed by cloud, or by vendor for values of no cloud."""


class AcceleratorRow(NamedTuple):
    """One accelerator. `nodes` has the values of the cloud's label that identify it."""

    vendor: str
    nodes: Mapping[str, tuple[str, ...]]
    slices: tuple[str, ...] = ()
    processes: int = 1
    """Number of processes per device."""
    unavailable_slices: Mapping[str, tuple[str, ...]] = _NONE
    """Slices that a cloud's device plugin does not offer, keyed by cloud."""
    domain: int = 0
    """Number of nodes that NVLink joins in one rack; 0 if NVLink ends at the machine."""
    arm: bool = False
    """Whether the machines have arm64 CPUs and so need arm64 images."""

    def slices_in(self, cloud: str) -> tuple[str, ...]:
        """Return the slices that a cloud's nodes can offer."""
        return tuple(
            slice_name for slice_name in self.slices if slice_name not in self.unavailable_slices.get(cloud, ())
        )

    def sources(self, cloud: str) -> tuple[str, ...]:
        """Return the sources of the row's values for a cloud, each with its date."""
        profiles = (MIG,) if self.vendor == "nvidia" and self.slices else ()
        return (SOURCES[cloud or self.vendor], *profiles)


_AMPERE_40 = ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")
_HOPPER_80 = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
_HOPPER_141 = ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")
_HOPPER_94 = ("1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb")
_BLACKWELL = ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")
_B300 = ("1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb")
_GB200 = ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb")
_GB300 = ("1g.35gb", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb")
_HOPPER_96 = ("1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb")
_NVL72 = 18
"""Nodes of four GPUs in a rack: defaultMaxNodesPerIMEXDomain of kubernetes-sigs/dra-driver-nvidia-gpu (2026-08-07)."""
_FLAT = ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")


def _torus(cubes: int) -> tuple[str, ...]:
    """Return the topologies of up to `cubes` cubes of 4x4x4: parts of one cube, then multiples of 4, AxBxC with
    A<=B<=C.
    """
    whole = [
        (a, b, c)
        for a in range(1, isqrt(cubes) + 1)
        for b in range(a, isqrt(cubes // a) + 1)
        for c in range(b, cubes // (a * b) + 1)
    ]
    whole.sort(key=lambda sizes: (prod(sizes), sizes))
    return ("2x2x1", "2x2x2", "2x2x4", "2x4x4", *(f"{4 * a}x{4 * b}x{4 * c}" for a, b, c in whole))


def _instances(family: str, *sizes: str) -> tuple[str, ...]:
    return tuple(f"{family}.{size}" for size in sizes)


def _tpu(value: str, slices: tuple[str, ...]) -> AcceleratorRow:
    return AcceleratorRow("tpu", dict.fromkeys(("gke", ANYWHERE), (value,)), slices)


def _instinct(card: str, oke: tuple[str, ...] = ()) -> AcceleratorRow:
    nodes = {"oke": oke} if oke else {}
    return AcceleratorRow("amd", {**nodes, ANYWHERE: tuple(f"AMD_Instinct_{card}{kind}" for kind in ("", "_VF"))})


def _trainium(machines: tuple[str, ...], cores: int) -> AcceleratorRow:
    return AcceleratorRow("neuron", dict.fromkeys(("eks", ANYWHERE), machines), processes=cores)


_XLARGE = "xlarge"
ROWS: dict[str, AcceleratorRow] = {
    "nvidia-t4": AcceleratorRow("nvidia", {
        "gke": ("nvidia-tesla-t4",),
        "eks": (*_instances("g4dn", _XLARGE, "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge"), "g4dn.metal"),
        "aks": tuple(f"Standard_NC{n}as_T4_v3" for n in (4, 8, 16, 64)),
        ANYWHERE: ("Tesla-T4",),
    }),
    "nvidia-v100": AcceleratorRow("nvidia", {
        "gke": ("nvidia-tesla-v100",),
        "eks": (*_instances("p3", "2xlarge", "8xlarge", "16xlarge"), "p3dn.24xlarge"),
        "aks": (*(f"Standard_NC{kind}_v3" for kind in ("6s", "12s", "24s", "24rs")), "Standard_ND40rs_v2"),
        ANYWHERE: tuple(f"Tesla-V100-{kind}" for kind in ("SXM2-16GB", "SXM2-32GB", "PCIE-16GB", "PCIE-32GB")),
    }),
    "nvidia-l4": AcceleratorRow("nvidia", {
        "gke": ("nvidia-l4",),
        "eks": (*_instances("g6", _XLARGE, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
                *_instances("gr6", "4xlarge", "8xlarge")),
        ANYWHERE: ("NVIDIA-L4",),
    }),
    "nvidia-l40s": AcceleratorRow("nvidia", {
        "eks": _instances("g6e", _XLARGE, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
        ANYWHERE: ("NVIDIA-L40S",),
    }),
    "nvidia-a10g": AcceleratorRow("nvidia", {
        "eks": _instances("g5", _XLARGE, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
        ANYWHERE: ("NVIDIA-A10G",),
    }),
    "nvidia-a100-40gb": AcceleratorRow("nvidia", {
        "gke": ("nvidia-tesla-a100",),
        "eks": ("p4d.24xlarge",),
        "aks": ("Standard_ND96asr_v4",),
        "oke": ("BM.GPU4.8", "BM.GPU.B4.8"),
        ANYWHERE: ("NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB"),
    }, _AMPERE_40, unavailable_slices={"gke": ("1g.10gb", "4g.20gb")}),
    "nvidia-a100-80gb": AcceleratorRow("nvidia", {
        "gke": ("nvidia-a100-80gb",),
        "eks": ("p4de.24xlarge",),
        "aks": (*(f"Standard_NC{n}ads_A100_v4" for n in (24, 48, 96)), "Standard_ND96amsr_A100_v4"),
        "oke": ("BM.GPU.A100-v2.8",),
        ANYWHERE: ("NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-80GB-PCIe"),
    }, _HOPPER_80, unavailable_slices={"gke": ("1g.20gb", "4g.40gb")}),
    "nvidia-h100": AcceleratorRow("nvidia", {
        "gke": ("nvidia-h100-80gb",),
        "eks": ("p5.48xlarge", "p5.4xlarge"),
        "aks": ("Standard_ND96isr_H100_v5",),
        "oke": ("BM.GPU.H100.8",),
        ANYWHERE: ("NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"),
    }, _HOPPER_80, unavailable_slices={"gke": ("4g.40gb",)}),
    "nvidia-h100-nvl": AcceleratorRow("nvidia", {
        "aks": ("Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5"),
        ANYWHERE: ("NVIDIA-H100-NVL",),
    }, _HOPPER_94),  # 94 GB: its MIG profiles differ from those of 80 GB
    "nvidia-h100-mega": AcceleratorRow("nvidia", {
        "gke": ("nvidia-h100-mega-80gb",),
    }, _HOPPER_80, unavailable_slices={"gke": ("4g.40gb",)}),  # A3 Mega, which uses TCPXO
    "nvidia-h200": AcceleratorRow("nvidia", {
        "gke": ("nvidia-h200-141gb",),
        "eks": ("p5e.48xlarge", "p5en.48xlarge"),
        "aks": ("Standard_ND96isr_H200_v5",),
        "oke": ("BM.GPU.H200.8",),
        ANYWHERE: ("NVIDIA-H200", "NVIDIA-H200-NVL"),
    }, _HOPPER_141),
    "nvidia-b200": AcceleratorRow("nvidia", {
        "gke": ("nvidia-b200",),
        "eks": ("p6-b200.48xlarge",),
        "oke": ("BM.GPU.B200.8",),
        ANYWHERE: ("NVIDIA-B200",),
    }, _BLACKWELL),
    "nvidia-b300": AcceleratorRow("nvidia", {
        "eks": ("p6-b300.48xlarge",),
        "oke": ("BM.GPU.B300.8",),
        ANYWHERE: ("NVIDIA-B300-SXM6-AC", "NVIDIA-B300-SXM6-PC"),
    }, _B300),
    "nvidia-gb200": AcceleratorRow("nvidia", {
        "gke": ("nvidia-gb200",),
        "eks": ("p6e-gb200.36xlarge",),
        "aks": ("Standard_ND128isr_NDR_GB200_v6",),
        "oke": ("BM.GPU.GB200.4", "BM.GPU.GB200-v2.4", "BM.GPU.GB200-v3.4"),
        ANYWHERE: ("NVIDIA-GB200",),
    }, _GB200, domain=_NVL72, arm=True),
    "nvidia-gb300": AcceleratorRow("nvidia", {
        "gke": ("nvidia-gb300",),
        "aks": ("Standard_ND128isr_GB300_v6",),
        "oke": ("BM.GPU.GB300.4",),
        ANYWHERE: ("NVIDIA-GB300",),
    }, _GB300, domain=_NVL72, arm=True),
    "nvidia-h20": AcceleratorRow("nvidia", {ANYWHERE: ("NVIDIA-H20",)}, _HOPPER_96),
    "nvidia-rtx-pro-6000": AcceleratorRow("nvidia", {
        "gke": ("nvidia-rtx-pro-6000",),
        "eks": _instances("g7e", *(f"{n}xlarge" for n in (2, 4, 8, 12, 24, 48))),
        "oke": ("BM.GPU.RTXPRO.8",),
    }, ("1g.24gb", "2g.48gb", "4g.96gb")),
    "amd-mi300x": AcceleratorRow("amd", {
        "aks": ("Standard_ND96isr_MI300X_v5", "Standard_ND96is_MI300X_v5"),
        "oke": ("BM.GPU.MI300X.8",),
        ANYWHERE: tuple(f"AMD_Instinct_MI300X{kind}" for kind in ("_OAM", "", "_HF", "_VF")),
    }),
    "amd-mi325x": _instinct("MI325X"),
    "amd-mi350x": _instinct("MI350X"),
    "amd-mi355x": _instinct("MI355X", ("BM.GPU.MI355X-v1.8", "BM.GPU.MI355X.8")),
    "intel-gaudi": AcceleratorRow("gaudi", {"eks": ("dl1.24xlarge",), ANYWHERE: ()}),
    "intel-gaudi2": AcceleratorRow("gaudi", {ANYWHERE: ()}),
    "intel-gaudi3": AcceleratorRow("gaudi", {ANYWHERE: ()}),
    "google-tpu-v4": _tpu("tpu-v4-podslice", _torus(64)),
    "google-tpu-v5e": _tpu("tpu-v5-lite-podslice", _FLAT),
    "google-tpu-v5p": _tpu("tpu-v5p-slice", _torus(140)),
    "google-tpu-v6e": _tpu("tpu-v6e-slice", _FLAT),
    "google-tpu-v7": _tpu("tpu7x", ("1x1x1", *_torus(144))),
    "aws-trainium1": _trainium(("trn1.32xlarge", "trn1n.32xlarge", "trn1.2xlarge"), 2),
    "aws-trainium2": _trainium(("trn2.48xlarge", "trn2u.48xlarge"), 4),
    "aws-trainium3": _trainium((), 4),  # the sources name no instance type yet
}  # fmt: skip
"""`refused` is what GoogleCloudPlatform/container-engine-accelerators has no parts for (pkg/gpu/nvidia/mig,
2026-06-11): 4g.20gb and 4g.40gb, 1g.10gb on an A100 of 40 GB, 1g.20gb on other than an H100."""

ALIASES = {
    "nvidia-tesla-t4": "nvidia-t4",
    "nvidia-tesla-v100": "nvidia-v100",
    "nvidia-tesla-a100": "nvidia-a100-40gb",
    "tpu-v5-lite-podslice": "google-tpu-v5e",
    "tpu-v5p-slice": "google-tpu-v5p",
    "tpu-v6e-slice": "google-tpu-v6e",
    "tpu7x": "google-tpu-v7",
}
"""GKE's names for some accelerators, which Flyte uses too."""


class Whole(NamedTuple):
    """A whole machine: its devices, and the fabric devices that it has."""

    devices: int
    fabrics: Mapping[str, int]


class CloudAccelerator(NamedTuple):
    """An accelerator as one cloud's nodes offer it."""

    resource: str
    labels: Mapping[str, tuple[str, ...]]
    without: tuple[str, ...]
    """Labels that the nodes must not have, because a sliced node offers slices under the whole device's resource
    name.
    """
    taints: tuple[NodeTaint, ...]
    processes: int
    one_drives_all: bool
    env: Mapping[str, str]
    whole: Whole | None
    domain: int
    """Number of nodes that NVLink joins in one rack; 0 for a slice, or if NVLink ends at the machine."""
    sources: tuple[str, ...]


def row_of(name: str) -> tuple[AcceleratorRow | None, str]:
    """Return the row of a name, and the slice after its slash, or ""."""
    base, _, part = name.partition("/")
    return ROWS.get(ALIASES.get(base, base)), part


def find(name: str, cloud: str) -> CloudAccelerator | None:
    """Return an accelerator as a cloud offers it, or None if the name is unknown, or the cloud lacks it or the
    slice.
    """
    row, part = row_of(name)
    if row is None or cloud not in row.nodes or (part and part not in row.slices_in(cloud)) or name.endswith("/"):
        return None
    vendor = VENDORS[row.vendor]
    dialect = vendor.dialects[cloud]
    labels = {dialect.label: row.nodes[cloud]} if dialect.label and row.nodes[cloud] else {}
    resource = vendor.resource
    without: tuple[str, ...] = ()
    if part and dialect.slice_label:
        labels[dialect.slice_label] = (part,)
    elif part and vendor.slice_resource:
        resource = vendor.slice_resource.format(part)
    elif row.slices and vendor.slice_resource and dialect.slice_label:
        without = (dialect.slice_label,)
    return CloudAccelerator(
        resource=resource,
        labels=labels,
        without=without,
        taints=(*dialect.taints, *((ARM,) if row.arm and cloud == "gke" else ())),
        processes=row.processes,
        one_drives_all=vendor.one_drives_all,
        env=vendor.env,
        whole=None if part else largest_machine(name, cloud),
        domain=0 if part else row.domain,
        sources=(dialect.source, vendor.source, *row.sources(cloud)),
    )


def machines_of(name: str, cloud: str | None, *, largest: bool = True) -> Machines:
    """Return the machines of an accelerator or of its slices: the largest, or all; () if they are unknown."""
    base = name.partition("/")[0]
    machines = MACHINES.get(ALIASES.get(base, base), {}).get(cloud or ANYWHERE, ())
    most = max((machine.devices for machine in machines), default=0)
    return tuple(machine for machine in machines if machine.devices == most or not largest)


def largest_machine(name: str, cloud: str) -> Whole | None:
    """Return the largest machine of an accelerator, with the smallest count of each fabric among the machines that have
    it.
    """
    machines = machines_of(name, cloud)
    fabrics = {fabric for machine in machines for fabric in machine.fabrics}
    least = {
        fabric: min(machine.fabrics[fabric] for machine in machines if fabric in machine.fabrics)
        for fabric in sorted(fabrics)
    }
    return Whole(machines[0].devices, least) if machines else None


def names(cloud: str = ANYWHERE, *, slices: bool = False) -> Iterator[str]:
    """Yield the names that are valid in a cloud, in table order; with `slices`, also those of slices."""
    for name, row in ROWS.items():
        if cloud in row.nodes:
            yield name
            yield from (f"{name}/{part}" for part in row.slices_in(cloud) if slices)
