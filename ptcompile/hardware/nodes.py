"""Labels and taints of nodes by cloud, and the levels of their topology.

Sources: [GKE] https://docs.cloud.google.com/ai-hypercomputer (NCCL tests on GKE) and AI-Hypercomputer/xpk (2026-06-25);
[EKS] kubernetes/cloud-provider-aws and NVIDIA/topograph docs/reference/node-labels.md (2026-08-21); [AKS]
Azure/ai-infrastructure-on-azure utilities/aks/torset_labeler (2026-04-22); [OKE] oracle-quickstart/oci-hpc-oke
docs/using-rdma-network-locality (2026-08-20); NVLink: NVIDIA/k8s-device-plugin GPU feature discovery (2026-08-19).
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple

_ANYWHERE = ""  # same value as ANYWHERE

HOST = "kubernetes.io/hostname"
CLIQUE = "nvidia.com/gpu.clique"
"""The NVLink domain of a Kubernetes node: cluster and clique. Absent until the node's Fabric Manager has joined."""

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
"""Keyed by cloud, from the widest level to one node. A profile's own level of the same name wins."""


def nvlink_domain(cloud: str | None) -> str:
    """Return the label whose value is a node's NVLink domain. On GKE, a sub-block of A4X is one rack."""
    return LEVELS["gke"]["subblock"] if cloud == "gke" else CLIQUE


def levels_of(cloud: str | None) -> Mapping[str, str]:
    """Return the labels of a cloud's topology levels, or those of any cloud, keyed by level."""
    return LEVELS[cloud or _ANYWHERE]


ANYWHERE = ""
"""The cloud of a profile that names none; its labels are those of the vendor's feature discovery."""

_NONE: Mapping[str, str] = {}


class NodeTaint(NamedTuple):
    """A taint with the effect NoSchedule; `value` None matches any value."""

    key: str
    value: str | None = None

    def toleration(self) -> dict[str, str]:
        """Return the toleration of this taint."""
        if self.value is None:
            return {"key": self.key, "operator": "Exists", "effect": "NoSchedule"}
        return {"key": self.key, "operator": "Equal", "value": self.value, "effect": "NoSchedule"}


ARM = NodeTaint("kubernetes.io/arch", "arm64")
"""The taint of GKE's Arm nodes (GoogleCloudPlatform/cluster-toolkit, examples/gke-a4x, 2026-06-25)."""


class NodeMarks(NamedTuple):
    """The labels and taints of a vendor's nodes in one cloud."""

    label: str | None
    """The label whose value identifies the accelerator, or None if only the resource does."""
    source: str
    taints: tuple[NodeTaint, ...] = ()
    slice_label: str | None = None
    """The label of a slice, if the resource name does not contain it."""


class Vendor(NamedTuple):
    """Properties that all accelerators of a vendor share."""

    resource: str
    source: str
    dialects: Mapping[str, NodeMarks]
    slice_resource: str | None = None
    """Resource name of a slice, with {} for the slice, if no label identifies it."""
    one_drives_all: bool = False
    """Whether one process may drive all devices of a node."""
    env: Mapping[str, str] = _NONE


_TYPE = "node.kubernetes.io/instance-type"
_SKU = (NodeTaint("sku", "gpu"),)
_OCI = "https://github.com/oracle-quickstart/oci-hpc-oke docs (2026-08-20)"


class SpotNodes(NamedTuple):
    """The labels and taints of a cloud's spot (preemptible) nodes."""

    labels: Mapping[str, str]
    """Labels of such nodes. Each provisioner sets its own, so a node has one of them, not all."""
    taints: tuple[NodeTaint, ...] = ()
    tainted: bool = True
    """Whether the cloud itself sets the taints; otherwise its guide recommends them."""
    other_labels: Mapping[str, str] = _NONE
    """Labels that some such nodes have too, and that compile does not select."""


_GKE_SPOT = "cloud.google.com/gke-spot"
_PREEMPTIBLE = {"cloud.google.com/gke-preemptible": "true"}
_AKS_SPOT = "kubernetes.azure.com/scalesetpriority"
_AKS_PRIORITY = {"kubernetes.azure.com/priority": "spot"}
_OKE_SPOT = "oci.oraclecloud.com/oke-is-preemptible"

