"""Pods, environment and JobSet that Trainer 2.3 creates for a TrainJob.

Source: docs/facts/trainer.md#cases, #environment, #number-of-processes, #what-is-built, #gangs, #built-in-runtimes.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.pods import main_container_of
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.table import expand
from ptcompile.operators.trainer.pods import describe_failures
from ptcompile.simulator.job import job_of
from tests.operators.making import (
    Json,
    container,
    env,
    node,
    pods,
    ports,
    replicated,
    runtime,
    trainjob,
)


def made(policy: Json | None, trainer: Json | None, *jobs: Json, **spec: Any) -> dict[str, Any]:
    job = trainjob("mine", **spec)
    if trainer is not None:
        job["spec"]["trainer"] = trainer
    return pods(job, related=[runtime(policy, *jobs)])


def test_torch_sets_its_variables_and_port() -> None:
    """Case 35 of docs/facts/trainer.md#cases."""
    pod = made({"torch": {}}, {"numNodes": 2})["trainJob-node-0-0"]
    variables = env(pod)
    assert variables == {
        "PET_NNODES": "2",
        "PET_NPROC_PER_NODE": "1",
        "PET_NODE_RANK": "$(metadata.annotations['batch.kubernetes.io/job-completion-index'])",
        "PET_MASTER_ADDR": "trainJob-node-0-0.trainJob",
        "PET_MASTER_PORT": "29500",
        "JOB_COMPLETION_INDEX": "$(metadata.labels['batch.kubernetes.io/job-completion-index'])",
    }
    assert ports(pod) == [("", 29500)]


@pytest.mark.parametrize(
    ("trainer", "expected"),
    [
        pytest.param({"resourcesPerNode": {"requests": {"cpu": "4"}}}, "4", id="case 36"),
        pytest.param({}, "1", id="case 37"),
        pytest.param({"resourcesPerNode": {"limits": {"cpu": 2}}}, "2", id="case 38: 2"),
        pytest.param({"resourcesPerNode": {"limits": {"cpu": "3"}}}, "3", id="case 38: 3"),
        pytest.param({"resourcesPerNode": {"limits": {"cpu": "2.5"}}}, "3", id="case 38: 2.5"),
        pytest.param({"resourcesPerNode": {"limits": {"cpu": "2500m"}}}, "3", id="case 38: 2500m"),
        pytest.param({"resourcesPerNode": {"limits": {"cpu": "3.7"}}}, "4", id="case 38: 3.7"),
        pytest.param({"resourcesPerNode": {"limits": {"cpu": "0.7"}}}, "1", id="case 38: 0.7"),
        pytest.param(
            {"resourcesPerNode": {"limits": {"example.com/gpu": 2}}}, "auto", id="case 39"
        ),
        pytest.param(
            {"resourcesPerNode": {"requests": {"cpu": 6, "example.com/gpu": 2}}},
            "auto",
            id="case 40",
        ),
        pytest.param(
            {"resourcesPerNode": {"requests": {"cpu": 8}}, "numProcPerNode": 3}, "3", id="case 41"
        ),
    ],
)
def test_processes_are_counted_from_the_resources(trainer: Json, expected: str) -> None:
    """Cases 36 to 41 of docs/facts/trainer.md#cases."""
    assert env(made({"torch": {}}, trainer)["trainJob-node-0-0"])["PET_NPROC_PER_NODE"] == expected


def test_resources_are_not_merged_to_count_processes() -> None:
    """Source: docs/facts/trainer.md#number-of-processes."""
    gpu = node(resources={"limits": {"nvidia.com/gpu": 8}})
    found = made({"torch": {}}, {"resourcesPerNode": {"limits": {"memory": "64Gi"}}}, gpu)[
        "trainJob-node-0-0"
    ]
    assert env(found)["PET_NPROC_PER_NODE"] == "1"
    assert env(made({"torch": {}}, {}, gpu)["trainJob-node-0-0"])["PET_NPROC_PER_NODE"] == "auto"


def test_the_number_of_nodes_of_the_job_goes_before_the_runtime() -> None:
    """Cases 43 and 44 of docs/facts/trainer.md#cases."""
    policy = {"numNodes": 100, "torch": {}}
    world = expand(
        trainjob("mine", trainer={"numNodes": 30, "numProcPerNode": 3}), related=[runtime(policy)]
    )
    assert len(world.pods) == 30
    assert env(world.pods[0])["PET_NNODES"] == "30"
    assert (world.jobs[0]["parallelism"], world.jobs[0]["completions"]) == (30, 30)
    assert len(made(policy, {})) == 100


