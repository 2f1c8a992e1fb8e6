"""Labels and taints of nodes by cloud, and the levels of their topology.

Sources: [GKE] https://docs.cloud.google.com/ai-hypercomputer (NCCL tests on GKE) and
AI-Hypercomputer/xpk (2026-06-25); [EKS] kubernetes/cloud-provider-aws and NVIDIA/topograph
docs/reference/node-labels.md (2026-08-21); [AKS] Azure/ai-infrastructure-on-azure
utilities/aks/torset_labeler (2026-04-22); [OKE] oracle-quickstart/oci-hpc-oke
docs/using-rdma-network-locality (2026-08-20); NVLink: NVIDIA/k8s-device-plugin GPU feature
discovery (2026-08-19).
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.unstructured import Json, JsonDict

HOST = "kubernetes.io/hostname"
CLIQUE = "nvidia.com/gpu.clique"
"""The NVLink domain of a Kubernetes node: cluster and clique. Absent until the node's Fabric
Manager has joined.
"""

_TABLE = load_table("hardware/nodes.json")
LEVELS: Mapping[str, Mapping[str, str]] = _TABLE["levels"]
"""Keyed by cloud, from the widest level to one node. A profile's own level of the same name
wins.
"""


def nvlink_domain(cloud: str | None) -> str:
    """Return the label whose value is a node's NVLink domain. On GKE, a sub-block of A4X is one
    rack.
    """
    return LEVELS["gke"]["subblock"] if cloud == "gke" else CLIQUE


def levels_of(cloud: str | None) -> Mapping[str, str]:
    """Return the labels of a cloud's topology levels, or those of any cloud, keyed by level."""
    return LEVELS[cloud or ANYWHERE]


ANYWHERE = ""
"""The cloud of a profile that names none; its labels are those of the vendor's feature
discovery.
"""

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
"""The taint of GKE's Arm nodes (GoogleCloudPlatform/cluster-toolkit, examples/gke-a4x,
2026-06-25).
"""


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


class SpotNodes(NamedTuple):
    """The labels and taints of a cloud's spot (preemptible) nodes."""

    labels: Mapping[str, str]
    """Labels of such nodes. Each provisioner sets its own, so a node has one of them, not all."""
    taints: tuple[NodeTaint, ...] = ()
    tainted: bool = True
    """Whether the cloud itself sets the taints; otherwise its guide recommends them."""
    other_labels: Mapping[str, str] = _NONE
    """Labels that some such nodes have too, and that compile does not select."""


def _with_taints(row: Json) -> JsonDict:
    return {**row, "taints": tuple(NodeTaint(**taint) for taint in row.get("taints", ()))}


def _vendor(row: Json) -> Vendor:
    dialects = {cloud: NodeMarks(**_with_taints(marks)) for cloud, marks in row["dialects"].items()}
    return Vendor(**{**row, "dialects": dialects})


SPOT: Mapping[str, SpotNodes] = {
    cloud: SpotNodes(**_with_taints(row)) for cloud, row in _TABLE["spot"].items()
}
"""Keyed by cloud. On EKS Karpenter, EKS Auto Mode and managed node groups have different labels.

Sources: https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms (2026); Karpenter
1.x, NodePool requirements;
https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html, capacity types;
https://learn.microsoft.com/azure/aks/spot-node-pool, and Azure/karpenter-provider-azure pull
request 1283 (2025-12);
https://docs.oracle.com/iaas/Content/ContEng/Tasks/contengusingpreemptiblecapacity.htm (2026).
"""

VENDORS: dict[str, Vendor] = {name: _vendor(row) for name, row in _TABLE["vendors"].items()}