SPOT: Mapping[str, SpotNodes] = {
    "gke": SpotNodes({_GKE_SPOT: "true"}, (NodeTaint(_GKE_SPOT, "true"),), tainted=False, other_labels=_PREEMPTIBLE),
    "eks": SpotNodes({"karpenter.sh/capacity-type": "spot", "eks.amazonaws.com/capacityType": "SPOT"}),
    "aks": SpotNodes({_AKS_SPOT: "spot"}, (NodeTaint(_AKS_SPOT, "spot"),), other_labels=_AKS_PRIORITY),
    "oke": SpotNodes({_OKE_SPOT: "true"}, (NodeTaint(_OKE_SPOT),)),
}
"""Keyed by cloud. On EKS Karpenter, EKS Auto Mode and managed node groups have different labels.

Sources: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms (2026); Karpenter 1.x, NodePool
requirements; https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html, capacity types;
https://learn.microsoft.com/azure/aks/spot-node-pool, and Azure/karpenter-provider-azure pull request 1283 (2025-12);
https://docs.oracle.com/iaas/Content/ContEng/Tasks/contengusingpreemptiblecapacity.htm (2026)."""

VENDORS: dict[str, Vendor] = {
    "nvidia": Vendor(
        "nvidia.com/gpu",
        "https://docs.nvidia.com/datacenter/tesla/mig-user-guide: a CUDA process sees one MIG device",
        {
            "gke": NodeMarks(
                "cloud.google.com/gke-accelerator",
                "https://cloud.google.com/kubernetes-engine/docs/how-to/gpus and gpus-multi",
                (NodeTaint("nvidia.com/gpu", "present"),),
                "cloud.google.com/gke-gpu-partition-size",
            ),
            "eks": NodeMarks(
                _TYPE, "https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html", (NodeTaint("nvidia.com/gpu"),)
            ),
            "aks": NodeMarks(_TYPE, "https://learn.microsoft.com/azure/aks/use-nvidia-gpu", _SKU),
            "oke": NodeMarks(_TYPE, _OCI, (NodeTaint("nvidia.com/gpu"),)),
            ANYWHERE: NodeMarks(
                "nvidia.com/gpu.product",
                "NVIDIA k8s-device-plugin 0.17, docs/gpu-feature-discovery",
                (NodeTaint("nvidia.com/gpu"),),
            ),
        },
        slice_resource="nvidia.com/mig-{}",
    ),
    "amd": Vendor(
        "amd.com/gpu",
        "https://instinct.docs.amd.com/projects/k8s-device-plugin",
        {
            "aks": NodeMarks(_TYPE, "https://learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated", _SKU),
            "oke": NodeMarks(_TYPE, _OCI, (NodeTaint("amd.com/gpu"),)),
            ANYWHERE: NodeMarks("amd.com/gpu.product-name", "AMD k8s-device-plugin 1.31, k8s-node-labeller"),
        },
    ),
    "gaudi": Vendor(
        "habana.ai/gaudi",
        "https://docs.habana.ai/en/latest/PyTorch/PyTorch_Scaling_Guide: a process a card",
        {
            "eks": NodeMarks(_TYPE, "https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html"),
            ANYWHERE: NodeMarks(
                None, "https://docs.habana.ai/en/latest/Orchestration/Gaudi_Kubernetes: no model label"
            ),
        },
    ),
    "tpu": Vendor(
        "google.com/tpu",
        "https://docs.pytorch.org/xla: learn/pjrt (a process a chip), perf/spmd_basic (one for all chips of a host)",
        dict.fromkeys(
            ("gke", ANYWHERE),
            NodeMarks(
                "cloud.google.com/gke-tpu-accelerator",
                "https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus",
                (NodeTaint("google.com/tpu", "present"),),
                "cloud.google.com/gke-tpu-topology",
            ),
        ),
        one_drives_all=True,
        env={"PJRT_DEVICE": "TPU"},
    ),
    "neuron": Vendor(
        "aws.amazon.com/neuron",
        "https://awsdocs-neuron.readthedocs-hosted.com: a process a NeuronCore, 2 cores a Trainium, "
        "4 logical ones a Trainium2 (LNC=2)",
        dict.fromkeys(
            ("eks", ANYWHERE),
            NodeMarks(
                _TYPE,
                "https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html",
                (NodeTaint("aws.amazon.com/neuron"),),
            ),
        ),
    ),
}