def test_a_plain_policy_changes_nothing_but_env_and_number() -> None:
    """Case 45 of docs/facts/trainer.md#cases."""
    own = [{"name": "TRAIN_JOB", "value": "original"}, {"name": "RUNTIME", "value": "test:runtime"}]
    given = [
        {"name": "TRAIN_JOB", "value": "override"},
        {"name": "TRAIN_JOB_CUSTOM", "value": "test:trainjob"},
    ]
    world = made({"numNodes": 100}, {"env": given}, node(env=own))
    assert len(world) == 100
    variables = env(world["trainJob-node-0-0"])
    variables.pop("JOB_COMPLETION_INDEX")
    assert list(variables.items()) == [
        ("TRAIN_JOB", "override"),
        ("RUNTIME", "test:runtime"),
        ("TRAIN_JOB_CUSTOM", "test:trainjob"),
    ]


def test_injection_gives_an_init_container_the_variables() -> None:
    """Case 47 of docs/facts/trainer.md#cases."""
    job = node()
    job["template"]["spec"]["template"]["spec"]["initContainers"] = [container("warm")]
    targets = [{"jobName": "node", "containerNames": ["warm"]}]
    pod = made({"torch": {"envInjection": {"targets": targets}}}, {}, job)["trainJob-node-0-0"]
    init = [e["name"] for e in pod.containers[0].env]
    assert init[:5] == [
        "PET_NNODES",
        "PET_NPROC_PER_NODE",
        "PET_NODE_RANK",
        "PET_MASTER_ADDR",
        "PET_MASTER_PORT",
    ]


def test_torchtune_gets_its_endpoint_as_an_option() -> None:
    """Case 48 of docs/facts/trainer.md#cases."""
    trainer = {"command": ["tune", "run"], "args": ["dataset.packed=True"]}
    pod = next(
        p
        for p in expand(trainjob("torchtune-llama3.2-1b", name="t", trainer=trainer)).pods
        if p.role == "node"
    )
    assert [n for n in env(pod) if n.startswith("PET_")] == [
        "PET_NNODES",
        "PET_NPROC_PER_NODE",
        "PET_NODE_RANK",
    ]
    main = main_container_of(pod.containers, pod.main)
    assert main is not None
    assert main.command is not None
    assert main.command[:3] == ("tune", "run", "--rdzv_endpoint=t-node-0-0.t:29500")
    assert "llama3_2/1B_full" in main.command
    assert main.args == ("dataset.packed=True",)


