"""The machine table: agreement with node labels, and the amounts left for pods against published figures."""

from __future__ import annotations

import pytest

from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.machines import (
    MACHINES,
    MIB,
    Ask,
    Machine,
    allocatable,
    find_shared_machine,
    guaranteed_amount,
    least_memory,
    left_for_pods,
    machines_by_name,
    misfits,
    parse_nano,
)
from tests.recordings import AGAIN, RECORDINGS, recorded

PLACES = [(name, cloud) for name, clouds in MACHINES.items() for cloud in clouds]


@pytest.mark.parametrize(("name", "cloud"), PLACES)
def test_machines_match_the_nodes_of_their_row(name: str, cloud: str) -> None:
    """On clouds that select nodes by instance type, the machines are those instance types."""
    machines = MACHINES[name][cloud]
    assert cloud in ROWS[name].nodes
    assert len({machine.name for machine in machines}) == len(machines)
    if cloud in {"eks", "aks"}:
        assert {machine.name for machine in machines} == set(ROWS[name].nodes[cloud])


def test_every_instance_type_has_its_row() -> None:
    amounts = {
        (name, cloud) for name, row in ROWS.items() for cloud, nodes in row.nodes.items() if nodes
    }
    assert {place for place in amounts if place[1] in {"eks", "aks"}} <= set(PLACES)


@pytest.mark.parametrize(
    ("name", "cloud", "machine", "millicores", "gib"),
    [
        # cluster-autoscaler's and karpenter-gcp's reservations, COS
        ("nvidia-a100-40gb", "gke", "a2-highgpu-8g", 95690, 648),
        ("nvidia-h100", "gke", "a3-highgpu-8g", 207410, 1798),
        ("nvidia-h200", "gke", "a3-ultragpu-8g", 223370, 2840),
        ("nvidia-l4", "gke", "g2-standard-12", 11900, 42),
        # karpenter-azure's classic formula
        ("nvidia-h100", "aks", "Standard_ND96isr_H100_v5", 94940, 1854),
        ("nvidia-a100-40gb", "aks", "Standard_ND96asr_v4", 94940, 874),
        ("nvidia-h100-nvl", "aks", "Standard_NC40ads_H100_v5", 39500, 306),
        # karpenter-aws, CPU only: its memory is lower because it subtracts 7.5% for the hypervisor
        ("nvidia-h100", "eks", "p5.48xlarge", 191450, 2047),
        ("nvidia-a100-40gb", "eks", "p4d.24xlarge", 95690, 1151),
    ],
)
def test_amounts_left_for_pods_are_as_measured(
    name: str, cloud: str, machine: str, millicores: int, gib: int
) -> None:
    (shape,) = (shape for shape in MACHINES[name][cloud] if shape.name == machine)
    cpu, memory = left_for_pods(shape, cloud)
    assert cpu == pytest.approx(millicores, abs=10)
    assert memory / 1024 == pytest.approx(gib, abs=1)


def test_the_catalog_is_as_recorded() -> None:
    name = "hardware/catalogue.txt"
    assert RECORDINGS[name]() == recorded(name), AGAIN


@pytest.mark.parametrize(
    ("cloud", "machine", "least"),
    [
        ("eks", "g5.8xlarge", 118302),  # aws/aws-k8s-tester#471 measured 124474
        ("eks", "g6.4xlarge", 58172),
    ],
)
def test_the_least_memory_is_at_most_what_is_left_for_pods(
    cloud: str, machine: str, least: int
) -> None:
    memory = least_memory(machines_by_name()[machine].machine, cloud)
    most = left_for_pods(machines_by_name()[machine].machine, cloud)[1]
    assert memory <= most
    assert abs(memory - least) < 3000


def test_only_eks_leaves_less_than_the_kubelets_formula() -> None:
    for clouds in MACHINES.values():
        for cloud, machines in clouds.items():
            for machine in machines:
                if machine.cpu and cloud != "eks":
                    assert least_memory(machine, cloud) == left_for_pods(machine, cloud)[1]


