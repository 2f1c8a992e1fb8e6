"""What a cluster must have where pods claim devices."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.making import smallest

GB200 = "nodes: 2\naccelerator: nvidia-gb200\nfabric: nvlink-domain\nresources: {gpu: 4}"
CHANNELS = "DeviceClass/compute-domain-default-channel.nvidia.com"


def needs(body: str, profile: dict[str, Any]) -> list[tuple[str, str, str]]:
    cluster = {"kind": "ClusterProfile", "apiVersion": "ptcompile/v1", "spec": profile}
    made = ptcompile.compile(smallest(body), target="jobset", cluster=cluster)
    of_spec = ptcompile.requires(smallest(body), target="jobset", cluster=cluster).requirements
    of_manifests = ptcompile.requires(made.yaml(), cluster=cluster).requirements
    devices = {one for one in of_manifests if "DeviceClass" in one.name or one.name == "Configuration/kueue"}
    assert devices == {one for one in of_spec if "DeviceClass" in one.name or one.name == "Configuration/kueue"}
    return [(one.kind, one.name, one.version) for one in of_spec]


def test_the_driver_its_crd_and_its_class() -> None:
    found = needs(GB200, {"cloud": "eks", "versions": {"nvidiaDra": "25.12"}})
    assert ("operator", "nvidia-dra-driver-gpu", "25.12") in found
    assert ("crd", "computedomains.resource.nvidia.com/v1beta1", "") in found
    assert ("object", CHANNELS, "") in found
    assert ("kubernetes", "kubernetes", "1.34") in found


def test_an_older_driver_asks_for_an_older_kubernetes() -> None:
    found = needs(GB200, {"cloud": "eks", "versions": {"nvidiaDra": "25.3"}})
    assert ("kubernetes", "kubernetes", "1.32") in found


@pytest.mark.parametrize("queue", [True, False])
def test_kueue_counts_a_class_that_its_configuration_maps(queue: bool) -> None:
    found = needs(GB200 + ("\nqueue: gb200" if queue else ""), {"cloud": "eks"})
    assert (("object", "Configuration/kueue", "") in found) is queue


def test_templates_of_v1_need_1_34() -> None:
    found = needs("resources: {gpu: 1}", {"gpu": {"claim": {"deviceClassName": "gpu.example.com"}}})
    assert ("kubernetes", "kubernetes", "1.34") in found
    assert ("object", "DeviceClass/gpu.example.com", "") in found
    assert not [one for one in found if one[1] == "nvidia-dra-driver-gpu"]


def test_jobs_without_claims_need_none_of_it() -> None:
    assert not [one for one in needs("resources: {gpu: 1}", {}) if "DeviceClass" in one[1] or "dra" in one[1]]
