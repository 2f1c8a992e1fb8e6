"""Product names used by clouds, operators, schedulers and nvidia-smi."""

from __future__ import annotations

import pytest

from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.machines import MACHINES
from ptcompile.hardware.products import accelerators_named, fabrics_named


@pytest.mark.parametrize(
    ("product", "names"),
    [
        ("NVIDIA-H100-80GB-HBM3", "nvidia-h100"),
        ("nvidia-h100-80gb", "nvidia-h100"),
        ("nvidia-h100-mega-80gb", "nvidia-h100-mega"),
        ("nvidia-h100-nvl-94gb", "nvidia-h100-nvl"),
        ("H100 Mega, 80 GB", "nvidia-h100-mega"),
        ("H100 NVL", "nvidia-h100-nvl"),
        ("H100 94GB", "nvidia-h100-nvl"),
        ("H100 SXM5", "nvidia-h100"),
        ("L4 mega", "nvidia-l4"),
        ("L4 nvl", "nvidia-l4"),
        ("H100:8", "nvidia-h100"),
        ("gpu:a100:4", "nvidia-a100-80gb nvidia-a100-40gb"),
        ("A100-SXM4-40GB", "nvidia-a100-40gb"),
        ("Tesla T4", "nvidia-t4"),
        ("p5.48xlarge", "nvidia-h100"),
        ("Standard_ND96isr_H100_v5", "nvidia-h100"),
        ("a3-highgpu-8g", "nvidia-h100"),
        ("a3-megagpu-8g", "nvidia-h100-mega"),
        ("ct5lp-hightpu-4t", "google-tpu-v5e"),
        ("tpu-v6e-slice", "google-tpu-v6e"),
        ("mi325", "amd-mi325x"),
        ("RTX PRO 6000 Blackwell", "nvidia-rtx-pro-6000"),
        ("nvidia-gh200", ""),
        ("rtx-4090", ""),
        ("MI250X", ""),
        ("gpu", ""),
        ("", ""),
    ],
)
def test_a_product_s_name_means_its_accelerators(product: str, names: str) -> None:
    assert accelerators_named(product) == tuple(names.split())


@pytest.mark.parametrize("name", ROWS)
def test_each_accelerator_is_found_by_its_labels_and_machines(name: str) -> None:
    values = {value for of_cloud in ROWS[name].nodes.values() for value in of_cloud}
    machines = {machine.name for types in MACHINES.get(name, {}).values() for machine in types}
    assert all(name in accelerators_named(value) for value in values | machines)


@pytest.mark.parametrize(
    ("word", "names"),
    [("gpudirect", "tcpx tcpxo gib"), ("tcp-xo", "tcpxo"), ("imex", "nvlink-domain"), ("srd", "efa"),
     ("rdma", "infiniband roce rdma-vf"), ("banana", "")],
)  # fmt: skip
def test_a_word_means_its_fabrics(word: str, names: str) -> None:
    assert fabrics_named(word) == tuple(names.split())
