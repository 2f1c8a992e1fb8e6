"""TrainJobs as import reads them: over an installed runtime, with their own one, or merged for other operators."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.reading import Read
from ptcompile.kubernetes.index import Objects
from ptcompile.operators.trainer.read import read, read_with_runtime
from ptcompile.operators.trainer.runtimes import find_runtime, node_count, nproc_per_node
from tests.linter.manifests import Json, replicated, runtime, trainjob

RUNTIME_PATH = ("spec", "template", "spec", "replicatedJobs")


def _own(*others: Json, **spec: Any) -> Json:
    """Return a runtime with a node and other replicatedJobs."""
    manifest = runtime(**spec)
    manifest["spec"]["template"]["spec"]["replicatedJobs"] += others
    return manifest


def _readings(job: Json, *others: Json) -> list[Read]:
    return [reading for reading in read(job, Objects(others)) if reading.pods]


def test_a_job_over_an_installed_runtime_is_its_nodes_or_refers_to_it() -> None:
    whole, over = _readings(trainjob({"numNodes": 3, "numProcPerNode": 4, "image": "a:1"}))
    assert "runtimeRef" not in whole.fields
    assert over.fields["runtimeRef"] == {"name": "torch-distributed"}
    for reading in (whole, over):
        assert (reading.fields["nodes"], reading.fields["elastic"]) == (3, {"nprocPerNode": 4})
    (over,) = _readings(trainjob({"command": ["run"]}))
    assert "nodes" not in over.fields
    assert "elastic" not in over.fields
    assert len(_readings(trainjob({"image": "a:1"}, runtime="unknown"))) == 1


def test_a_job_with_its_own_runtime_has_the_runtimes_roles() -> None:
    data = replicated("data", job={"parallelism": 2, "completions": 2, "activeDeadlineSeconds": 60})
    job = trainjob({"numNodes": 3}, runtime="train")
    reading, _ = _readings(job, _own(data, name="train"))
    assert len(reading.objects) == 1
    assert [(role.role, role.replicas, role.trains, role.holder) for role in reading.pods] == [
        ("node", 3, True, 1),
        ("data", 2, False, 1),
    ]
    assert [role.path for role in reading.pods] == [
        (*RUNTIME_PATH, 0, "template", "spec", "template"),
        (*RUNTIME_PATH, 1, "template", "spec", "template"),
    ]
    assert reading.fields["nodes"] == 3
    assert len(_readings(job, _own(data, name="other"))) == 1


def test_the_node_comes_first_and_its_deadline_is_the_jobs() -> None:
    first = replicated("data", job={"activeDeadlineSeconds": 60})
    manifest = _own(name="train")
    manifest["spec"]["template"]["spec"]["replicatedJobs"].insert(0, first)
    reading, _ = _readings(trainjob({"numNodes": 3}, runtime="train"), manifest)
    assert [role.role for role in reading.pods] == ["node", "data"]
    assert reading.fields["runPolicy"] == {"activeDeadlineSeconds": 60}
    manifest["spec"]["template"]["spec"]["replicatedJobs"].pop()
    assert len(_readings(trainjob({}, runtime="train"), manifest)) == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"mlPolicy": {}}, False),
        ({"mlPolicy": {"mpi": {}}}, False),
    ],
)
def test_a_runtime_of_torch_is_merged_for_other_operators(change: Json, expected: bool) -> None:
    reading = read_with_runtime(
        trainjob({"numNodes": 2}, runtime="acme"), Objects([runtime(**change)])
    )
    assert (reading is not None) is expected


def test_only_a_runtime_with_nodes_alone_is_merged() -> None:
    job = trainjob({"numNodes": 2}, runtime="acme")
    assert read_with_runtime(job, Objects([_own(replicated("data"))])) is None
    assert read_with_runtime(trainjob({}, runtime="unknown"), Objects()) is None
    other = runtime()
    other["spec"]["template"]["spec"]["replicatedJobs"][0]["name"] = "other"
    assert read_with_runtime(job, Objects([other])) is None
    reading = read_with_runtime(job, Objects([runtime()]))
    assert reading is not None
    assert [(role.role, role.replicas) for role in reading.pods] == [("node", 2)]
    assert reading.fields["elastic"]["nprocPerNode"] == 1


def test_overrides_of_older_releases_are_merged_without_their_target() -> None:
    override = {"targetJobs": [{"name": "node"}], "nodeSelector": {"a": "b"}}
    job = trainjob({"image": "a:1"}, podSpecOverrides=[override])
    (reading, *_) = _readings(job)
    assert reading.pods[0].template["spec"]["nodeSelector"] == {"a": "b"}
    assert "targetJobs" not in reading.pods[0].template["spec"]


@pytest.mark.parametrize(
    ("trainer", "policy", "nodes"),
    [
        ({"numNodes": 3}, {"numNodes": 2}, 3),
        ({"numNodes": 0}, {"numNodes": 2}, 0),
        ({"numNodes": -1}, {}, 0),
        ({"numNodes": True}, {"numNodes": 2}, 2),
        ({}, {"numNodes": 2}, 2),
        ({}, {"numNodes": 0}, 1),
        ({}, {"numNodes": True}, 1),
        ({}, {}, 1),
    ],
)
def test_nodes_come_from_the_trainjob_or_its_runtime(
    trainer: Json, policy: Json, nodes: int
) -> None:
    assert node_count(trainjob(trainer), runtime(mlPolicy=policy)) == nodes


@pytest.mark.parametrize(
    ("trainer", "policy", "version", "processes"),
    [
        ({"numProcPerNode": 4}, None, (2, 3), "4"),
        ({"numProcPerNode": "auto"}, None, (2, 1), "auto"),
        ({}, 4, (2, 1), "4"),
        ({}, 4, (2, 2), "1"),
        ({"resourcesPerNode": {"limits": {"nvidia.com/gpu": 1}}}, None, (2, 3), "auto"),
        ({"resourcesPerNode": {"limits": {"nvidia.com/gpu": 0}}}, None, (2, 3), "1"),
        ({"resourcesPerNode": {"limits": {"cpu": "2500m"}}}, None, (2, 3), "3"),
        ({"resourcesPerNode": {"requests": {"cpu": 2}, "limits": {"cpu": 4}}}, None, (2, 3), "2"),
        ({"resourcesPerNode": {"requests": {"cpu": 0}, "limits": {"cpu": 4}}}, None, (2, 3), "4"),
        ({}, None, (2, 3), "1"),
    ],
)
def test_processes_come_from_the_trainjob_or_its_runtime(
    trainer: Json, policy: int | None, version: tuple[int, int], processes: str
) -> None:
    """docs/facts/trainer.md: what the torch plugin writes to PET_NPROC_PER_NODE."""
    torch = {} if policy is None else {"numProcPerNode": policy}
    assert (
        nproc_per_node(trainjob(trainer), runtime(mlPolicy={"torch": torch}), version) == processes
    )


CLUSTER_RUNTIME = runtime()
NAMESPACED_RUNTIME = {
    **runtime(),
    "kind": "TrainingRuntime",
    "metadata": {"name": "acme", "namespace": "ml"},
}
RUNTIMES = [NAMESPACED_RUNTIME, CLUSTER_RUNTIME]


def test_a_runtime_of_the_cluster_is_found_by_kind_and_name() -> None:
    found = find_runtime(trainjob({}, runtime="acme"), RUNTIMES)
    assert found.source == CLUSTER_RUNTIME
    assert not found.assumed


def test_a_runtime_of_a_namespace_is_found_there_alone() -> None:
    job = trainjob({}, runtime="acme")
    job["spec"]["runtimeRef"]["kind"] = "TrainingRuntime"
    assert find_runtime(job, RUNTIMES).assumed

    job["metadata"]["namespace"] = "ml"
    found = find_runtime(job, RUNTIMES)
    assert found.source == NAMESPACED_RUNTIME
    assert not found.assumed


def test_only_a_runtime_that_trainer_installs_is_known_without_a_file() -> None:
    assert find_runtime(trainjob({}, runtime="acme"), []).assumed
    assert not find_runtime(trainjob({}), []).assumed
