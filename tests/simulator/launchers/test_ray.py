"""`ray start`: its options, and the address at which a node joins."""

from __future__ import annotations

import pytest

from ptcompile.simulator.launchers.ray import cluster_address, is_head, parse_ray_start


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["--head", "--port=6380"], {"head": "1", "port": "6380"}),
        (["--head", "6380"], {"head": "1"}),
        (["--address", "head:6379", "--block"], {"address": "head:6379", "block": "1"}),
        (["--num_gpus", "8", "--address"], {"num-gpus": "8", "address": "1"}),
        (["--num-gpus", "--block"], {"num-gpus": "1", "block": "1"}),
        (["x", "--labels=a=b", "-v"], {"labels": "a=b"}),
    ],
)
def test_options_of_ray_start_are_parsed(arguments: list[str], options: dict[str, str]) -> None:
    assert parse_ray_start(arguments) == options


@pytest.mark.parametrize(
    ("options", "env", "address"),
    [
        ({"head": "1", "address": "a:1"}, {"RAY_ADDRESS": "b:2"}, ""),
        ({"address": "a:1"}, {"RAY_ADDRESS": "b:2"}, "a:1"),
        ({"address": "a"}, {}, "a:6379"),
        ({}, {"RAY_ADDRESS": "b"}, "b:6379"),
        ({}, {}, ""),
    ],
)
def test_options_and_variables_give_the_address_of_the_cluster(
    options: dict[str, str], env: dict[str, str], address: str
) -> None:
    assert cluster_address(options, env) == address
    assert is_head(options) is ("head" in options)
