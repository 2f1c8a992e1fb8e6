"""The accelerators, one a row. The labels are those of the vendor's dialects, and their values of the same sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ptcompile.catalogue.vendors import ANYWHERE


class Whole(NamedTuple):
    """A whole machine: its devices, and the devices of a fabric that come with them."""

    devices: int
    fabrics: Mapping[str, int]


class Row(NamedTuple):
    """One accelerator. `nodes` are the values of the cloud's label, any of which it is."""

    vendor: str
    nodes: Mapping[str, tuple[str, ...]]
    slices: tuple[str, ...] = ()
    processes: int = 1
    """How many processes a device takes."""
    whole: Mapping[str, Whole] = {}


_AMPERE_40 = ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")
_HOPPER_80 = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
_HOPPER_141 = ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")
_BLACKWELL = ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")
_FLAT = ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_TORUS = ("2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x16", "8x16x16")


def _sizes(family: str, *sizes: str) -> tuple[str, ...]:
    return tuple(f"{family}.{size}" for size in sizes)


def _tpu(value: str, slices: tuple[str, ...]) -> Row:
    return Row("tpu", dict.fromkeys(("gke", ANYWHERE), (value,)), slices)


def _trainium(machines: tuple[str, ...], cores: int, whole: Whole) -> Row:
    clouds = ("eks", ANYWHERE)
    return Row("neuron", dict.fromkeys(clouds, machines), processes=cores, whole=dict.fromkeys(clouds, whole))


_X = "xlarge"
ROWS: dict[str, Row] = {
    "nvidia-t4": Row("nvidia", {
        "gke": ("nvidia-tesla-t4",),
        "eks": (*_sizes("g4dn", _X, "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge"), "g4dn.metal"),
        "aks": tuple(f"Standard_NC{n}as_T4_v3" for n in (4, 8, 16, 64)),
        ANYWHERE: ("Tesla-T4",),
    }),
    "nvidia-v100": Row("nvidia", {
        "gke": ("nvidia-tesla-v100",),
        "eks": (*_sizes("p3", "2xlarge", "8xlarge", "16xlarge"), "p3dn.24xlarge"),
        "aks": ("Standard_ND40rs_v2",),
        ANYWHERE: tuple(f"Tesla-V100-{kind}" for kind in ("SXM2-16GB", "SXM2-32GB", "PCIE-16GB", "PCIE-32GB")),
    }),
    "nvidia-l4": Row("nvidia", {
        "gke": ("nvidia-l4",),
        "eks": _sizes("g6", _X, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
        ANYWHERE: ("NVIDIA-L4",),
    }),
    "nvidia-l40s": Row("nvidia", {
        "eks": _sizes("g6e", _X, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
        ANYWHERE: ("NVIDIA-L40S",),
    }),
    "nvidia-a10g": Row("nvidia", {
        "eks": _sizes("g5", _X, *(f"{n}xlarge" for n in (2, 4, 8, 12, 16, 24, 48))),
        ANYWHERE: ("NVIDIA-A10G",),
    }),
    "nvidia-a100-40gb": Row("nvidia", {
        "gke": ("nvidia-tesla-a100",),
        "eks": ("p4d.24xlarge",),
        "aks": ("Standard_ND96asr_v4",),
        ANYWHERE: ("NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB"),
    }, _AMPERE_40, whole={"eks": Whole(8, {"efa": 4})}),
    "nvidia-a100-80gb": Row("nvidia", {
        "gke": ("nvidia-a100-80gb",),
        "eks": ("p4de.24xlarge",),
        "aks": (*(f"Standard_NC{n}ads_A100_v4" for n in (24, 48, 96)), "Standard_ND96amsr_A100_v4"),
        ANYWHERE: ("NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-80GB-PCIe"),
    }, _HOPPER_80, whole={"eks": Whole(8, {"efa": 4})}),
    "nvidia-h100": Row("nvidia", {
        "gke": ("nvidia-h100-80gb",),
        "eks": ("p5.48xlarge", "p5.4xlarge"),
        "aks": ("Standard_ND96isr_H100_v5", "Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5"),
        ANYWHERE: ("NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe", "NVIDIA-H100-NVL"),
    }, _HOPPER_80, whole={"eks": Whole(8, {"efa": 32})}),
    "nvidia-h100-mega": Row("nvidia", {"gke": ("nvidia-h100-mega-80gb",)}),  # A3 Mega, of TCPXO
    "nvidia-h200": Row("nvidia", {
        "gke": ("nvidia-h200-141gb",),
        "eks": ("p5e.48xlarge", "p5en.48xlarge"),
        "aks": ("Standard_ND96isr_H200_v5",),
        ANYWHERE: ("NVIDIA-H200", "NVIDIA-H200-NVL"),
    }, _HOPPER_141, whole={"eks": Whole(8, {"efa": 16})}),  # p5en has 16, p5e 32: what both have
    "nvidia-b200": Row("nvidia", {
        "gke": ("nvidia-b200",),
        "eks": ("p6-b200.48xlarge",),
        ANYWHERE: ("NVIDIA-B200",),
    }, _BLACKWELL, whole={"eks": Whole(8, {"efa": 8})}),
    "amd-mi300x": Row("amd", {"aks": ("Standard_ND96isr_MI300X_v5",), ANYWHERE: ("AMD_Instinct_MI300X_OAM",)}),
    "intel-gaudi": Row("gaudi", {"eks": ("dl1.24xlarge",), ANYWHERE: ()}, whole={"eks": Whole(8, {"efa": 4})}),
    "intel-gaudi2": Row("gaudi", {ANYWHERE: ()}),
    "intel-gaudi3": Row("gaudi", {ANYWHERE: ()}),
    "google-tpu-v4": _tpu("tpu-v4-podslice", _TORUS),
    "google-tpu-v5e": _tpu("tpu-v5-lite-podslice", _FLAT),
    "google-tpu-v5p": _tpu("tpu-v5p-slice", _TORUS),
    "google-tpu-v6e": _tpu("tpu-v6e-slice", _FLAT),
    "aws-trainium1": _trainium(("trn1.32xlarge", "trn1n.32xlarge", "trn1.2xlarge"), 2, Whole(16, {"efa": 8})),
    "aws-trainium2": _trainium(("trn2.48xlarge", "trn2u.48xlarge"), 4, Whole(16, {"efa": 16})),
}  # fmt: skip
"""EFA counts are those of the network cards of a whole instance (EC2 user guide, accelerated computing)."""

ALIASES = {
    "nvidia-tesla-t4": "nvidia-t4",
    "nvidia-tesla-v100": "nvidia-v100",
    "nvidia-tesla-a100": "nvidia-a100-40gb",
    "tpu-v5-lite-podslice": "google-tpu-v5e",
    "tpu-v5p-slice": "google-tpu-v5p",
    "tpu-v6e-slice": "google-tpu-v6e",
}
"""GKE's names of some, which Flyte uses too."""
