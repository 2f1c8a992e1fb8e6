"""Auxiliary pods: which pods are auxiliary, and how they count in comparisons of worlds."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ptcompile import compile
from ptcompile.simulator.as_text import overview
from ptcompile.simulator.equivalence import world_differences
from ptcompile.simulator.meeting import job_rendezvous
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
def test_the_trainers_alone_meet(source: str, target: str) -> None:
    """Volcano's plugin gives the loader the master's address and the world size, but no rank.

    Source: docs/facts/volcano.md#cases C7.
    """
    job = only(simulate(manifests(source, target)))
    found = job_rendezvous(job)
    assert found is not None
    assert "loader" not in [role.name for role, _ in found.roles]
    assert (found.nodes, found.notes[1:]) == (2, ())
    assert job.size == 4


@pytest.mark.parametrize("target", ABLE)
def test_the_overview_shows_their_pods_without_a_rank(target: str) -> None:
    shown = overview(simulate(manifests(TORCHRUN, target))).splitlines()
    rows = [line.split() for line in shown if line.strip().startswith("train-loader") and "svc.cluster.local" in line]
    assert [row[3] for row in rows] == ["none", "none"]
    assert any(line.strip() == "loader: serve" for line in shown)


def test_a_launch_that_meets_nobody_is_no_trainer_next_to_one_that_does() -> None:
    """A role that serves a model with torchrun --standalone is auxiliary."""
    source = TORCHRUN.replace("command: [serve]", "command: [torchrun, --standalone, serve.py]")
    for target in ABLE:
        found = job_rendezvous(only(simulate(manifests(source, target))))
        assert found is not None
        assert (found.nodes, found.notes) == (2, ())


@pytest.mark.parametrize("source", [TORCHRUN, PLAIN, IMAGE], ids=["torchrun", "plain", "image"])
def test_the_same_world_on_the_three_targets(source: str) -> None:
    worlds = [simulate(manifests(source, target)) for target in ABLE]
    assert [world_differences(worlds[0], other) for other in worlds] == [[], [], []]


CHANGES: dict[str, dict[str, Any]] = {
    "runs": {"command": ["other"]},
    "image": {"image": "other"},
    "limits": {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}}},
    "env A": {"env": [{"name": "A", "value": "2"}]},
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_a_difference_between_their_pods_is_seen(change: str) -> None:
    other = manifests(TORCHRUN, "jobset")
    loader = other[0]["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]
    loader["containers"][0] |= CHANGES[change]
    said = world_differences(simulate(manifests(TORCHRUN, "volcano")), simulate(other))
    assert any(change in one for one in said), said
    assert all("loader" in one for one in said), said


def test_another_number_of_their_pods_is_seen() -> None:
    other = TORCHRUN.replace("replicas: 2", "replicas: 3")
    said = world_differences(simulate(manifests(TORCHRUN, "volcano")), simulate(manifests(other, "jobset")))
    assert said == ["pods that do not train: {'loader': 2} and {'loader': 3}"]


def test_a_name_of_another_pod_is_seen() -> None:
    """Host names differ between operators, so they are compared by the pods they resolve to."""
    other = manifests(TORCHRUN, "jobset")
    node = other[0]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    (entry,) = (one for one in node["env"] if one["name"] == "LOADER_HOSTS")
    entry["value"] = ",".join(reversed(entry["value"].split(",")))
    said = world_differences(simulate(manifests(TORCHRUN, "volcano")), simulate(other))
    assert any("env LOADER_HOSTS" in one for one in said), said


@pytest.mark.parametrize("target", ["volcano", "trainjob"])
def test_the_gang_counts_them(target: str) -> None:
    """Training pods that start without their data loader would hold GPUs and wait."""
    queues = {"kind": "ClusterProfile", "spec": {"queueSystem": "volcano"}}
    made = compile(f"{TORCHRUN}  queue: q\n", target=target, cluster=queues).unwrap()
    assert only(simulate(list(made))).pod_group["minMember"] == 4
