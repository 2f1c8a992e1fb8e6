"""Differences between two simulated worlds: pods, totals, rendezvous, and the views of rank 0 and workers."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import ptcompile
from ptcompile.differ import DiffSide, compare
from tests.conftest import PAIRS, Case, pair_name
from tests.differ.making import facts, job, only, pod
from tests.making import smallest
from tests.simulator.worlds import jobset, pytorchjob

BOTH = "rank 0 and workers"
GPUS = {"resources": {"limits": {"nvidia.com/gpu": 8, "memory": "64Gi"}}}


def test_more_pods_change_the_totals() -> None:
    change = only(job(GPUS), job(GPUS, pods=4))
    assert [tuple(fact)[:4] for fact in change.facts] == [
        ("job", "pods", "2", "4"),
        ("job", "processes", "2", "4"),
        ("job", "nvidia.com/gpu in all", "16", "32"),
        ("job", "memory in all", "128Gi", "256Gi"),
    ]
    assert only(job(GPUS), job(GPUS, suspend=True)).same[0] == "2 pods"


def test_pods_of_equal_objects_are_compared_only_to_be_shown() -> None:
    side = DiffSide([job(GPUS)])
    (shown,) = compare(side, side)
    (unshown,) = compare(side, side, masks=False)
    assert shown.same
    assert unshown.same == ()
    assert unshown == shown._replace(same=())


def test_the_order_of_variables_that_name_each_other_is_compared_without_masks() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}]
    before, after = (DiffSide([job({"env": each})]) for each in (env, env[::-1]))
    (difference,) = compare(before, after, masks=False)
    assert any(fact.what == "env B" for fact in difference.facts), difference


def test_a_rendezvous_that_fails_on_one_side_is_told_with_its_code() -> None:
    container = {"command": ["torchrun", "--nnodes=2", "train.py"]}
    two, four, five = (pytorchjob(workers, container=container) for workers in (1, 3, 4))
    sentence = "4 pods join a rendezvous of at most 2 nodes: 2 of them wait outside (PTC407)"
    assert ("job", "rendezvous fails", None, sentence) in facts(two, four)
    assert ("job", "rendezvous fails", sentence, None) in facts(four, two)
    assert "rendezvous fails" not in {what for _, what, *_ in facts(four, five)}


def test_amounts_are_compared_as_amounts() -> None:
    half = {"resources": {"limits": {"nvidia.com/gpu": "8", "memory": "65536Mi"}}}
    assert facts(job(GPUS), job(half)) == []
    assert only(job(GPUS), job(half, suspend=True)).same[-2:] == (
        "16 nvidia.com/gpu",
        "128Gi memory",
    )


ROWS: list[tuple[dict[str, Any], dict[str, Any], tuple[str, str, str | None, str | None]]] = [
    (
        {"env": [{"name": "A", "value": "1"}]},
        {"env": [{"name": "A", "value": "2"}]},
        (BOTH, "env A", "1", "2"),
    ),
    ({}, {"env": [{"name": "A", "value": ""}]}, (BOTH, "env A", None, "")),
    ({"env": [{"name": "A", "value": "1"}]}, {}, (BOTH, "env A", "1", None)),
    ({"image": "i:1"}, {"image": "i:2"}, (BOTH, "image", "i:1", "i:2")),
    ({"command": ["a", "b"]}, {"command": ["a", "c d"]}, (BOTH, "command", "b", "'c d'")),
    ({"command": ["a"]}, {"command": ["a", "b"]}, (BOTH, "command", None, "b")),
    ({"envFrom": [{"secretRef": {"name": "s"}}]}, {}, (BOTH, "env from", "secret:s", None)),
]


@pytest.mark.parametrize(("old", "other", "expected"), ROWS, ids=[str(row[2]) for row in ROWS])
def test_a_difference_in_every_pod_is_reported_once(
    old: dict[str, Any], other: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert facts(job(old), job(other)) == [expected]


def test_variables_for_torchrun_alone_do_not_matter_if_it_reads_the_same_settings() -> None:
    flags = {"command": ["torchrun", "--nproc-per-node=8", "train.py"]}
    by_flag, other = pytorchjob(container=flags, nprocPerNode="4"), pytorchjob(container=flags)
    assert facts(by_flag, other) == []
    plain = {"command": ["python", "train.py"]}
    names = {
        what
        for _, what, *_ in facts(
            pytorchjob(container=plain, nprocPerNode="4"), pytorchjob(container=plain)
        )
    }
    assert {"env WORLD_SIZE", "env PET_NPROC_PER_NODE"} <= names


def test_a_difference_names_rank_0_or_the_workers() -> None:
    old = pytorchjob()
    other = copy.deepcopy(old)
    replicas = other["spec"]["pytorchReplicaSpecs"]
    replicas["Worker"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "NCCL_DEBUG", "value": "WARN"}
    ]
    assert facts(old, other) == [("workers", "env NCCL_DEBUG", "INFO", "WARN")]
    replicas["Worker"] = old["spec"]["pytorchReplicaSpecs"]["Worker"]
    replicas["Master"]["template"]["spec"]["nodeSelector"] = {"zone": "a"}
    assert facts(old, other) == [("rank 0", "node", None, "zone is a")]


def test_an_auxiliary_role_is_compared_by_its_name() -> None:
    old = jobset(["torchrun", "t.py"])
    beside = copy.deepcopy(old["spec"]["replicatedJobs"][0])
    beside["name"] = "loader"
    beside["template"]["spec"]["template"]["spec"]["containers"][0]["command"] = ["load"]
    old["spec"]["replicatedJobs"].append(beside)
    other = copy.deepcopy(old)
    container = other["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"][
        "containers"
    ][0]
    container["image"] = "new"
    assert facts(old, other) == [("role loader", "image", "i", "new")]
    del other["spec"]["replicatedJobs"][1]
    assert ("role loader", "pods", "there", None) in facts(old, other)


def test_a_changed_backoff_limit_changes_what_a_failure_does() -> None:
    reported = facts(job(), job(backoffLimit=0))
    assert [(what, bool(before), bool(after)) for _, what, before, after in reported] == [
        ("on failure", True, False),
        ("on failure", False, True),
    ]


def test_secrets_are_hidden_everywhere() -> None:
    def env(value: str) -> dict[str, Any]:
        entries = [
            {"name": "DB_PASSWORD", "value": value},
            {"name": "URL", "value": "db://$(DB_PASSWORD)@host"},
        ]
        return {"env": entries, "command": ["run", "--url=$(URL)"]}

    difference = ptcompile.diff(job(env("hunter22")), job(env("correct horse")))
    assert [tuple(fact)[:4] for fact in difference.objects[0].facts] == [
        (BOTH, "env DB_PASSWORD", "***", "***"),
        (BOTH, "env URL", "db://***@host", "db://***@host"),
    ]
    shown = difference.text() + difference.markdown() + str(difference.to_dict())
    assert "hunter22" not in shown
    assert "horse" not in shown
    assert "values hidden" in shown


def test_a_secret_that_looks_like_a_reference_is_hidden_and_a_reference_is_not() -> None:
    def env(entry: dict[str, Any]) -> dict[str, Any]:
        return {"env": [{"name": "API_KEY", **entry}], "command": ["run"]}

    reference = {"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    difference = ptcompile.diff(job(env({"value": "<hunter22>"})), job(env(reference)))
    assert (BOTH, "env API_KEY", "***", "<secret:s/k>") in [
        tuple(fact)[:4] for fact in difference.objects[0].facts
    ]
    assert "hunter22" not in difference.text() + difference.markdown() + str(difference.to_dict())


def test_jobs_of_two_operators_are_compared_by_their_worlds() -> None:
    spec = smallest("nodes: 3\nresources: {gpu: 8}\nenv: {A: b}")
    sides = [ptcompile.compile(spec, target=target).yaml() for target in ("pytorchjob", "jobset")]
    change = only(*sides)
    assert (change.before, change.after) == ("PyTorchJob/train", "JobSet/train")
    assert {"3 pods", "processes: 24", "started by torchrun", "24 nvidia.com/gpu"} <= set(
        change.same
    )
    facts_by_name = {fact.what: fact for fact in change.facts}
    assert facts_by_name["kind"].after == "jobset.x-k8s.io/v1alpha2 JobSet"
    assert facts_by_name["rendezvous at"].before == "train-master-0:23456"
    assert "env WORLD_SIZE" in facts_by_name
    assert "env A" not in facts_by_name
    assert change.changes == ()
    assert change.note
    assert "two operators" in change.note


@pytest.mark.parametrize(("case", "target"), PAIRS[::3], ids=pair_name)
def test_a_spec_equals_its_manifests(case: Case, target: str) -> None:
    """A spec equals its own manifests, but manifests with one changed label differ."""
    result = case.compile(target)
    if not result.ok:
        return
    there = ptcompile.diff(
        case.spec, result.yaml(), target=target, from_cluster=case.cluster, to_cluster=case.cluster
    )
    assert there.ok
    assert not there.differs, there.text()
    assert there.text() == "no difference\n"
    other = copy.deepcopy(list(result.manifests))
    other[-1]["metadata"].setdefault("labels", {})["changed"] = "yes"
    assert ptcompile.diff(result.yaml(), ptcompile.Result(tuple(other), ()).yaml()).differs


def test_standalone_pods_differ_in_their_name() -> None:
    assert facts(pod(name="a"), pod(name="b"))[:1] == [("job", "name", "a", "b")]


def test_a_whole_command_is_one_difference_if_one_side_has_none_or_both_are_long() -> None:
    assert (BOTH, "command", "run 'a b'", None) in facts(job({"command": ["run", "a b"]}), job())
    assert (BOTH, "command", None, "run") in facts(job(), job({"command": ["run"]}))
    few, many = [f"a{n}" for n in range(99)], [f"a{n}" for n in range(100)]
    assert facts(job({"command": ["run", *few]}), job({"command": ["go", *few]})) == [
        (BOTH, "command", "run", "go")
    ]
    (long,) = facts(job({"command": ["run", *many]}), job({"command": ["go", *many]}))
    assert (long[2] or "").startswith("run a0 a1 ")
    assert (long[3] or "").startswith("go a0 a1 ")


def test_each_compared_field_of_a_pod_is_one_fact() -> None:
    rows = {
        "restartPolicy": (
            pod(restartPolicy="Never"),
            pod(restartPolicy="OnFailure"),
            "Never",
            "OnFailure",
        ),
        "image": (pod(), pod({"image": "i:2"}), "i:1", "i:2"),
        "QoS class": (
            pod(),
            pod({"resources": {"limits": {"cpu": 1, "memory": 1}}}),
            "BestEffort",
            "Guaranteed",
        ),
        "limits cpu": (pod(), pod({"resources": {"limits": {"cpu": 1}}}), None, "1"),
        "requests cpu": (pod(), pod({"resources": {"requests": {"cpu": 1}}}), None, "1"),
        "volume": (
            pod(),
            pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
            None,
            None,
        ),
    }
    for what, (was, now, before, after) in rows.items():
        reported = [fact[2:] for fact in facts(was, now) if fact[1] == what]
        assert len(reported) == 1, what
        assert what == "volume" or reported == [(before, after)], what
