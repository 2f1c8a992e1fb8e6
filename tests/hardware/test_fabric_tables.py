"""Which machines have which fabric, and the words about them."""

from __future__ import annotations

import pytest

from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.fabric_machines import (
    accelerators_with,
    fabrics_in,
    fabrics_of,
    is_counted,
    machines_with,
    shorten,
    without_fabric,
)
from ptcompile.hardware.nodes import CLIQUE, LEVELS, nvlink_domain


@pytest.mark.parametrize(
    ("fabric", "cloud", "expected"),
    [
        ("efa", "eks", True),
        ("tcpxo", "gke", True),
        ("infiniband", "aks", True),
        ("roce", "gke", True),
        ("roce", "oke", False),  # every bare-metal GPU shape has it
        ("infiniband", "oke", True),
        ("nvlink-domain", "gke", False),
        ("no-such-fabric", "eks", False),
    ],
)
def test_the_table_of_machines_decides_about_some_fabrics(
    fabric: str, cloud: str, expected: bool
) -> None:
    assert is_counted(fabric, cloud) is expected


@pytest.mark.parametrize(
    ("machines", "fabrics"),
    [
        (["p5.48xlarge"], ["efa"]),
        (["p5.48xlarge", "no-such-machine"], ["efa"]),
        (["no-such-machine"], []),
        ([], []),
    ],
)
def test_machines_have_their_fabrics(machines: list[str], fabrics: list[str]) -> None:
    assert fabrics_of(machines) == fabrics


def test_a_fabric_has_its_accelerators_in_each_cloud() -> None:
    assert "nvidia-h100" in accelerators_with("efa", "eks")
    assert "google-tpu-v5e" not in accelerators_with("efa", "eks")
    assert accelerators_with("efa", "gke") == []
    assert fabrics_in("eks") == ["efa"]


@pytest.mark.parametrize(
    ("accelerator", "cloud", "known"),
    [
        ("nvidia-h100", "eks", True),
        ("nvidia-h100/1g.10gb", "eks", True),
        ("nvidia-t4", "gke", True),
        ("google-tpu-v5e", "eks", False),
        ("no-such-accelerator", "eks", False),
    ],
)
def test_machines_are_known_for_an_accelerator_in_its_clouds(
    accelerator: str, cloud: str, known: bool
) -> None:
    assert (machines_with(accelerator, cloud) is not None) is known


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "a0"),
        (4, "a0, a1, a2, a3"),
        (5, "a0, a1, a2, a3 and 1 more"),
        (7, "a0, a1, a2, a3 and 3 more"),
    ],
)
def test_long_lists_are_shortened(count: int, text: str) -> None:
    assert shorten([f"a{i}" for i in range(count)]) == text


def test_a_machine_without_a_fabric_is_told_what_has_it() -> None:
    assert without_fabric("efa", "gke", "a", []) == "a has no fabric"
    assert without_fabric("efa", "gke", "a", ["tcpx", "tcpxo"]) == "a has tcpx and tcpxo, not efa"
    assert without_fabric("efa", "eks", "a", []).startswith("a has no fabric; efa comes with ")


def test_each_cloud_has_its_label_of_an_nvlink_domain() -> None:
    assert nvlink_domain("gke") == LEVELS["gke"]["subblock"]
    assert {nvlink_domain(cloud) for cloud in ("eks", "aks", None)} == {CLIQUE}


def test_topologies_of_a_torus_are_cubes_in_order() -> None:
    """https://cloud.google.com/tpu/docs/v4: AxBxC with A<=B<=C, in multiples of 4."""
    topologies = ROWS["google-tpu-v4"].slices
    assert topologies[:4] == ("2x2x1", "2x2x2", "2x2x4", "2x4x4")
    assert {"4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x16", "8x16x16"} <= set(topologies)
    sizes = [tuple(map(int, topology.split("x"))) for topology in topologies[4:]]
    assert all(list(size) == sorted(size) and not any(side % 4 for side in size) for size in sizes)
    volumes = [a * b * c for a, b, c in sizes]
    assert volumes == sorted(volumes)
    assert len(sizes) == len(set(sizes))
