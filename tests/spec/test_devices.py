"""Accelerators and fabrics of a profile: what it defines, what its cloud has built in, and what a pod requests."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.spec import devices
from tests.making import DEFAULT_CLUSTER, profile

EKS, GKE, AKS, OKE = (profile({"cloud": cloud}) for cloud in ("eks", "gke", "aks", "oke"))
OWN = profile(
    {
        "cloud": "eks",
        "gpu": {"resourceName": "acme.com/gpu"},
        "accelerators": {
            "big": {
                "resourceName": "acme.com/big",
                "nodeLabels": {"pool": "big"},
                "matchExpressions": [{"key": "size", "operator": "In", "values": ["p5.4xlarge"]}],
                "devicesPerNode": 4,
                "fabricDevices": {"efa": 6},
            },
            "nvidia-l4": {"nodeLabels": {"pool": "l4"}},
            "plain": {"nodeLabels": {"pool": "plain"}},
        },
        "fabrics": {
            "efa": {"env": {"FI_PROVIDER": "own"}},
            "rails": {"resources": {"acme.com/rail": 2}},
        },
    }
)
NO_FABRIC = profile(
    {"cloud": "eks", "fabrics": {"efa": {"resources": {"vpc.amazonaws.com/efa": 3}}}}
)


def test_an_accelerator_of_the_profile_comes_before_a_built_in_one() -> None:
    own = devices.accelerator(OWN, "nvidia-l4")
    assert own is not None
    assert (own.node_labels, own.devices_per_node) == ({"pool": "l4"}, None)
    built_in = devices.accelerator(EKS, "nvidia-l4")
    assert built_in is not None
    assert built_in.node_labels == {}
    assert built_in.match_expressions[0].key == "node.kubernetes.io/instance-type"
    assert devices.accelerator(EKS, None) is devices.accelerator(EKS, "unknown") is None


def test_a_cloud_marks_its_spot_nodes() -> None:
    nodes = devices.spot_nodes(EKS)
    assert nodes is not None
    assert nodes.labels["karpenter.sh/capacity-type"] == "spot"
    assert devices.spot_nodes(profile({"cloud": "eks", "spot": {}})) is None
    assert devices.spot_nodes(DEFAULT_CLUSTER) is None


@pytest.mark.parametrize(
    ("name", "count", "machines"),
    [
        ("nvidia-h100", 1, ["p5.48xlarge", "p5.4xlarge"]),
        ("nvidia-h100", 2, ["p5.48xlarge"]),
        ("nvidia-h100", 8, ["p5.48xlarge"]),
        (
            "nvidia-h100",
            16,
            ["p5.48xlarge", "p5.4xlarge"],
        ),  # no machine is large enough: another rule says so
        ("nvidia-l4", 8, ["g6.48xlarge"]),
    ],
)
def test_machine_types_with_too_few_devices_are_omitted(
    name: str, count: int, machines: list[str]
) -> None:
    (requirement,) = devices.node_requirements(EKS, name, count)
    assert requirement.values == machines


def test_requirements_of_the_profile_stay() -> None:
    (requirement,) = devices.node_requirements(OWN, "big", 4)
    assert requirement.values == ["p5.4xlarge"]
    assert devices.node_requirements(OWN, "nvidia-l4", 8) == []
    assert (
        devices.node_requirements(EKS, None, 8)
        == devices.node_requirements(EKS, "unknown", 8)
        == []
    )


def test_a_requirement_without_values_stays() -> None:
    entry = {
        "nodeLabels": {"pool": "a"},
        "matchExpressions": [{"key": "gpu", "operator": "Exists"}],
    }
    (requirement,) = devices.node_requirements(profile({"accelerators": {"a": entry}}), "a", 8)
    assert (requirement.key, requirement.operator) == ("gpu", "Exists")


def test_the_accelerator_decides_which_resource_gpu_requests() -> None:
    names = [devices.gpu_resource(OWN, name) for name in ("big", "plain", None)]
    assert names[0] == "acme.com/big"
    assert names[2] == "acme.com/gpu"
    assert devices.gpu_resource(EKS, "aws-trainium2") == "aws.amazon.com/neuron"
    assert devices.gpu_resource(EKS, None) == "nvidia.com/gpu"


def test_fields_of_the_profile_replace_those_of_a_built_in_fabric() -> None:
    own, built_in = devices.fabric(OWN, "efa"), devices.fabric(EKS, "efa")
    assert own is not None
    assert built_in is not None
    assert (own.env, own.resources) == ({"FI_PROVIDER": "own"}, built_in.resources)
    assert (built_in.env, built_in.capabilities) == ({"FI_PROVIDER": "efa"}, ["IPC_LOCK"])
    rails = devices.fabric(OWN, "rails")
    assert rails is not None
    assert list(rails.resources) == ["acme.com/rail"]
    assert devices.fabric(OWN, None) is devices.fabric(OWN, "unknown") is None


EFA, PAGES = "vpc.amazonaws.com/efa", "hugepages-2Mi"


@pytest.mark.parametrize(
    ("cluster", "fabric", "accelerator", "count", "amounts"),
    [
        (EKS, "efa", "nvidia-h100", 8, {EFA: "32", PAGES: "5120Mi"}),
        (EKS, "efa", "nvidia-h100", 16, {EFA: "32", PAGES: "5120Mi"}),
        (EKS, "efa", "nvidia-h100", 7, {EFA: "1", PAGES: "5120Mi"}),
        (EKS, "efa", "nvidia-h100", 4, {EFA: "1", PAGES: "5120Mi"}),
        (EKS, "efa", "nvidia-h100", 3, {EFA: "1", PAGES: "3846Mi"}),  # its share of a node's pages
        (EKS, "efa", "nvidia-h100", 1, {EFA: "1", PAGES: "1282Mi"}),
        (EKS, "efa", "nvidia-h100", 0, {EFA: "1", PAGES: "5120Mi"}),
        (EKS, "efa", "nvidia-h200", 8, {EFA: "16", PAGES: "5120Mi"}),
        (EKS, "efa", None, 8, {EFA: "1", PAGES: "5120Mi"}),
        (EKS, "nvlink-domain", "nvidia-gb200", 4, {EFA: "4", PAGES: "5120Mi"}),
        (AKS, "infiniband", "nvidia-h100", 8, {"rdma/ib": "8"}),
        (AKS, "infiniband", "nvidia-h100", 4, {"rdma/ib": "1"}),
        (EKS, "infiniband", "nvidia-h100", 8, {"rdma/ib": "1"}),  # counted on AKS only
        (OKE, "rdma-vf", "nvidia-h200", 8, {"nvidia.com/rdma-vf": "8"}),
        (OWN, "efa", "big", 4, {EFA: "6", PAGES: "5120Mi"}),
        (OWN, "efa", "big", 3, {EFA: "1", PAGES: "5120Mi"}),
        (OWN, "efa", "plain", 4, {EFA: "1", PAGES: "5120Mi"}),
        (OWN, "rails", "big", 4, {"acme.com/rail": "2"}),
        (NO_FABRIC, "efa", "nvidia-h100", 8, {EFA: "3"}),  # the profile's amounts
        (NO_FABRIC, "efa", "nvidia-h100", 1, {EFA: "3"}),
        (EKS, None, "nvidia-h100", 8, {}),
    ],
)
def test_a_fabric_has_its_amounts(
    cluster: Any, fabric: str | None, accelerator: str | None, count: int, amounts: dict[str, str]
) -> None:
    assert devices.fabric_amounts(cluster, fabric, accelerator, count) == amounts


def test_a_whole_node_has_all_devices_of_a_fabric() -> None:
    h100, big = devices.accelerator(EKS, "nvidia-h100"), devices.accelerator(OWN, "big")
    assert h100 is not None
    assert big is not None
    assert devices.fabric_devices(EKS, "efa", h100) == 32
    assert devices.fabric_devices(EKS, "nvlink-domain", h100) == 32  # accompanied by EFA
    assert devices.fabric_devices(GKE, "nvlink-domain", h100) is None
    assert (
        devices.fabric_devices(EKS, "infiniband", h100)
        is devices.fabric_devices(EKS, None, h100)
        is None
    )
    assert devices.fabric_devices(OWN, "efa", big) == 6


def test_only_efa_s_count_depends_on_the_machine() -> None:
    assert (
        devices.per_machine_resource(EKS, "efa") == devices.per_machine_resource(OWN, "efa") == EFA
    )
    assert devices.per_machine_resource(NO_FABRIC, "efa") is None
    assert devices.per_machine_resource(AKS, "infiniband") == "rdma/ib"
    assert (
        devices.per_machine_resource(EKS, "infiniband")
        is devices.per_machine_resource(EKS, "roce")
        is None
    )
    assert devices.per_machine_resource(EKS, None) is None


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("gpu", True),
        ("nvidia.com/gpu", True),
        ("acme.com/gpu", True),
        ("acme.com/big", True),
        ("acme.com/rail", False),
        ("cpu", False),
    ],
)
def test_only_accelerators_are_counted(resource: str, expected: bool) -> None:
    assert devices.is_accelerator(OWN, resource) is expected
    assert devices.count_accelerators(OWN, {resource: "2", "memory": "4"}) == 2 * expected


@pytest.mark.parametrize(
    ("amounts", "accelerator", "count"),
    [
        ({"gpu": "8", "cpu": "4"}, None, 8),
        ({"gpu": "8"}, "nvidia-h100", 8),
        ({"gpu": "16"}, "aws-trainium2", 64),
        ({"aws.amazon.com/neuron": "1"}, "aws-trainium1", 2),
        ({"aws.amazon.com/neuron": "1", "nvidia.com/gpu": "3"}, "aws-trainium1", 5),
        ({"cpu": "4"}, "aws-trainium1", 0),
        ({"gpu": "x"}, None, 0),
    ],
)
def test_amounts_give_the_number_of_processes(
    amounts: dict[str, str], accelerator: str | None, count: int
) -> None:
    assert devices.count_processes(EKS, amounts, accelerator) == count


@pytest.mark.parametrize(
    ("amounts", "accelerator", "count"),
    [
        ({"nvidia.com/gpu": "8"}, None, None),
        ({"amd.com/gpu": "8"}, None, None),
        ({"google.com/tpu": "4"}, None, 4),  # no GPU for torchrun
        ({"aws.amazon.com/neuron": "1"}, "aws-trainium2", 4),
        ({"gpu": "2"}, "aws-trainium1", 4),
        ({"cpu": "4"}, None, None),
    ],
)
def test_auto_leaves_some_processes_uncounted(
    amounts: dict[str, str], accelerator: str | None, count: int | None
) -> None:
    assert devices.uncounted_processes(EKS, amounts, accelerator) == count


def test_labels_of_several_values_become_expressions() -> None:
    one, several = (
        devices.built_in_accelerator("nvidia-h200", "gke"),
        devices.built_in_accelerator("nvidia-l4", "eks"),
    )
    assert one is not None
    assert several is not None
    assert one.node_labels == {"cloud.google.com/gke-accelerator": "nvidia-h200-141gb"}
    assert [requirement.operator for requirement in several.match_expressions] == ["In"]
    assert not several.node_labels
    assert devices.built_in_accelerator("unknown", "eks") is None
    assert devices.built_in_fabric("unknown") is None


def test_a_trainium_node_is_driven_by_one_process() -> None:
    trainium = devices.built_in_accelerator("aws-trainium2", "eks")
    h100 = devices.built_in_accelerator("nvidia-h100", None)
    assert trainium is not None
    assert h100 is not None
    assert (trainium.processes_per_device, trainium.devices_per_node, trainium.fabric_devices) == (
        4,
        16,
        {"efa": 16},
    )
    assert (h100.processes_per_device, h100.devices_per_node, h100.fabric_devices) == (1, None, {})