def test_resources_are_merged_by_name() -> None:
    """Case 52 of docs/facts/trainer.md#cases."""
    own = node(resources={"limits": {"cpu": "4", "memory": "8Gi"}})
    trainer = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 4}, "claims": [{"name": "x"}]}}
    pod = made({"torch": {}}, trainer, own)["trainJob-node-0-0"]
    assert pod.containers[0].resources == {
        "limits": {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": 4}
    }


def test_without_trainer_there_are_no_variables() -> None:
    """Source: docs/facts/trainer.md#environment."""
    world = expand(trainjob())
    assert list(env(world.pods[0])) == ["JOB_COMPLETION_INDEX"]
    assert any("spec.trainer is absent" in note for note in world.notes)


def test_variables_follow_those_of_the_runtime_and_the_job() -> None:
    """Source: docs/facts/trainer.md#environment."""
    own = [{"name": "PET_NNODES", "value": "9"}, {"name": "A", "value": "1"}]
    pod = made({"torch": {}}, {"env": [{"name": "B", "value": "2"}]}, node(env=own))[
        "trainJob-node-0-0"
    ]
    assert list(env(pod)) == [
        "PET_NNODES", "A", "B", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT",
        "JOB_COMPLETION_INDEX",
    ]  # fmt: skip
    assert env(pod)["PET_NNODES"] == "1"


def test_zero_nodes_and_the_parallelism_of_the_runtime_are_kept() -> None:
    """Source: docs/facts/trainer.md#what-is-built."""
    assert len(made({"torch": {}}, {"numNodes": 0})) == 0
    assert len(made({"numNodes": 0, "torch": {}}, {})) == 1
    job = node()
    job["template"]["spec"]["parallelism"] = 3
    world = expand(trainjob("mine", trainer={"numNodes": 9}), related=[runtime(None, job)])
    assert len(world.pods) == 3
    assert (world.jobs[0]["parallelism"], world.jobs[0]["completions"]) == (3, 3)


def test_trainer_overrides_image_and_command_but_not_args() -> None:
    """Source: docs/facts/trainer.md#what-is-built."""
    own = node(command=["old"], args=["kept"])
    main = made({"torch": {}}, {"image": "new:1", "command": ["new"]}, own)[
        "trainJob-node-0-0"
    ].containers[0]
    assert (main.image, main.command, main.args) == ("new:1", ("new",), ("kept",))


def patch(*jobs: Json) -> list[Json]:
    spec = {"template": {"spec": {"replicatedJobs": list(jobs)}}}
    return [{"manager": "a.io/b", "trainingRuntimeSpec": spec}]


def test_runtime_patches_change_the_pods() -> None:
    """Source: docs/facts/trainer.md#what-is-built."""
    pod = {
        "nodeSelector": {"a": "b"},
        "containers": [{"name": "node", "volumeMounts": [{"mountPath": "/x", "name": "x"}]}],
    }
    job = {
        "name": "node",
        "template": {"spec": {"template": {"metadata": {"labels": {"l": "1"}}, "spec": pod}}},
    }
    found = made({"torch": {}}, {}, runtimePatches=patch(job))["trainJob-node-0-0"]
    assert found.node_selector == {"a": "b"}
    assert found.labels["l"] == "1"
    assert found.containers[0].image == "img:1"
    assert [m["mountPath"] for m in found.containers[0].mounts] == ["/x"]


def test_the_gang_includes_the_initializers() -> None:
    """Source: docs/facts/trainer.md#gangs."""
    first = node()
    steps = [replicated("dataset-initializer"), replicated("model-initializer")]
    own = runtime({"numNodes": 30, "torch": {}}, *steps, first, podGroupPolicy={"coscheduling": {}})
    group = expand(trainjob("mine"), related=[own]).pod_group
    assert group is not None
    assert group["minMember"] == 32


def test_until_trainer_2_1_the_gang_asks_for_the_resources_of_the_runtime() -> None:
    own = node(resources={"requests": {"nvidia.com/gpu": 2}})
    job = trainjob("mine", trainer={"resourcesPerNode": {"requests": {"nvidia.com/gpu": 8}}})
    related = [runtime({"numNodes": 3, "torch": {}}, own, podGroupPolicy={"volcano": {}})]

    def least(release: Version) -> Json:
        group = job_of(job, Objects([job, *related]), Versions(trainer=release), None).pod_group
        assert group is not None
        return dict(group["minResources"])

    assert least((2, 1)) == {"nvidia.com/gpu": "6"}
    assert least((2, 2)) == {"nvidia.com/gpu": "24"}


def test_an_mpi_job_has_nodes_and_a_launcher() -> None:
    world = expand(
        trainjob("deepspeed-distributed", name="j", trainer={"numNodes": 3, "numProcPerNode": 2})
    )
    assert [p.name for p in world.pods] == ["j-node-0-0", "j-node-0-1", "j-launcher-0-0"]
    assert env(world.pods[2])["OMPI_MCA_orte_set_default_slots"] == "2"
    assert world.configmaps[0]["data"]["hostfile"].count("slots=2\n") == 3


def test_flux_runtime_without_nodes_panics() -> None:
    """The spec is `trainer: {}` on a flux runtime (operators/README.md)."""
    assert "panics" in expand(trainjob("flux-distributed", trainer={})).refused[0]


def test_unknown_runtime_is_assumed_to_be_torch() -> None:
    world = expand(trainjob("nope", trainer={}))
    assert "PET_NNODES" in env(world.pods[0])
    assert "torch-distributed" in world.notes[0]


def test_runtime_of_the_stream_takes_precedence() -> None:
    own = runtime(
        {"torch": {}}, node(env=[{"name": "OWN", "value": "1"}]), name="torch-distributed"
    )
    assert "OWN" in env(expand(trainjob(trainer={}), related=[own]).pods[0])
    other = {**own, "kind": "TrainingRuntime"}
    assert "OWN" not in env(expand(trainjob(trainer={}), related=[other]).pods[0])


def test_images_and_resources_depend_on_the_release() -> None:
    """Source: docs/facts/trainer.md#what-releases-changed, #built-in-runtimes."""
    versions = Versions(trainer=(2, 1))
    world = expand(trainjob(trainer={}), versions=versions)
    assert world.pods[0].containers[0].image == "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"
    own = node(resources={"limits": {"cpu": "4"}})
    job = trainjob("mine", trainer={"resourcesPerNode": {"limits": {"memory": "1Gi"}}})
    pod = expand(
        job, related=[runtime({"torch": {"numProcPerNode": "gpu"}}, own)], versions=versions
    ).pods[0]
    assert pod.containers[0].resources == {"limits": {"memory": "1Gi"}}
    assert env(pod)["PET_NPROC_PER_NODE"] == "gpu"
    now = expand(job, related=[runtime({"torch": {"numProcPerNode": "gpu"}}, own)]).pods[0]
    assert env(now)["PET_NPROC_PER_NODE"] == "1"


@pytest.mark.parametrize("deadline", [None, 60])
def test_a_deadline_ends_a_trainjob(deadline: int | None) -> None:
    """Trainer 2.2, pkg/controller: the deadline of the TrainJob, not of its Jobs."""
    fields = {} if deadline is None else {"activeDeadlineSeconds": deadline}
    job = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "a"},
           "spec": {"runtimeRef": {"name": "torch-distributed"}, **fields}}  # fmt: skip
    sentences = [
        text for text in describe_failures(job, ()) if text.startswith("activeDeadlineSeconds")
    ]
    expected = (
        f"activeDeadlineSeconds {deadline}: then the TrainJob fails and its JobSet is deleted with its pods; "
        "Trainer creates it again with new pods, and deletes those at once"
    )
    assert sentences == ([] if deadline is None else [expected])
