"""The machine table: agreement with node labels, and the amounts left for pods against published figures."""

from __future__ import annotations

import pytest

from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.machines import MACHINES, left_for_pods

PLACES = [(name, cloud) for name, clouds in MACHINES.items() for cloud in clouds]


@pytest.mark.parametrize(("name", "cloud"), PLACES)
def test_machines_match_the_nodes_of_their_row(name: str, cloud: str) -> None:
    """On clouds that select nodes by instance type, the machines are those instance types."""
    machines = MACHINES[name][cloud]
    assert cloud in ROWS[name].nodes
    assert len({one.name for one in machines}) == len(machines)
    if cloud in {"eks", "aks"}:
        assert {one.name for one in machines} == set(ROWS[name].nodes[cloud])


def test_every_instance_type_has_its_row() -> None:
    told = {(name, cloud) for name, row in ROWS.items() for cloud, nodes in row.nodes.items() if nodes}
    assert {place for place in told if place[1] in {"eks", "aks"}} <= set(PLACES)


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
def test_amounts_left_for_pods(name: str, cloud: str, machine: str, millicores: int, gib: int) -> None:
    (shape,) = (one for one in MACHINES[name][cloud] if one.name == machine)
    cpu, memory = left_for_pods(shape, cloud)
    assert cpu == pytest.approx(millicores, abs=10)
    assert memory / 1024 == pytest.approx(gib, abs=1)
