"""Every target produces the same world (CONTRIBUTING.md#laws, 5)."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from ptcompile.simulator.equivalence import world_differences
from ptcompile.simulator.world import World, simulate
from tests.simulator.worlds import GOLDEN, golden, pod_of, pytorchjob, volcano


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_every_target_has_the_same_world(path: Path) -> None:
    world = golden(path)
    if not world.jobs:
        assert world.diagnostics
    worlds = [World((job,)) for job in world.jobs]
    assert [world_differences(worlds[0], other) for other in worlds[1:]] == [[]] * (
        len(worlds) - 1 if worlds else 0
    )


OTHER_WORKER: dict[str, dict[str, Any]] = {
    "env": {"env": [{"name": "NCCL_DEBUG", "value": "WARN"}]},
    "runs": {"command": ["torchrun", "other.py"]},
    "limits": {"resources": {"limits": {"nvidia.com/gpu": 4}}},
    "image": {"image": "other"},
}
OTHER_LINE: dict[str, str] = {
    "nothing answers": "--master-addr=gone",
    "ranks": "--node-rank=0",
    "max-restarts": "--max-restarts=2",
    "processes": "--nproc-per-node=4",
    "nodes": "--nnodes=3:4",
}


@pytest.mark.parametrize("change", list(OTHER_WORKER))
def test_a_difference_between_pods_is_reported(change: str) -> None:
    changed = copy.deepcopy(pytorchjob())
    changed["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0] |= (
        OTHER_WORKER[change]
    )
    differences = world_differences(simulate([pytorchjob()]), simulate([changed]))
    assert differences
    assert all(
        change in difference
        for difference in differences
        if "limits" not in difference and "requests" not in difference
    ), differences
    assert all("worker" in difference for difference in differences), differences


@pytest.mark.parametrize("change", list(OTHER_LINE))
def test_a_difference_in_the_rendezvous_is_reported(change: str) -> None:
    changed = pytorchjob(container={"command": ["torchrun", OTHER_LINE[change], "train.py"]})
    differences = world_differences(simulate([pytorchjob()]), simulate([changed]))
    assert any(change in difference for difference in differences), differences


def test_another_number_of_pods_is_reported() -> None:
    assert any(
        "training pods: 4 and 5" in difference
        for difference in world_differences(simulate([pytorchjob()]), simulate([pytorchjob(4)]))
    )


def test_a_world_is_the_same_as_itself() -> None:
    for manifest in (pytorchjob(), volcano(), pod_of({"command": ["python", "t.py"]})):
        assert world_differences(simulate([manifest]), simulate([copy.deepcopy(manifest)])) == []


def test_a_rejected_job_is_a_difference() -> None:
    rejected = pytorchjob(elasticPolicy={"rdzvConf": []})
    assert world_differences(simulate([pytorchjob()]), simulate([rejected])) == [
        "PyTorchJob/llama makes no pods"
    ]
