"""Fabrics by cloud and accelerator: their fields, device counts, vendor recommendations and shares of a node."""

from __future__ import annotations

import pytest

from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabrics import FABRICS, TUNINGS, fabric_in, recommended_env
from ptcompile.hardware.nodes import LEVELS, levels_of
from ptcompile.kubernetes import names
from ptcompile.spec import devices as hardware
from tests import making
from tests.recordings import AGAIN, RECORDINGS, recorded

EFA = "vpc.amazonaws.com/efa"


@pytest.mark.parametrize(
    ("cloud", "accelerator", "fabric", "count", "amounts"),
    [
        # aws/karpenter-provider-aws, instance-types.md: network cards
        ("eks", "nvidia-h100", "efa", 8, {EFA: "32"}),
        ("eks", "nvidia-b200", "efa", 8, {EFA: "8"}),
        ("eks", "nvidia-b300", "efa", 8, {EFA: "16"}),
        ("eks", "nvidia-gb200", "efa", 4, {EFA: "4"}),
        ("eks", "nvidia-gb200", "nvlink-domain", 4, {EFA: "4"}),
        ("aks", "nvidia-gb300", "nvlink-domain", 4, {"rdma/ib": "4"}),
        ("aks", "nvidia-h100", "infiniband", 8, {"rdma/ib": "8"}),
        (None, "nvidia-h100", "infiniband", 8, {"rdma/ib": "1"}),  # CoreWeave: 1 gives all HCAs
        ("oke", "nvidia-h100", "rdma-vf", 8, {"nvidia.com/rdma-vf": "16"}),
        ("oke", "nvidia-h200", "rdma-vf", 8, {"nvidia.com/rdma-vf": "8"}),
        ("gke", "nvidia-gb200", "nvlink-domain", 4, {}),
        (None, "nvidia-gb200", "nvlink-domain", 4, {}),
    ],
)
def test_a_whole_node_gets_all_devices_of_its_fabric(
    cloud: str | None, accelerator: str, fabric: str, count: int, amounts: dict[str, str]
) -> None:
    resources = hardware.fabric_amounts(
        making.profile({"cloud": cloud}), fabric, accelerator, count
    )
    assert {key: value for key, value in resources.items() if "/" in key} == amounts


@pytest.mark.parametrize(
    ("devices", "pages"),
    [(8, "5120Mi"), (4, "5120Mi"), (3, "3846Mi"), (1, "1282Mi"), (0, "5120Mi")],
)
def test_huge_pages_are_proportional_to_the_devices(devices: int, pages: str) -> None:
    """Nodes have 5128 pages of 2 MiB (EKS user guide, node-efa), which eight pods with one GPU each must share."""
    resources = hardware.fabric_amounts(
        making.profile({"cloud": "eks"}), "efa", "nvidia-h100", devices
    )
    assert resources["hugepages-2Mi"] == pages
    assert devices == 0 or int(pages.removesuffix("Mi")) * (8 // devices) <= 10256


@pytest.mark.parametrize("cloud", [None, "gke", "eks", "aks", "oke"])
@pytest.mark.parametrize("name", FABRICS)
def test_every_fabric_is_complete_on_every_cloud(name: str, cloud: str | None) -> None:
    for accelerator in (None, *ROWS):
        needs = fabric_in(name, cloud, accelerator)
        assert needs is not None, accelerator
        assert needs.source, accelerator
        assert needs.counted is None or needs.counted in needs.resources, accelerator
        assert hardware.built_in_fabric(name, cloud, accelerator) is not None, accelerator


def test_each_machine_has_its_interfaces_of_gib() -> None:
    key = "networking.gke.io/interfaces"
    for accelerator, count in (
        ("nvidia-h200", 8),
        ("nvidia-b200", 8),
        ("nvidia-gb200", 4),
        ("nvidia-gb300", 0),
    ):
        needs = fabric_in("gib", "gke", accelerator)
        assert needs is not None
        assert needs.annotations.get(key, "").count('"rdma-') == count
        assert needs.env["NCCL_NET"] == "gIB"
        assert bool(needs.claims) is (count == 0)


def test_every_recommendation_names_rows_fabrics_and_its_source() -> None:
    for tuning in TUNINGS:
        assert tuning.fabric in FABRICS
        assert set(tuning.accelerators) <= ROWS.keys()
        assert all(tuning.cloud in ROWS[name].nodes for name in tuning.accelerators)
        assert "(20" in tuning.source
        assert (
            recommended_env(tuning.fabric, tuning.cloud, (tuning.accelerators or ("",))[0]).items()
            >= tuning.env.items()
        )


def test_recommendations_stay_in_their_cloud() -> None:
    assert recommended_env("infiniband", "aks", "nvidia-h100")["NCCL_IB_QPS_PER_CONNECTION"] == "4"
    assert recommended_env("infiniband", None, "nvidia-h100") == {}
    assert recommended_env("infiniband", "aks", "nvidia-a100-80gb") == {}


def test_levels_are_labels() -> None:
    for levels in LEVELS.values():
        assert all(names.is_qualified_name(label) for label in levels.values())


def test_the_narrowest_level_is_the_host() -> None:
    for levels in LEVELS.values():
        assert list(levels)[-1] == "host"


def test_without_a_cloud_the_levels_are_the_common_ones() -> None:
    assert levels_of(None) is LEVELS[""]


@pytest.mark.parametrize(
    ("cloud", "level", "label"),
    [
        ("gke", "subblock", "cloud.google.com/gce-topology-subblock"),
        ("eks", "layer-3", "topology.k8s.aws/network-node-layer-3"),
        ("aks", "torset", "ib/torset"),
        ("oke", "local-block", "oci.oraclecloud.com/rdma.local_block_id"),
        (None, "nvlink-domain", "nvidia.com/gpu.clique"),
    ],
)
def test_a_cloud_s_level_needs_no_profile(cloud: str | None, level: str, label: str) -> None:
    body = f"nodes: 2\nqueue: q\ntopology: {{required: {level}}}\nresources: {{cpu: 1}}"
    manifest = making.manifest(making.smallest(body), "job", making.profile({"cloud": cloud}))
    annotations = manifest["spec"]["template"]["metadata"]["annotations"]
    assert annotations["kueue.x-k8s.io/podset-required-topology"] == label


def test_the_profile_s_level_overrides_the_cloud_s() -> None:
    own = {"cloud": "gke", "topology": {"levels": {"block": {"nodeLabel": "example.com/block"}}}}
    body = "nodes: 2\nqueue: q\ntopology: {preferred: block}\nresources: {cpu: 1}"
    manifest = making.manifest(making.smallest(body), "job", making.profile(own))
    annotations = manifest["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"kueue.x-k8s.io/podset-preferred-topology": "example.com/block"}


def test_the_catalog_is_as_recorded() -> None:
    name = "hardware/catalogue.txt"
    assert RECORDINGS[name]() == recorded(name), AGAIN
