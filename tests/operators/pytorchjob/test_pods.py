"""Pods, Services and environment that training-operator 1.9 creates for a PyTorchJob.

Source: docs/facts/training-operator.md#cases, #pods-and-services, #environment, #init-container.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.pytorchjob.pods import (
    describe_failures,
    is_recreated,
    lost_pod,
    pod_templates,
    restarts,
)
from ptcompile.operators.table import expand
from tests.operators.making import Json, container, env, pods, ports, pytorchjob, template


def with_port(job: Json, number: int) -> Json:
    for replica in job["spec"]["pytorchReplicaSpecs"].values():
        port = {"name": "pytorchjob-port", "containerPort": number}
        replica["template"] = template(container(ports=[port]))
    return job


def test_an_elastic_policy_with_all_fields_sets_all_variables() -> None:
    """Case 2 of docs/facts/training-operator.md#cases."""
    conf = [
        {"key": "rdzv-conf-name", "value": "rdzv-conf-value"},
        {"key": "rdzv-conf-name-1", "value": "rdzv-conf-value-1"},
    ]
    policy = {
        "minReplicas": 1, "maxReplicas": 3, "rdzvBackend": "c10d", "rdzvPort": 1234, "rdzvHost": "localhost",
        "rdzvId": "rdzv-id", "rdzvConf": conf, "maxRestarts": 3,
    }  # fmt: skip
    variables = env(pods(pytorchjob(None, 1, elasticPolicy=policy))["test-job-worker-0"])
    assert {
        k: v for k, v in variables.items() if k.startswith("PET_") and k != "PET_NPROC_PER_NODE"
    } == {
        "PET_MAX_RESTARTS": "3",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": "localhost:1234",
        "PET_RDZV_ID": "rdzv-id",
        "PET_RDZV_CONF": "rdzv-conf-name=rdzv-conf-value,rdzv-conf-name-1=rdzv-conf-value-1",
        "PET_NNODES": "1:3",
    }


def test_the_elastic_endpoint_is_worker_0_and_its_port() -> None:
    """Case 3 of docs/facts/training-operator.md#cases."""
    job = with_port(
        pytorchjob(None, 3, name="elastic-job", elasticPolicy={"minReplicas": 1, "maxReplicas": 3}),
        8080,
    )
    world = expand(job)
    assert [p.name for p in world.pods] == [f"elastic-job-worker-{i}" for i in range(3)]
    variables = env(world.pods[0])
    assert variables["PET_RDZV_ENDPOINT"] == "elastic-job-worker-0:8080"
    assert (variables["PET_RDZV_BACKEND"], variables["PET_NNODES"]) == ("c10d", "1:3")
    assert [s["metadata"]["name"] for s in world.services] == [p.name for p in world.pods]
    assert all(s["spec"]["clusterIP"] == "None" for s in world.services)


def test_the_master_has_rank_0_and_workers_follow() -> None:
    """Cases 4 and 5 of docs/facts/training-operator.md#cases."""
    world = pods(with_port(pytorchjob(1, 2), 8080))
    master, worker = env(world["test-job-master-0"]), env(world["test-job-worker-1"])
    assert master["MASTER_PORT"] == "8080"
    assert master["MASTER_ADDR"] == "test-job-master-0"
    assert master["PET_NPROC_PER_NODE"] == "auto"
    assert (master["WORLD_SIZE"], master["RANK"], worker["RANK"]) == ("3", "0", "2")
    service = expand(with_port(pytorchjob(1, 2), 8080)).services[0]
    assert service["spec"]["ports"] == [{"name": "pytorchjob-port", "port": 8080}]


@pytest.mark.parametrize(
    ("workers", "nproc", "world", "nnodes"),
    [
        pytest.param(1, "2", "4", "2", id="6.1 case 6"),
        pytest.param(3, "gpu", "4", "4", id="6.1 case 7"),
        pytest.param(1, "8 ", "2", "2", id="1.5 row 6: no integer counts as one"),
        pytest.param(1, "9223372036854775807", "-2", "2", id="section 8: 64 bits overflow"),
    ],
)
def test_the_operator_sets_the_world_size(
    workers: int, nproc: str, world: str, nnodes: str
) -> None:
    variables = env(pods(pytorchjob(1, workers, nprocPerNode=nproc))["test-job-worker-0"])
    assert (variables["WORLD_SIZE"], variables["PET_NNODES"], variables["PET_NPROC_PER_NODE"]) == (
        world,
        nnodes,
        nproc,
    )


def test_variables_have_the_order_of_the_operator() -> None:
    """Source: docs/facts/training-operator.md#environment."""
    names = list(env(pods(pytorchjob(1, 1))["test-job-worker-0"]))
    assert names == [
        "PYTHONUNBUFFERED", "MASTER_PORT", "PET_MASTER_PORT", "MASTER_ADDR", "PET_MASTER_ADDR", "WORLD_SIZE", "RANK",
        "PET_NODE_RANK", "PET_NPROC_PER_NODE", "PET_NNODES",
    ]  # fmt: skip


