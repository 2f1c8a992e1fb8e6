"""Resource names of accelerators, for the compiler and the simulator alike."""

from __future__ import annotations

import pytest

from ptcompile import Spec, simulate
from ptcompile.kubernetes import amounts, resources
from ptcompile.spec import devices as hardware
from tests.making import DEFAULT_CLUSTER

DEVICES = {
    "nvidia.com/gpu": True,
    "nvidia.com/gpu.shared": True,
    "nvidia.com/mig-1g.5gb": True,
    "habana.ai/gaudi": True,
    "google.com/tpu": True,
    "nvidia.com/gpumem": False,  # HAMi and Volcano vGPU: MiB, not devices
    "nvidia.com/gpucores": False,
    "huawei.com/Ascend310P": True,
    "huawei.com/Ascend310P-memory": False,  # Volcano vNPU: MiB
    "rdma/hca": False,
    "cpu": False,
}


@pytest.mark.parametrize("name", DEVICES)
def test_accelerators_are_the_same_everywhere(name: str) -> None:
    assert resources.is_accelerator(name) is DEVICES[name]
    assert hardware.is_accelerator(DEFAULT_CLUSTER, name) is DEVICES[name]
    assert amounts.is_accelerator(name) is DEVICES[name]


def test_a_spec_object_is_simulated_like_its_document() -> None:
    data = {"metadata": {"name": "a"}, "spec": {"image": "i:1", "script": "t.py", "nodes": 2}}
    spec = Spec.model_validate(data)
    document = {"apiVersion": "ptcompile/v1", "kind": "TrainingJob", **data}
    assert [pod.name for pod in simulate(spec, target="volcano").pods] == [
        "a-master-0",
        "a-worker-0",
    ]
    assert simulate(spec).to_dict() == simulate(document).to_dict()


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("cpu", True),
        ("memory", True),
        ("attachable-volumes-csi-x", True),
        ("kubernetes.io/batch-cpu", True),
        ("example.kubernetes.io/x", True),
        ("nvidia.com/gpu", False),
        ("hugepages-2Mi", False),
    ],
)
def test_resources_whose_request_may_differ_from_the_limit(name: str, shared: bool) -> None:
    assert resources.never_shared(name) is not shared


@pytest.mark.parametrize(
    ("amount", "count"),
    [
        (2, 2),
        (1.5, 0),
        ("1.5", 2),
        ("2", 2),
        ("2k", 2000),
        (0, 0),
        (-1, 0),
        (True, 0),
        (None, 0),
        ([], 0),
        ("x", 0),
    ],
)
def test_devices_are_counted_from_any_amount(amount: object, count: int) -> None:
    assert resources.count(amount) == count
