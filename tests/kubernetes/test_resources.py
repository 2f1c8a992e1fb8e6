"""Resource names of accelerators, for the compiler and the simulator alike."""

from __future__ import annotations

import pytest

from ptcompile import Spec, simulate
from ptcompile.kubernetes import amounts, resources as accelerators
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
    assert accelerators.is_accelerator(name) is DEVICES[name]
    assert hardware.is_accelerator(DEFAULT_CLUSTER, name) is DEVICES[name]
    assert amounts.is_accelerator(name) is DEVICES[name]


def test_a_spec_object_is_simulated_like_its_document() -> None:
    data = {"metadata": {"name": "a"}, "spec": {"image": "i:1", "script": "t.py", "nodes": 2}}
    spec = Spec.model_validate(data)
    document = {"apiVersion": "ptcompile/v1", "kind": "TrainingJob", **data}
    assert [pod.name for pod in simulate(spec, target="volcano").pods] == ["a-master-0", "a-worker-0"]
    assert simulate(spec).to_dict() == simulate(document).to_dict()
