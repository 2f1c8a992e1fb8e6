"""The variables of NCCL and RCCL that vendors recommend on their machines, each set with its source.

What a plugin sets by itself is not here: aws-ofi-nccl does so on every EFA machine (src/platform-aws.cpp, 2026-08-21).
Neither is what names a file of the image, such as NCCL_TOPO_FILE of Azure's ND machines.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.typed import NamedTuple


class Tuning(NamedTuple):
    """One recommendation."""

    fabric: str
    cloud: str
    accelerators: tuple[str, ...]
    """By their rows' names; empty for all."""
    env: Mapping[str, str]
    source: str


_OKE = "oracle-quickstart/oci-hpc-oke docs/recommended-nccl-rccl-parameters-by-shape.md (2026-08-20)"
_GIB = "AI-Hypercomputer/gpu-recipes (2026-08-12): NCCL_TUNER_CONFIG_PATH"
_OKE_HOPPER = {"NCCL_CUMEM_ENABLE": "0", "NCCL_IGNORE_CPU_AFFINITY": "1"}

TUNINGS: tuple[Tuning, ...] = (
    Tuning("gib", "gke", ("nvidia-h200",),
           {"NCCL_TUNER_CONFIG_PATH": "/usr/local/gib/configs/tuner_config_a3u.txtpb"}, _GIB),
    Tuning("gib", "gke", ("nvidia-b200",),
           {"NCCL_TUNER_CONFIG_PATH": "/usr/local/gib/configs/tuner_config_a4.txtpb"}, _GIB),
    Tuning(
        "infiniband", "aks", ("nvidia-h100", "nvidia-h200"),
        {
            "NCCL_IB_PCI_RELAXED_ORDERING": "1", "NCCL_IB_QPS_PER_CONNECTION": "4", "NCCL_IGNORE_CPU_AFFINITY": "1",
            "NCCL_P2P_NET_CHUNKSIZE": "524288", "NCCL_PXN_DISABLE": "1", "NCCL_MIN_NCHANNELS": "32",
            "UCX_TLS": "rc", "UCX_NET_DEVICES": "mlx5_0:1",
        },
        "Azure/ai-infrastructure-on-azure, NCCL chart values.yaml (2026-04-22)",
    ),
    Tuning(
        "infiniband", "aks", ("nvidia-gb300",),
        {
            "NCCL_DMABUF_ENABLE": "1", "NCCL_NET_GDR_C2C": "1", "NCCL_NET_GDR_LEVEL": "PHB", "NCCL_IB_SL": "1",
        },
        "Azure/ai-infrastructure-on-azure, values-gb300*.yaml (2026-04-22)",
    ),
    Tuning(
        "rdma-vf", "oke", (),
        {
            "NCCL_IB_GID_INDEX": "3", "NCCL_IB_TC": "41", "NCCL_IB_SL": "0", "NCCL_IB_TIMEOUT": "22",
            "NCCL_IB_SPLIT_DATA_ON_QPS": "0", "NCCL_IB_HCA": "mlx5",
        },
        _OKE,
    ),
    Tuning("rdma-vf", "oke", ("nvidia-a100-40gb", "nvidia-a100-80gb"), {"NCCL_IB_QPS_PER_CONNECTION": "4"}, _OKE),
    Tuning("rdma-vf", "oke", ("nvidia-h100", "nvidia-h200", "nvidia-b200", "nvidia-b300"), _OKE_HOPPER, _OKE),
    Tuning(
        "rdma-vf", "oke", ("amd-mi300x",),
        {
            "NCCL_CUMEM_ENABLE": "0", "NCCL_PXN_DISABLE": "0", "NCCL_NET_PLUGIN": "none",
            "NCCL_IB_QPS_PER_CONNECTION": "1",
        },
        _OKE,
    ),
    Tuning(
        "nvlink-domain", "oke", ("nvidia-gb200", "nvidia-gb300"), {"NCCL_CUMEM_ENABLE": "1"}, _OKE,
    ),
)  # fmt: skip


def tuned(fabric: str, cloud: str | None, accelerator: str) -> dict[str, str]:
    """What is recommended for a fabric on the machines of an accelerator in a cloud; later rows win."""
    found: dict[str, str] = {}
    for one in TUNINGS:
        if one.fabric == fabric and one.cloud == cloud and (not one.accelerators or accelerator in one.accelerators):
            found |= one.env
    return found
