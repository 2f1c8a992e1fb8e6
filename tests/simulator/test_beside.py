"""Auxiliary pods: which pods are auxiliary, and how they count in comparisons of worlds."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ptcompile import compile
from ptcompile.simulator.as_text import overview
from ptcompile.simulator.equivalence import world_differences
from ptcompile.simulator.rendezvous import job_rendezvous
from ptcompile.simulator.world import simulate
from tests.making import smallest, text
from tests.simulator.worlds import only

ROLES = "roles: {loader: {replicas: 2, command: [serve], env: {A: '1'}, resources: {cpu: 2}}}"
TORCHRUN = smallest(f"nodes: 2\nargs: ['--data=$(LOADER_HOSTS)']\n{ROLES}")
PLAIN = text(f"image: i\ncommand: [python, train.py]\nnodes: 2\n{ROLES}")
IMAGE = text(f"image: i\nnodes: 2\n{ROLES}")
ABLE = ("volcano", "trainjob", "jobset")


def manifests(source: str, target: str) -> list[dict[str, Any]]:
    return list(copy.deepcopy(compile(source, target=target).unwrap()))


@pytest.mark.parametrize("target", ABLE)
@pytest.mark.parametrize("source", [TORCHRUN, PLAIN, IMAGE], ids=["torchrun", "plain", "image"])
def test_only_training_pods_join_the_rendezvous(source: str, target: str) -> None:
    """Volcano's plugin gives the loader the master's address and the world size, but no rank.

    Source: docs/facts/volcano.md#cases C7.
    """
    job = only(simulate(manifests(source, target)))
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    assert "loader" not in [role.name for role, _ in rendezvous.roles]
    assert (rendezvous.nodes, rendezvous.notes[1:]) == (2, ())
    assert job.size == 4


@pytest.mark.parametrize("target", ABLE)
def test_the_overview_shows_auxiliary_pods_without_a_rank(target: str) -> None:
    lines = overview(simulate(manifests(TORCHRUN, target))).splitlines()
    rows = [
        line.split()
        for line in lines
        if line.strip().startswith("train-loader") and "svc.cluster.local" in line
    ]
    assert [row[3] for row in rows] == ["none", "none"]
    assert any(line.strip() == "loader: serve" for line in lines)


def test_a_standalone_launch_is_auxiliary_if_another_role_has_a_rendezvous() -> None:
    """A role that serves a model with torchrun --standalone is auxiliary."""
    source = TORCHRUN.replace("command: [serve]", "command: [torchrun, --standalone, serve.py]")
    for target in ABLE:
        rendezvous = job_rendezvous(only(simulate(manifests(source, target))))
        assert rendezvous is not None
        assert (rendezvous.nodes, rendezvous.notes) == (2, ())


@pytest.mark.parametrize("source", [TORCHRUN, PLAIN, IMAGE], ids=["torchrun", "plain", "image"])
def test_the_three_targets_have_the_same_world(source: str) -> None:
    worlds = [simulate(manifests(source, target)) for target in ABLE]
    assert [world_differences(worlds[0], world) for world in worlds] == [[], [], []]


CHANGES: dict[str, dict[str, Any]] = {
    "runs": {"command": ["other"]},
    "image": {"image": "other"},
    "limits": {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}}},
    "env A": {"env": [{"name": "A", "value": "2"}]},
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_difference_between_auxiliary_pods_is_reported(change: str) -> None:
    changed = manifests(TORCHRUN, "jobset")
    loader = changed[0]["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]
    loader["containers"][0] |= CHANGES[change]
    differences = world_differences(simulate(manifests(TORCHRUN, "volcano")), simulate(changed))
    assert any(change in difference for difference in differences), differences
    assert all("loader" in difference for difference in differences), differences


def test_another_number_of_auxiliary_pods_is_reported() -> None:
    changed = TORCHRUN.replace("replicas: 2", "replicas: 3")
    differences = world_differences(
        simulate(manifests(TORCHRUN, "volcano")), simulate(manifests(changed, "jobset"))
    )
    assert differences == ["pods that do not train: {'loader': 2} and {'loader': 3}"]


def test_a_host_name_of_another_pod_is_reported() -> None:
    """Host names differ between operators, so they are compared by the pods they resolve to."""
    changed = manifests(TORCHRUN, "jobset")
    node = changed[0]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"][
        "containers"
    ][0]
    (entry,) = (item for item in node["env"] if item["name"] == "LOADER_HOSTS")
    entry["value"] = ",".join(reversed(entry["value"].split(",")))
    differences = world_differences(simulate(manifests(TORCHRUN, "volcano")), simulate(changed))
    assert any("env LOADER_HOSTS" in difference for difference in differences), differences


@pytest.mark.parametrize("target", ["volcano", "trainjob"])
def test_the_gang_counts_auxiliary_pods(target: str) -> None:
    """Training pods that start without their data loader would hold GPUs and wait."""
    queues = {"kind": "ClusterProfile", "spec": {"queueSystem": "volcano"}}
    manifests_with_queue = compile(
        f"{TORCHRUN}  queue: q\n", target=target, cluster=queues
    ).unwrap()
    assert only(simulate(list(manifests_with_queue))).pod_group["minMember"] == 4
