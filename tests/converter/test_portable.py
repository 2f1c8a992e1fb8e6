"""What import and compile add themselves is no difference."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.converter.jobs import pytorchjob, trainjob, volcano_job


def jobset(**fields: Any) -> dict[str, Any]:
    script = "torchrun --nnodes=2 --nproc_per_node=1 --node_rank=$JOB_COMPLETION_INDEX --master_addr=$MASTER_ADDR"
    env = [
        {"name": "MASTER_ADDR", "value": "js-workers-0-0.js"},
        {"name": "MASTER_PORT", "value": "3389"},
    ]
    command = ["bash", "-c", f"{script} --master_port=3389 t.py"]
    container = {"name": "t", "image": "img:1", "env": env, "command": command}
    template = {"spec": {"restartPolicy": "Never", "containers": [{**container, **fields}]}}
    job = {"spec": {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": template}}
    spec = {"replicatedJobs": [{"name": "workers", "template": job}]}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js"},
        "spec": spec,
    }


@pytest.mark.parametrize("target", ["pytorchjob", "jobset", "job", "volcano"])
def test_a_trainjob_leaves_without_our_toleration_and_thread_count(target: str) -> None:
    gpus = {"limits": {"nvidia.com/gpu": 8}}
    job = trainjob(
        {"name": "torch-distributed"}, image="img:1", numProcPerNode=8, resourcesPerNode=gpus
    )
    result = ptcompile.convert(job, target=target)
    assert result.ok, result.diagnostics
    assert "tolerations" not in result.yaml()
    assert "OMP_NUM_THREADS" not in result.yaml()


@pytest.mark.parametrize("target", ["pytorchjob", "volcano"])
def test_the_operator_s_variables_are_no_difference(target: str) -> None:
    result = ptcompile.convert(jobset(), target=target, lossy=True)
    assert result.ok
    assert not [item.message for item in result.diagnostics if item.name == "unsupported-by-target"]


def test_the_rendezvous_port_is_the_operator_s_own() -> None:
    job = jobset(ports=[{"containerPort": 3389}, {"containerPort": 8471}])
    result = ptcompile.convert(job, target="pytorchjob", lossy=True)
    assert result.ok, result.diagnostics
    specs = result.manifests[-1]["spec"]["pytorchReplicaSpecs"]
    ports = specs["Master"]["template"]["spec"]["containers"][0]["ports"]
    numbers = {port["name"]: port["containerPort"] for port in ports}
    assert numbers == {"port-8471": 8471, "pytorchjob-port": 3389}


@pytest.mark.parametrize("target", ["trainjob", "jobset", "job", "volcano"])
def test_a_time_to_live_is_kept_or_left_behind(target: str) -> None:
    result = ptcompile.convert(pytorchjob(policy={"ttlSecondsAfterFinished": 60}), target=target)
    assert result.ok, result.diagnostics
    warnings = [item for item in result.diagnostics if "ttlSecondsAfterFinished" in item.message]
    assert bool(warnings) == ("ttlSecondsAfterFinished" not in result.yaml())


def test_a_rendezvous_host_of_the_old_pods_is_not_copied() -> None:
    policy = {
        "rdzvBackend": "c10d",
        "minReplicas": 1,
        "maxReplicas": 2,
        "rdzvHost": "p-worker-0",
        "rdzvPort": 29400,
    }
    job = pytorchjob(elasticPolicy=policy)
    del job["spec"]["pytorchReplicaSpecs"]["Master"]
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["command"] = [
        "torchrun",
        "t.py",
    ]
    result = ptcompile.convert(job, target="jobset")
    assert "p-worker-0" not in result.yaml()
    assert result.ok, result.diagnostics


def test_a_block_that_is_dropped_is_named_with_its_fields() -> None:
    job = volcano_job()
    job["spec"]["tasks"][1]["template"]["spec"]["containers"][0]["workingDir"] = "/home"
    result = ptcompile.convert(job, target="trainjob", lossy=True)
    assert result.ok
    assert [item.message for item in result.diagnostics if "spec.worker.workingDir" in item.message]


def test_a_placeholder_image_stays() -> None:
    job = pytorchjob()
    for role in ("Master", "Worker"):
        job["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"][0]["image"] = (
            "<image>"
        )
    result = ptcompile.convert(job, target="jobset")
    assert result.ok, result.diagnostics
    assert "image: <image>" in result.yaml()
    assert [item.message for item in result.diagnostics if "is a placeholder" in item.message]


@pytest.mark.parametrize("target", ["pytorchjob", "jobset", "job", "volcano"])
def test_the_smallest_trainjob_leaves(target: str) -> None:
    """Trainer passes torchrun its nodes and processes; the TrainJob has an image of its own, but no variables."""
    result = ptcompile.convert(
        trainjob({"name": "torch-distributed"}, image="img:1"), target=target
    )
    assert result.ok, result.diagnostics


@pytest.mark.parametrize("target", ["trainjob", "jobset", "job", "volcano"])
def test_the_port_of_the_first_operator_is_left_out(target: str) -> None:
    job = pytorchjob()
    for role in ("Master", "Worker"):
        container = job["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"][0]
        container["ports"] = [
            {"name": "pytorchjob-port", "containerPort": 23456},
            {"name": "web", "containerPort": 80},
        ]
    result = ptcompile.convert(job, target=target)
    assert result.ok, result.diagnostics
    assert "pytorchjob-port" not in result.yaml()
    assert "name: web" in result.yaml()


@pytest.mark.parametrize("target", ["pytorchjob", "trainjob", "jobset", "job", "volcano"])
def test_an_argument_that_contains_the_pod_s_name_is_the_user_s(target: str) -> None:
    container = {
        "name": "main",
        "image": "img:1",
        "command": ["python", "train.py", "--out=/ckpt/lora"],
    }
    spec = {"restartPolicy": "Never", "containers": [container]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lora"}, "spec": spec}
    result = ptcompile.convert(pod, target=target)
    assert result.ok, result.diagnostics


@pytest.mark.parametrize(("target", "container"), [("jobset", "train"), ("trainjob", "node")])
def test_a_pod_failure_policy_goes_into_the_target_s_own_jobs(target: str, container: str) -> None:
    rules = [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {
            "action": "FailJob",
            "onExitCodes": {"containerName": "train", "operator": "In", "values": [42]},
        },
    ]
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "train", "image": "img:1", "command": ["python", "t.py"]}],
    }
    spec = {"backoffLimit": 3, "podFailurePolicy": {"rules": rules}, "template": {"spec": pod}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec}
    result = ptcompile.convert(job, target=target)
    assert result.ok, result.diagnostics
    (written,) = _values(list(result.manifests), "podFailurePolicy")
    rules[1]["onExitCodes"]["containerName"] = container  # type: ignore[index]
    assert written == {"rules": rules}
    (failure,) = _values(list(result.manifests), "failurePolicy")
    assert failure["maxRestarts"] == 3
    assert [(rule["action"], rule["onJobFailureReasons"]) for rule in failure["rules"]] == [
        ("FailJobSet", ["PodFailurePolicy"])
    ], "exit status 42 ends the job, whatever restarts are left"
    spec["activeDeadlineSeconds"] = 3600
    assert not ptcompile.convert(job, target=target).ok, (
        "the JobSet has rules of its own for the deadline"
    )
    del spec["activeDeadlineSeconds"]
    lost = ptcompile.convert(job, target="pytorchjob")
    assert "spec.podFailurePolicy.rules" in str(
        [item.message for item in lost.diagnostics if item.severity == "error"]
    )


def _values(data: Any, key: str) -> list[Any]:
    """Return the values of a key anywhere in the data."""
    if isinstance(data, list):
        return [value for item in data for value in _values(item, key)]
    if not isinstance(data, dict):
        return []
    return [
        value
        for name, inner in data.items()
        for value in ([inner] if name == key else _values(inner, key))
    ]