def test_only_workers_with_a_master_have_an_init_container() -> None:
    """Case 8 of docs/facts/training-operator.md#cases."""
    inits = {n: [c.name for c in p.containers if c.init] for n, p in pods(pytorchjob(1, 1)).items()}
    assert inits == {"test-job-master-0": [], "test-job-worker-0": ["init-pytorch"]}
    assert [c.name for c in pods(pytorchjob(None, 1))["test-job-worker-0"].containers] == [
        "pytorch"
    ]


@pytest.mark.parametrize(
    ("policy", "workers", "nnodes"),
    [
        pytest.param({}, 1, "1:1", id="case 9"),
        pytest.param({"maxReplicas": 1}, 2, "1:1", id="case 10"),
        pytest.param({"minReplicas": 1}, 2, "1:1", id="case 11"),
        pytest.param({"minReplicas": 1, "maxReplicas": 4}, 2, "1:4", id="case 2"),
    ],
)
def test_missing_elastic_bounds_have_defaults(policy: Json, workers: int, nnodes: str) -> None:
    """Cases 2 and 9 to 11 of docs/facts/training-operator.md#cases."""
    assert (
        env(pods(pytorchjob(None, workers, elasticPolicy=policy))["test-job-worker-0"])[
            "PET_NNODES"
        ]
        == nnodes
    )


def test_elastic_nproc_goes_before_the_default() -> None:
    """Case 12 of docs/facts/training-operator.md#cases."""
    variables = env(
        pods(pytorchjob(None, 1, elasticPolicy={"nProcPerNode": 4}))["test-job-worker-0"]
    )
    assert variables["PET_NPROC_PER_NODE"] == "4"


def test_slashes_become_dashes() -> None:
    """Case 13 of docs/facts/training-operator.md#cases."""
    assert "1-2-3-4-5-worker-1" in pods(pytorchjob(None, 2, name="1/2/3/4/5"))


@pytest.mark.parametrize(
    ("given", "made"),
    [("ExitCode", "Never"), ("Never", "Never"), ("Always", "Always"), (None, "OnFailure")],
)
def test_the_restart_policy_is_that_of_the_replica_type(given: str | None, made: str) -> None:
    """Case 14 of docs/facts/training-operator.md#cases."""
    job = pytorchjob(None, 1)
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["restartPolicy"] = given
    assert pods(job)["test-job-worker-0"].restart_policy == made


def test_workers_alone_get_no_master_and_no_rank() -> None:
    """Source: docs/facts/training-operator.md#environment."""
    variables = env(pods(pytorchjob(None, 4))["test-job-worker-3"])
    assert variables == {"PYTHONUNBUFFERED": "1", "PET_NPROC_PER_NODE": "auto", "PET_NNODES": "4"}


def test_standalone_is_the_empty_string() -> None:
    """Source: docs/facts/training-operator.md#environment."""
    variables = env(
        pods(pytorchjob(None, 1, elasticPolicy={"standalone": True}))["test-job-worker-0"]
    )
    assert variables["PET_STANDALONE"] == ""


def test_every_container_gets_variables_after_those_of_the_user() -> None:
    """Source: docs/facts/training-operator.md#environment."""
    job = pytorchjob(1, None)
    own = container(env=[{"name": "RANK", "value": "7"}])
    job["spec"]["pytorchReplicaSpecs"]["Master"]["template"] = template(own, container("side"))
    pod = pods(job)["test-job-master-0"]
    assert [e["name"] for e in pod.containers[0].env].count("RANK") == 2
    assert env(pod)["RANK"] == "0"
    assert env(pod, "side")["RANK"] == "0"


def test_the_port_goes_to_the_container_named_pytorch() -> None:
    """Source: docs/facts/training-operator.md#defaults."""
    job = pytorchjob(1, None)
    job["spec"]["pytorchReplicaSpecs"]["Master"]["template"] = template(
        container("side"), container()
    )
    side, main = pods(job)["test-job-master-0"].containers
    assert side.ports == ()
    assert [p["containerPort"] for p in main.ports] == [23456]
    assert ports(pods(pytorchjob(1, None))["test-job-master-0"]) == [("pytorchjob-port", 23456)]


def test_the_master_or_else_a_worker_has_the_label_of_a_master() -> None:
    """Source: docs/facts/training-operator.md#pods-and-services."""
    world = pods(pytorchjob(1, 1))
    assert world["test-job-master-0"].labels["training.kubeflow.org/job-role"] == "master"
    assert "training.kubeflow.org/job-role" not in world["test-job-worker-0"].labels
    assert "training.kubeflow.org/job-role" in pods(pytorchjob(None, 1))["test-job-worker-0"].labels
    assert world["test-job-worker-0"].dns == "test-job-worker-0.default.svc.cluster.local"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (
            (1, 9),
            {"PYTHONUNBUFFERED": "1", "PET_NNODES": "2", "WORLD_SIZE": "4", "PET_NODE_RANK": "0"},
        ),
        (
            (1, 6),
            {"PYTHONUNBUFFERED": "0", "PET_NNODES": None, "WORLD_SIZE": "2", "PET_NODE_RANK": None},
        ),
    ],
)
def test_variables_depend_on_the_release(
    version: tuple[int, int], expected: dict[str, Any]
) -> None:
    """Source: docs/facts/training-operator.md#environment."""
    versions = Versions(training_operator=version)
    variables = env(
        pods(pytorchjob(1, 1, nprocPerNode="2"), versions=versions)["test-job-master-0"]
    )
    assert {k: variables.get(k) for k in expected} == expected