H100 = MACHINES["nvidia-h100"]["eks"]
"""p5.48xlarge with eight devices and p5.4xlarge with one."""
GIB = 1024 * MIB
DEPENDS = "depending on the hypervisor's share and the kubelet's maximum number of pods"


def _asks(**amounts: int) -> list[Ask]:
    """Return the requests for whole devices and CPUs, and for memory in GiB."""
    return [
        Ask(what, count * (GIB if what == "memory" else 10**9)) for what, count in amounts.items()
    ]


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ({"devices": 8}, []),
        ({"devices": 9}, [("devices", "p5.48xlarge", "8", None)]),
        ({"devices": 8, "cpu": 191}, []),
        ({"devices": 8, "cpu": 192}, [("cpu", "p5.48xlarge", "192 vCPUs", "at most 191450m to pods")]),
        ({"devices": 8, "cpu": 193}, [("cpu", "p5.48xlarge", "192 vCPUs", None)]),
        ({"devices": 8, "memory": 1892}, []),
        ({"devices": 8, "memory": 1893},
         [("memory", "p5.48xlarge", "2048Gi", f"1892Gi to 2047Gi to pods, {DEPENDS}")]),
        ({"devices": 8, "memory": 2048}, [("memory", "p5.48xlarge", "2048Gi", "at most 2047Gi to pods")]),
        ({"devices": 8, "memory": 2049}, [("memory", "p5.48xlarge", "2048Gi", None)]),
        ({"devices": 8, "efa": 32}, []),
        ({"devices": 8, "efa": 33}, [("efa", "p5.48xlarge", "32", None)]),
        ({"devices": 1, "cpu": 17}, []),  # on the larger machine
        # each amount once, and the kubelet's share only where all amounts fit without it
        ({"devices": 9, "cpu": 192}, [("devices", "p5.48xlarge", "8", None)]),
        ({"devices": 9, "cpu": 300},
         [("devices", "p5.48xlarge", "8", None), ("cpu", "p5.48xlarge", "192 vCPUs", None)]),
    ],
)  # fmt: skip
def test_amounts_that_no_machine_has_are_misfits(
    amounts: dict[str, int], expected: list[tuple[str, str, str, str | None]]
) -> None:
    unfit = misfits(_asks(**amounts), H100, "eks")
    assert [(misfit.ask.what, *misfit[1:]) for misfit in unfit] == expected


def test_a_machine_of_unknown_size_fits_everything() -> None:
    machine = Machine("m", 4, 0, 0, {})
    assert list(misfits(_asks(devices=4, cpu=10**6, memory=10**6), (machine,), "eks")) == []
    assert (
        allocatable(machine, "cpu", "eks")
        == guaranteed_amount(machine, "memory", "eks")
        == 2**63 * 10**9
    )
    assert [misfit.has for misfit in misfits(_asks(devices=5), (machine,), "eks")] == ["4"]


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ({"devices": 8}, None),  # the whole machine
        ({"devices": 1, "cpu": 8}, None),  # the whole smaller machine
        ({"devices": 2, "cpu": 8}, ("p5.48xlarge", 8, 4)),
        ({"devices": 2, "cpu": 90}, ("p5.48xlarge", 8, 2)),
        ({"devices": 2, "cpu": 96}, ("p5.48xlarge", 8, 1)),
        ({"devices": 2, "memory": 0}, ("p5.48xlarge", 8, 4)),
        ({"devices": 1, "cpu": 17}, ("p5.48xlarge", 8, 8)),
        ({"devices": 0, "cpu": 17}, None),
        ({"cpu": 17}, None),
        ({"devices": 2, "cpu": 192}, None),  # fits no machine
    ],
)
def test_the_smallest_machine_that_pods_share_is_found(
    amounts: dict[str, int], expected: tuple[str, int, int] | None
) -> None:
    assert find_shared_machine(_asks(**amounts), H100, "eks") == expected


def test_quantities_of_the_catalog_are_parsed() -> None:
    assert [parse_nano(text) for text in ("2", "250m", "1Gi", "x")] == [
        2 * 10**9,
        250 * 10**6,
        GIB,
        0,
    ]
