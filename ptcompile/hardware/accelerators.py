"""The accelerators, and what a name of one means in a cloud.

Data with sources, of public documentation as of 2026. A name is `nvidia-h100`, or with a slice of it behind a slash:
`nvidia-a100-40gb/1g.5gb` (a MIG profile), `google-tpu-v5e/2x4` (a topology). A profile's own entries win over these.
Nothing imports this module before a job or a profile names an accelerator.
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
    "eks": f"{_KARPENTER}; p3.* and dl1: kubernetes/autoscaler ec2_instance_types.go (2026-08-22); "
    "trn2u: https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html (2026)",
    "aks": "https://github.com/kubernetes/autoscaler cloudprovider/azure/azure_instance_types.go (2026-08-22)",
    "oke": "https://github.com/oracle-quickstart/oci-hpc-oke docs (2026-08-20)",
    "nvidia": "https://github.com/NVIDIA/k8s-device-plugin docs/gpu-feature-discovery (2026-08-19)",
    "amd": "https://github.com/ROCm/k8s-device-plugin cmd/k8s-node-labeller (2026-08-11)",
    "gaudi": "https://docs.habana.ai/en/latest/Orchestration/Gaudi_Kubernetes (2026)",
    "tpu": _XPK,
    "neuron": f"{_KARPENTER}; https://github.com/aws-neuron/aws-neuron-sdk (2026-08-21)",
}
"""Where values are from and when that was looked at: by cloud, and by vendor where no cloud is named."""


class AcceleratorRow(NamedTuple):
    """One accelerator. `nodes` are the values of the cloud's label, any of which it is."""

    vendor: str
    nodes: Mapping[str, tuple[str, ...]]
    slices: tuple[str, ...] = ()
    processes: int = 1
    """How many processes a device takes."""
    refused: Mapping[str, tuple[str, ...]] = _NONE
    """Slices that a cloud's device plugin does not make of it."""
    domain: int = 0
    """How many nodes NVLink joins in one rack; 0 where it ends at the machine."""
    arm: bool = False
    """Whether the machines' CPUs are arm64, so that images must be."""

    def slices_in(self, cloud: str) -> tuple[str, ...]:
        """The slices that a cloud's nodes can be cut in."""
        return tuple(one for one in self.slices if one not in self.refused.get(cloud, ()))

    def sources(self, cloud: str) -> tuple[str, ...]:
        """Where the row's values for a cloud are from, each with the day it was looked at."""
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
    """The topologies of up to so many cubes of 4x4x4: the parts of one, then multiples of 4, AxBxC with A<=B<=C."""
    whole = [
        (a, b, c)
        for a in range(1, isqrt(cubes) + 1)
        for b in range(a, isqrt(cubes // a) + 1)
        for c in range(b, cubes // (a * b) + 1)
    ]
    whole.sort(key=lambda one: (prod(one), one))
    return ("2x2x1", "2x2x2", "2x2x4", "2x4x4", *(f"{4 * a}x{4 * b}x{4 * c}" for a, b, c in whole))


def _sizes(family: str, *sizes: str) -> tuple[str, ...]:
    return tuple(f"{family}.{size}" for size in sizes)


def _tpu(value: str, slices: tuple[str, ...]) -> AcceleratorRow:
    return AcceleratorRow("tpu", dict.fromkeys(("gke", ANYWHERE), (value,)), slices)


def _instinct(card: str, oke: tuple[str, ...] = ()) -> AcceleratorRow:
    nodes = {"oke": oke} if oke else {}
    return AcceleratorRow("amd", {**nodes, ANYWHERE: tuple(f"AMD_Instinct_{card}{kind}" for kind in ("", "_VF"))})


def _trainium(machines: tuple[str, ...], cores: int) -> AcceleratorRow:
    return AcceleratorRow("neuron", dict.fromkeys(("eks", ANYWHERE), machines), processes=cores)


_X = "xlarge"
ROWS: dict[str, AcceleratorRow] = {
    "nvidia-t4": AcceleratorRow("nvidia", {
        "gke": ("nvidia-tesla-t4",),
        "eks": (*_sizes("g4dn", _X, "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge"), "g4dn.metal"),
        "aks": tuple(f"Standard_NC{n}as_T4_v3" for n in (4, 8, 16, 64)),
        ANYWHERE: ("Tesla-T4",),
    }),
    "nvidia-v100": AcceleratorRow("nvidia", {
        "gke": ("nvidia-tesla-v100",),
        "eks": (*_sizes("p3", "2xlarge", "8xlarge", "16xlarge"), "p3dn.24xlarge"),
        "aks": (*(f"Standard_NC{kind}_v3" for kind in ("6s", "12s", "24s", "24rs")), "Standard_ND40rs_v2"),
        ANYWHERE: tuple(f"Tesla-V100-{kind}" for kind in ("SXM2-16GB", "SXM2-32GB", "PCIE-16GB", "PCIE-32GB")),
    }),
    "nvidia-l4": AcceleratorRow("nvidia", {
        "gke": ("nvidia-l4",),
        "eks": (*_sizes("g6", _X, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
                *_sizes("gr6", "4xlarge", "8xlarge")),
        ANYWHERE: ("NVIDIA-L4",),
    }),
    "nvidia-l40s": AcceleratorRow("nvidia", {
        "eks": _sizes("g6e", _X, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
        ANYWHERE: ("NVIDIA-L40S",),
    }),
    "nvidia-a10g": AcceleratorRow("nvidia", {
        "eks": _sizes("g5", _X, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
        ANYWHERE: ("NVIDIA-A10G",),
    }),
    "nvidia-a100-40gb": AcceleratorRow("nvidia", {
        "gke": ("nvidia-tesla-a100",),
        "eks": ("p4d.24xlarge",),
        "aks": ("Standard_ND96asr_v4",),
        "oke": ("BM.GPU4.8", "BM.GPU.B4.8"),
        ANYWHERE: ("NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB"),
    }, _AMPERE_40, refused={"gke": ("1g.10gb", "4g.20gb")}),
    "nvidia-a100-80gb": AcceleratorRow("nvidia", {
        "gke": ("nvidia-a100-80gb",),
        "eks": ("p4de.24xlarge",),
        "aks": (*(f"Standard_NC{n}ads_A100_v4" for n in (24, 48, 96)), "Standard_ND96amsr_A100_v4"),
        "oke": ("BM.GPU.A100-v2.8",),
        ANYWHERE: ("NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-80GB-PCIe"),
    }, _HOPPER_80, refused={"gke": ("1g.20gb", "4g.40gb")}),
    "nvidia-h100": AcceleratorRow("nvidia", {
        "gke": ("nvidia-h100-80gb",),
        "eks": ("p5.48xlarge", "p5.4xlarge"),
        "aks": ("Standard_ND96isr_H100_v5",),
        "oke": ("BM.GPU.H100.8",),
        ANYWHERE: ("NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"),
    }, _HOPPER_80, refused={"gke": ("4g.40gb",)}),
    "nvidia-h100-nvl": AcceleratorRow("nvidia", {
        "aks": ("Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5"),
        ANYWHERE: ("NVIDIA-H100-NVL",),
    }, _HOPPER_94),  # 94 GB: other MIG profiles than those of 80 GB
    "nvidia-h100-mega": AcceleratorRow("nvidia", {
        "gke": ("nvidia-h100-mega-80gb",),
    }, _HOPPER_80, refused={"gke": ("4g.40gb",)}),  # A3 Mega, of TCPXO
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
        "eks": _sizes("g7e", *(f"{n}xlarge" for n in (2, 4, 8, 12, 24, 48))),
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
    "aws-trainium3": _trainium((), 4),  # of which the sources name no instance type yet
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
"""GKE's names of some, which Flyte uses too."""


class Whole(NamedTuple):
    """A whole machine: its devices, and the devices of a fabric that come with them."""

    devices: int
    fabrics: Mapping[str, int]


class CloudAccelerator(NamedTuple):
    """What a name means in one cloud."""

    resource: str
    labels: Mapping[str, tuple[str, ...]]
    without: tuple[str, ...]
    """Labels that the nodes must not have: a node that is cut in slices gives slices under the whole one's resource."""
    taints: tuple[NodeTaint, ...]
    processes: int
    one_drives_all: bool
    env: Mapping[str, str]
    whole: Whole | None
    domain: int
    """How many nodes NVLink joins in one rack; 0 where it ends at the machine, and for a slice."""
    sources: tuple[str, ...]


def row_of(name: str) -> tuple[AcceleratorRow | None, str]:
    """The row of a name, and the slice behind its slash, which may be empty."""
    base, _, part = name.partition("/")
    return ROWS.get(ALIASES.get(base, base)), part


def find(name: str, cloud: str = ANYWHERE) -> CloudAccelerator | None:
    """What a name means in a cloud; None where it is not known, not there, or without such a slice."""
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
        whole=None if part else whole(name, cloud),
        domain=0 if part else row.domain,
        sources=(dialect.source, vendor.source, *row.sources(cloud)),
    )


def machines_of(name: str, cloud: str | None, *, largest: bool = True) -> Machines:
    """The machines of an accelerator, or of a slice of it: the largest, or all; none where they are not known."""
    base = name.partition("/")[0]
    machines = MACHINES.get(ALIASES.get(base, base), {}).get(cloud or ANYWHERE, ())
    most = max((one.devices for one in machines), default=0)
    return tuple(one for one in machines if one.devices == most or not largest)


def whole(name: str, cloud: str) -> Whole | None:
    """A largest machine of an accelerator, with as many devices of a fabric as all that have it have."""
    machines = machines_of(name, cloud)
    fabrics = {fabric for one in machines for fabric in one.fabrics}
    least = {
        fabric: min(one.fabrics[fabric] for one in machines if fabric in one.fabrics) for fabric in sorted(fabrics)
    }
    return Whole(machines[0].devices, least) if machines else None


def names(cloud: str = ANYWHERE, *, slices: bool = False) -> Iterator[str]:
    """The names that mean something in a cloud, in the order of the table; with `slices` those behind a slash too."""
    for name, row in ROWS.items():
        if cloud in row.nodes:
            yield name
            yield from (f"{name}/{part}" for part in row.slices_in(cloud) if slices)