def test_an_empty_rdzv_conf_panics() -> None:
    """Source: docs/facts/training-operator.md#environment."""
    world = expand(pytorchjob(None, 1, elasticPolicy={"rdzvConf": []}))
    assert len(world.pods) == 0
    assert "panics" in world.refused[0]


def test_without_replicas_there_are_no_pods() -> None:
    """Source: docs/facts/training-operator.md#admission."""
    assert len(expand(pytorchjob(None, None)).pods) == 0


def test_a_suspended_job_is_reported() -> None:
    """Case 31 of docs/facts/training-operator.md#cases."""
    assert "suspended" in expand(pytorchjob(1, 1, runPolicy={"suspend": True})).notes[0]


def _failures(job: Json) -> list[str]:
    return list(describe_failures(job, (1, 9)))


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        (
            pytorchjob(1, 1),
            "the job succeeds with its Master, even while workers run or have failed, and if its "
            "process exits 0 on SIGTERM when its node is drained",
        ),
        (pytorchjob(None, 2), "the job succeeds when all workers have"),
        (
            pytorchjob(None, 2, elasticPolicy={}),
            "the job succeeds with any of its workers (elastic)",
        ),
        (pytorchjob(1, 1), "no backoffLimit: restarts are unlimited"),
        (
            pytorchjob(1, 1, runPolicy={"backoffLimit": 0}),
            "backoffLimit 0: the first restart of a container fails the job",
        ),
        (
            pytorchjob(1, 1, runPolicy={"backoffLimit": 1}),
            "backoffLimit 1: the job fails when its running pods count that many container restarts",
        ),
        (
            pytorchjob(1, 1, runPolicy={"cleanPodPolicy": "All"}),
            "cleanPodPolicy All: at the end all pods are deleted",
        ),
        (pytorchjob(1, 1), "cleanPodPolicy None: at the end all pods stay"),
    ],
)
def test_the_sentences_say_what_a_failure_causes(job: Json, sentence: str) -> None:
    assert sentence in _failures(job)


def _with_policies(master: str, worker: str, **spec: Any) -> Json:
    job = pytorchjob(1, 1, **spec)
    for name, policy in (("Master", master), ("Worker", worker)):
        job["spec"]["pytorchReplicaSpecs"][name]["restartPolicy"] = policy
    return job


def test_a_lost_pod_is_recreated_unless_its_replica_type_never_restarts() -> None:
    job = _with_policies("Never", "OnFailure")
    assert [lost_pod(job, role).recreated for role in ("Master", "master", "Worker", "worker")] == [
        "none",
        "none",
        "pod",
        "pod",
    ]
    recreated = {template.role: is_recreated(job, template) for template in pod_templates(job)}
    assert not recreated["Master"]


@pytest.mark.parametrize(
    ("policy", "limit", "exit_code", "scope", "number"),
    [
        ("Never", None, 1, None, None),
        ("OnFailure", None, 1, "container", None),
        ("OnFailure", 3, 1, "container", 2),
        ("OnFailure", 0, 1, "container", 0),
        ("OnFailure", 3, None, "pod", None),
        ("ExitCode", 3, 127, None, None),
        ("ExitCode", 3, 128, "pod", None),
        ("ExitCode", 3, None, "pod", None),
    ],
)
def test_each_restart_policy_answers_a_failed_pod(
    policy: str, limit: int | None, exit_code: int | None, scope: str | None, number: int | None
) -> None:
    """docs/facts/training-operator.md#restarts-and-the-end."""
    job = _with_policies(policy, policy, runPolicy={} if limit is None else {"backoffLimit": limit})
    answers = restarts(job, "worker", exit_code)
    assert [(answer.scope, answer.limit) for answer in answers] == (
        [] if scope is None else [(scope, number)]
    )


def test_replicas_that_are_not_written_are_one() -> None:
    job = pytorchjob(1, 3)
    del job["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"]
    assert [(template.role, template.replicas) for template in pod_templates(job)] == [
        ("Master", 1),
        ("Worker", 3),
    ]


def test_until_1_9_3_a_limit_deletes_the_pods() -> None:
    limited = pytorchjob(1, 1, runPolicy={"backoffLimit": 1, "cleanPodPolicy": "None"})
    kept = "cleanPodPolicy None: at the end all pods stay"
    assert kept in describe_failures(limited, (1, 9))
    assert kept not in describe_failures(limited, (1, 8))
    assert "all pods are deleted if backoffLimit is exceeded" in "\n".join(
        describe_failures(limited, (1, 8))
    )
    assert kept in describe_failures(pytorchjob(1, 1), (1, 8))
