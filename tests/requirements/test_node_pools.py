"""Node pools, cloud, GPUs and spot nodes from the nodes of a cluster."""

from __future__ import annotations

from typing import Any

from ptcompile.requirements.node_pools import (
    cloud_of,
    empty_pools,
    gpu_settings,
    kubelet_release,
    may_have_other_pools,
    node_pools,
    spot_settings,
    worker_nodes,
)

GPU_TAINT = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}


def node(
    name: str,
    labels: dict[str, str] | None = None,
    taints: list[dict[str, str]] | None = None,
    release: str = "v1.34.1",
    **allocatable: str,
) -> dict[str, Any]:
    amounts = {{"gpu": "nvidia.com/gpu"}.get(key, key): value for key, value in allocatable.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {"taints": taints or []},
        "status": {"allocatable": amounts, "nodeInfo": {"kubeletVersion": release}},
    }


def test_nodes_of_one_pool_are_one_entry_with_the_smallest_amounts() -> None:
    labels = {
        "eks.amazonaws.com/nodegroup": "h100",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
    }
    nodes = [
        node("a", {**labels, "rack": "1"}, [GPU_TAINT], gpu="8", memory="2000Gi", pods="110"),
        node("b", {**labels, "rack": "2"}, [GPU_TAINT], gpu="8", memory="1999Gi", cpu="0"),
    ]
    assert node_pools(nodes) == {
        "h100": {
            "machine": "p5.48xlarge",
            "allocatable": {"nvidia.com/gpu": "8", "memory": "1999Gi"},
            "labels": labels,
            "taints": [GPU_TAINT],
            "count": 2,
        }
    }


def test_nodes_that_differ_in_devices_zone_or_taints_are_pools_of_their_own() -> None:
    zone = "topology.kubernetes.io/zone"
    nodes = [
        node("a", {"agentpool": "gpu", zone: "1"}, gpu="8"),
        node("b", {"agentpool": "gpu", zone: "1"}, gpu="7"),
        node("c", {"agentpool": "gpu", zone: "2"}, gpu="8"),
        node("d", {"agentpool": "gpu", zone: "1"}, [GPU_TAINT], gpu="8"),
        node("e", {"agentpool": "gpu", zone: "1"}, gpu="8"),
        node("f", cpu="4"),
    ]
    pools = node_pools(nodes)
    assert [(name, pool["count"]) for name, pool in pools.items()] == [
        ("gpu-1", 2), ("gpu-2", 1), ("gpu-3", 1), ("gpu-4", 1), ("nodes", 1),
    ]  # fmt: skip


def test_a_pool_has_no_label_or_taint_of_one_node() -> None:
    labels = {
        "kubernetes.io/os": "linux",
        "topology.k8s.aws/network-node-layer-1": "nn-1",
        "owner": "a",
    }
    taints = [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
        {"key": "team", "effect": "Never"},
        {},
    ]
    (pool,) = node_pools([node("a", labels, taints, cpu="4")]).values()
    assert pool == {
        "allocatable": {"cpu": "4"},
        "labels": {"kubernetes.io/os": "linux"},
        "count": 1,
    }


def test_nodes_of_the_control_plane_are_left_out_if_they_keep_jobs_away() -> None:
    tainted = node(
        "a", None, [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
    )
    open_to_pods = node("b", {"node-role.kubernetes.io/control-plane": ""})
    assert worker_nodes([tainted, open_to_pods]) == [open_to_pods]


def test_the_cloud_is_that_of_all_nodes() -> None:
    gke, aks = (
        node("a", {"cloud.google.com/gke-nodepool": "x"}),
        node("b", {"kubernetes.azure.com/agentpool": "x"}),
    )
    assert cloud_of([gke, gke]) == "gke"
    assert cloud_of([gke, aks]) is None
    assert cloud_of([node("c")]) is None
    assert cloud_of([]) is None


def test_gpu_has_only_what_differs_from_the_defaults() -> None:
    spot = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NoSchedule"}
    team = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
    assert gpu_settings([node("a", None, [GPU_TAINT, spot], gpu="8")], []) == {}
    assert (
        gpu_settings(
            [node("a", None, [GPU_TAINT, team], gpu="8"), node("b", None, [GPU_TAINT], gpu="8")], []
        )
        == {}
    )
    assert gpu_settings([node("a", None, [GPU_TAINT, team], gpu="8"), node("c", cpu="4")], []) == {
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoSchedule"},
        ]
    }
    amd = node("a")
    amd["status"]["allocatable"] = {"amd.com/gpu": "8"}
    assert gpu_settings([amd], []) == {"resourceName": "amd.com/gpu"}
    assert gpu_settings([node("c", cpu="4")], ["gpu.nvidia.com"]) == {"claim": {}}
    assert gpu_settings([node("c", cpu="4")], []) == {}


def test_spot_nodes_are_described_where_no_cloud_does() -> None:
    spot = node("a", {"karpenter.sh/capacity-type": "spot"})
    assert spot_settings([spot], "eks") == {}
    assert spot_settings([node("b"), spot], None) == {
        "nodeLabels": {"karpenter.sh/capacity-type": "spot"}
    }
    taint = {"key": "oci.oraclecloud.com/oke-is-preemptible", "effect": "NoSchedule"}
    tainted = node("c", {"oci.oraclecloud.com/oke-is-preemptible": "true"}, [taint])
    assert spot_settings([tainted], None)["tolerations"] == [{**taint, "operator": "Exists"}]
    assert spot_settings([node("b")], None) == {}


def test_the_newest_kubelet_is_the_oldest_possible_api_server() -> None:
    nodes = [
        node("a", release="v1.33.9-eks-1"),
        node("b", release="v1.34.0"),
        node("c", release="?"),
    ]
    assert kubelet_release(nodes) == (1, 34)
    assert kubelet_release([]) is None


def test_karpenter_s_pools_without_a_node_are_entries_too() -> None:
    requirements = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p5.48xlarge"]},
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a", "b"]},
    ]
    template = {
        "metadata": {"labels": {"tier": "burst"}},
        "spec": {"requirements": requirements, "taints": [GPU_TAINT]},
    }
    pools = [
        {"metadata": {"name": name}, "spec": {"template": template}} for name in ("idle", "used")
    ]
    labels = {"karpenter.sh/nodepool": "idle", "tier": "burst"}
    nodes = [node("n", {"karpenter.sh/nodepool": "used"})]
    idle = {"machine": "p5.48xlarge", "labels": labels, "taints": [GPU_TAINT]}
    assert empty_pools(pools, nodes) == {"idle": idle}

    limited = {
        "metadata": {"name": "idle"},
        "spec": {"template": template, "limits": {"nvidia.com/gpu": "20"}},
    }
    assert empty_pools([limited], nodes) == {"idle": {**idle, "count": 2}}


def test_only_an_autoscaler_may_add_nodes() -> None:
    own = [node("n", {"rack": "1"})]
    assert not may_have_other_pools({"Node", "ConfigMap"}, {"kube-root-ca.crt"}, own)
    assert may_have_other_pools({"Node"}, (), [node("n", {"cloud.google.com/gke-nodepool": "x"})])
    assert may_have_other_pools({"Node"}, (), [node("n", {"karpenter.sh/nodepool": "x"})])
    assert may_have_other_pools({"NodePool"}, (), own)
    assert may_have_other_pools({"ConfigMap"}, {"cluster-autoscaler-status"}, own)
