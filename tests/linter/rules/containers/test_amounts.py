"""Amounts whose unit or rounding has a surprising effect."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, container, fires, problems_of


def _limits(**amounts: object) -> Json:
    return container(resources={"limits": amounts})


@pytest.mark.parametrize(
    ("rule", "limits", "expected"),
    [
        ("fractional-bytes", {"memory": "512m"}, True),
        ("fractional-bytes", {"memory": 0.5}, True),
        ("fractional-bytes", {"ephemeral-storage": "10m"}, True),
        (
            "fractional-bytes",
            {"memory": "128974848000m"},
            False,
        ),  # whole, from Kubernetes' own documents
        ("fractional-bytes", {"memory": "0.1Gi"}, False),  # rounded up by less than a byte
        ("fractional-bytes", {"cpu": "512m"}, False),
        ("tiny-memory-limit", {"memory": 64}, True),
        ("tiny-memory-limit", {"memory": "64k"}, True),
        ("tiny-memory-limit", {"memory": "4Mi"}, False),
        ("tiny-memory-limit", {"memory": 0}, False),  # no limit
        ("tiny-memory-limit", {"memory": "512m"}, False),  # reported by the other rule
        ("larger-than-any-node", {"nvidia.com/gpu": 17}, True),
        ("larger-than-any-node", {"nvidia.com/gpu": "16"}, False),
        ("larger-than-any-node", {"google.com/tpu": 256}, False),
        ("larger-than-any-node", {"cpu": 4000}, True),
        ("larger-than-any-node", {"cpu": "192"}, False),
        ("larger-than-any-node", {"memory": "64Ti"}, True),
        ("fewer-cpus-than-gpus", {"cpu": "500m", "nvidia.com/gpu": 1}, True),
        ("fewer-cpus-than-gpus", {"cpu": 8, "nvidia.com/gpu": 8}, False),
        ("fewer-cpus-than-gpus", {"nvidia.com/gpu": 8}, False),
        ("fewer-cpus-than-gpus", {"cpu": "500m", "nvidia.com/mig-1g.5gb": 1}, False),
        ("misspelt-resource", {"nvidia.com/gpus": 1}, True),
        ("misspelt-resource", {"nvidia.com/GPU": 1}, True),
        ("misspelt-resource", {"nvidia/gpu": 1}, True),
        ("misspelt-resource", {"nvidia.com/mig1g.5gb": 1}, True),
        ("misspelt-resource", {"nvidia.com/gpu": 1}, False),
        ("misspelt-resource", {"nvidia.com/gpu.shared": 1}, False),
        ("misspelt-resource", {"nvidia.com/gpumem": 1}, False),  # HAMi's
        ("misspelt-resource", {"volcano.sh/vgpu-number": 1}, False),
        ("misspelt-resource", {"rdma/hca": 1, "vpc.amazonaws.com/efa": 4}, False),
    ],
)
def test_each_rule_fires_on_its_limits(rule: str, limits: Json, expected: bool) -> None:
    assert fires(rule, _limits(**limits)) is expected


@pytest.mark.parametrize(
    ("requests", "limits", "expected"),
    [
        ({"memory": 64}, {}, True),
        ({"memory": "512m"}, {}, True),
        ({"memory": 64}, {"memory": "64Gi"}, True),
        ({"memory": 64}, {"memory": 64}, False),  # reported for the limit
        ({"memory": "4Mi"}, {}, False),
        ({"memory": 0}, {}, False),
    ],
)
def test_tiny_memory_requests_are_reported(requests: Json, limits: Json, expected: bool) -> None:
    manifest = container(resources={"requests": requests, "limits": limits})
    assert fires("tiny-memory-request", manifest) is expected


def test_both_halves_are_renamed() -> None:
    amounts = {"nvidia.com/gpus": 1}
    (problem,) = problems_of(
        "misspelt-resource", container(resources={"limits": amounts, "requests": amounts})
    )
    assert problem.fix is not None
    assert [edit.path[-2] for edit in problem.fix.edits] == ["limits", "requests"]


@pytest.mark.parametrize(
    ("gpus", "value", "expected"),
    [
        (8, "0,1,2,3,4,5,6,7", False),
        (8, "0", True),
        (1, "1", True),
        (2, "0,2", True),
        (2, "GPU-8932f937", False),
        (2, "", True),
        (2, "-1", True),
        (2, "NoDevFiles", True),
        (2, "$(DEVICES)", False),
        (2, "²", False),
        (0, "0", False),
    ],
)
def test_visible_devices_must_match_the_gpus(gpus: int, value: str, expected: bool) -> None:
    env = [{"name": "CUDA_VISIBLE_DEVICES", "value": value}]
    limits = {"nvidia.com/gpu": gpus} if gpus else {}
    assert (
        fires("cuda-visible-devices", container(env=env, resources={"limits": limits})) is expected
    )


@pytest.mark.parametrize(
    ("gpus", "value", "expected"),
    [
        (0, "all", True),
        (1, "all", True),
        (1, "none", True),
        (0, "none", False),
        (0, "", False),
        (1, "$(X)", False),
    ],
)
def test_nvidia_visible_devices_must_agree_with_the_gpus(
    gpus: int, value: str, expected: bool
) -> None:
    env = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}]
    limits = {"nvidia.com/gpu": gpus} if gpus else {}
    assert (
        fires("nvidia-visible-devices", container(env=env, resources={"limits": limits}))
        is expected
    )
