"""Pods that select a machine by type, GKE accelerator or GPU product, compared with the machine's size."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.hardware.machines import allocatable, machines_by_name
from ptcompile.kubernetes.quantity import MILLI
from ptcompile.linter import run

TYPE = "node.kubernetes.io/instance-type"
GKE = "cloud.google.com/gke-accelerator"
PRODUCT = "nvidia.com/gpu.product"


def pod(
    requests: dict[str, Any], selector: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    container = {"name": "a", "image": "a:1", "resources": {"limits": requests}}
    where = {"nodeSelector": selector} if selector else {}
    body = {"restartPolicy": "Never", "containers": [container], **where, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": body}


def affinity(*terms: dict[str, list[str]]) -> dict[str, Any]:
    wanted = [
        {
            "matchExpressions": [
                {"key": key, "operator": "In", "values": values} for key, values in term.items()
            ]
        }
        for term in terms
    ]
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": wanted}
        }
    }


def findings_of(manifest: dict[str, Any]) -> list[tuple[str, str, object]]:
    problems = run(manifest, only={"fits-no-machine", "takes-the-whole-machine"})
    return [(problem.name, problem.severity, problem.path[-1]) for problem in problems]


@pytest.mark.parametrize("name", sorted(machines_by_name()))
def test_every_machine_fits_its_allocatable_resources_and_no_more(name: str) -> None:
    machine, accelerator, cloud = machines_by_name()[name]
    from ptcompile.hardware.accelerators import ROWS
    from ptcompile.hardware.nodes import VENDORS

    device = VENDORS[ROWS[accelerator].vendor].resource
    cpu = allocatable(machine, "cpu", cloud) // MILLI if machine.cpu else 1000
    assert (
        findings_of(pod({device: machine.devices, "cpu": f"{cpu}m", "memory": "1Gi"}, {TYPE: name}))
        == []
    )
    assert findings_of(pod({device: machine.devices + 1}, {TYPE: name})) == [
        ("fits-no-machine", "error", device)
    ]
    if machine.cpu:
        assert findings_of(pod({"cpu": f"{cpu + 1}m"}, {TYPE: name})) == [
            ("takes-the-whole-machine", "warning", "cpu")
        ]
        assert findings_of(pod({"cpu": machine.cpu + 1}, {TYPE: name})) == [
            ("fits-no-machine", "error", "cpu")
        ]


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (pod({"nvidia.com/gpu": 16, "cpu": 400, "memory": "3Ti"}, affinity=affinity({TYPE: ["p5.48xlarge"]})),
         ["nvidia.com/gpu", "cpu", "memory"]),
        (pod({"nvidia.com/gpu": 4}, affinity=affinity({TYPE: ["p5.4xlarge"]}, {TYPE: ["p5.48xlarge"]})), []),
        (pod({"nvidia.com/gpu": 9}, affinity=affinity({TYPE: ["p5.4xlarge"]}, {TYPE: ["p5.48xlarge"]})),
         ["nvidia.com/gpu"]),
        (pod({"nvidia.com/gpu": 9}, affinity=affinity({TYPE: ["p5.4xlarge"]}, {"pool": ["gold"]})), []),
        (pod({"nvidia.com/gpu": 9}, {TYPE: "p7.48xlarge"}), []),  # unknown machine type
        (pod({"nvidia.com/gpu": 9}, affinity=affinity({TYPE: ["p5.48xlarge", "p7.48xlarge"]})), []),
        (pod({"nvidia.com/gpu": 9}, {GKE: "nvidia-h100-80gb"}), ["nvidia.com/gpu"]),
        (pod({"nvidia.com/gpu": 9}, {GKE: "nvidia-tesla-t4"}), []),  # N1: any combination
        (pod({"nvidia.com/gpu": 20}, {GKE: "nvidia-h100-80gb", "cloud.google.com/gke-gpu-sharing-strategy": "x"}), []),
        (pod({"vpc.amazonaws.com/efa": 32}, {TYPE: "p5en.48xlarge"}), ["vpc.amazonaws.com/efa"]),
        (pod({"rdma/ib": 8}, {TYPE: "Standard_ND96isr_H100_v5"}), []),
        (pod({"rdma/ib": 9}, {TYPE: "Standard_ND96isr_H100_v5"}), ["rdma/ib"]),
        (pod({"nvidia.com/gpu": 16}), []),
    ],
)  # fmt: skip
def test_amounts_that_fit_no_machine_are_reported(
    manifest: dict[str, Any], expected: list[str]
) -> None:
    assert [(name, where) for name, _, where in findings_of(manifest)] == [
        ("fits-no-machine", one) for one in expected
    ]


def test_a_product_may_be_in_hardware_that_no_cloud_has() -> None:
    assert findings_of(pod({"nvidia.com/gpu": 9}, {PRODUCT: "NVIDIA-H100-80GB-HBM3"})) == [
        ("fits-no-machine", "warning", "nvidia.com/gpu")
    ]
    assert findings_of(pod({"nvidia.com/gpu": 8}, {PRODUCT: "NVIDIA-H100-80GB-HBM3"})) == []
    assert (
        findings_of(pod({"nvidia.com/gpu": 64}, {PRODUCT: "NVIDIA-H20"})) == []
    )  # no machine with this product is known


def test_the_containers_of_a_pod_are_summed() -> None:
    manifest = pod({"nvidia.com/gpu": 4}, {TYPE: "p5.48xlarge"})
    second = {"name": "b", "image": "b:1", "resources": {"limits": {"nvidia.com/gpu": 5}}}
    manifest["spec"]["containers"].append(second)
    assert findings_of(manifest) == [("fits-no-machine", "error", "nvidia.com/gpu")]
