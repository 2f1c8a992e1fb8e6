"""The words for the network's levels: labels of nodes by cloud, the nearest level last.

Sources: [GKE] https://docs.cloud.google.com/ai-hypercomputer (NCCL tests on GKE) and AI-Hypercomputer/xpk (2026-06-25);
[EKS] kubernetes/cloud-provider-aws and NVIDIA/topograph docs/reference/node-labels.md (2026-08-21); [AKS]
Azure/ai-infrastructure-on-azure utilities/aks/torset_labeler (2026-04-22); [OKE] oracle-quickstart/oci-hpc-oke
docs/using-rdma-network-locality (2026-08-20); NVLink: NVIDIA/k8s-device-plugin GPU feature discovery (2026-08-19).
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_ANYWHERE: Final = ""  # vendors.ANYWHERE, without the vendors

HOST = "kubernetes.io/hostname"
CLIQUE = "nvidia.com/gpu.clique"
"""The NVLink domain of a node: cluster and clique. Not there before its Fabric Manager has joined."""

LEVELS: Mapping[str, Mapping[str, str]] = {
    "gke": {
        "block": "cloud.google.com/gce-topology-block",
        "subblock": "cloud.google.com/gce-topology-subblock",
        "slot": "cloud.google.com/gce-topology-host",
        "host": HOST,
    },
    "eks": {
        "layer-1": "topology.k8s.aws/network-node-layer-1",
        "layer-2": "topology.k8s.aws/network-node-layer-2",
        "layer-3": "topology.k8s.aws/network-node-layer-3",
        "nvlink-domain": CLIQUE,
        "host": HOST,
    },
    "aks": {"torset": "ib/torset", "nvlink-domain": CLIQUE, "host": HOST},
    "oke": {
        "hpc-island": "oci.oraclecloud.com/rdma.hpc_island_id",
        "network-block": "oci.oraclecloud.com/rdma.network_block_id",
        "local-block": "oci.oraclecloud.com/rdma.local_block_id",
        "nvlink-domain": CLIQUE,
        "host": HOST,
    },
    _ANYWHERE: {"nvlink-domain": CLIQUE, "host": HOST},
}
"""By cloud, from the widest level to one node. A profile's own level of a name wins."""


def nvlink_domain(cloud: str | None) -> str:
    """The label whose value is a node's NVLink domain. On GKE a sub-block of A4X is one rack."""
    return LEVELS["gke"]["subblock"] if cloud == "gke" else CLIQUE


def levels_of(cloud: str | None) -> Mapping[str, str]:
    """The labels of the levels that are known of a cloud, or anywhere, by their names."""
    return LEVELS[cloud or _ANYWHERE]
