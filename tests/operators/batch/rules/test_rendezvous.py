"""Rendezvous of a Job's pods: how many run at once, which are replaced, and which Service names them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.linter.asking import Json, fires, problems_of

STATIC = ["--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=train-0.train"]
C10D = ["--rdzv-backend=c10d", "--rdzv-endpoint=train-0.train:29400"]
TAIL = ["train.py"]


def _job(*options: str, pod: Json | None = None, **spec: Any) -> Json:
    container = {
        "name": "pytorch",
        "image": "a:1",
        "command": ["torchrun", "--nproc-per-node=1", *options, *TAIL],
    }
    template = {
        "spec": {
            "restartPolicy": "Never",
            "subdomain": "train",
            "containers": [container],
            **(pod or {}),
        }
    }
    given = {
        "completionMode": "Indexed",
        "completions": 4,
        "parallelism": 4,
        **spec,
        "template": template,
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": given}


SERVICE = yaml.safe_load("""
apiVersion: v1
kind: Service
metadata: {name: train}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {batch.kubernetes.io/job-name: train}}
""")


@pytest.mark.parametrize(
    ("rule", "job", "expected"),
    [
        ("too-little-parallelism", _job("--nnodes=4", *STATIC, parallelism=2), True),
        ("too-little-parallelism", _job("--nnodes=4", *STATIC), False),
        ("too-little-parallelism", _job("--nnodes=2:4", *C10D, parallelism=2), False),
        (
            "too-little-parallelism",
            _job("--nnodes=1", parallelism=2),
            False,
        ),  # four separate jobs with one node each
        (
            "too-little-parallelism",
            _job("--nnodes=8", *STATIC, parallelism=2),
            False,
        ),  # never enough pods at all
        ("job-restarts-alone", _job("--nnodes=4", *STATIC), True),  # the default backoffLimit is 6
        ("job-restarts-alone", _job("--nnodes=4", *STATIC, backoffLimit=0), False),
        ("job-restarts-alone", _job("--nnodes=4", *C10D), False),
        ("job-restarts-alone", _job("--nnodes=1"), False),
        ("job-restarts-alone", _job("--nnodes=4", *STATIC, completions=1, parallelism=1), False),
        (
            "job-restarts-alone",
            _job(
                "--nnodes=4",
                *STATIC,
                podFailurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {}}]},
            ),
            False,
        ),
    ],
)
def test_each_rule_fires_on_its_jobs(rule: str, job: Json, expected: bool) -> None:
    assert fires(rule, job, SERVICE) is expected


def test_endpoint_may_be_a_service_of_the_first_pod() -> None:
    alone = {**SERVICE, "metadata": {"name": "first"}, "spec": {**SERVICE["spec"]}}
    alone["spec"]["selector"] = {
        **SERVICE["spec"]["selector"],
        "batch.kubernetes.io/job-completion-index": "0",
    }
    job = _job("--nnodes=4", "--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=first")
    assert not fires("endpoint-is-every-pod", job, SERVICE, alone)
    alone["spec"]["selector"] = SERVICE["spec"]["selector"]
    assert fires("endpoint-is-every-pod", job, SERVICE, alone)
    single = _job("--nnodes=1", "--master-addr=first", completions=1, parallelism=1)
    assert not fires("endpoint-is-every-pod", single, SERVICE, alone)
    alone["spec"]["selector"] = None
    assert not fires("endpoint-is-every-pod", job, SERVICE, alone)


def test_world_size_may_count_processes() -> None:
    """Without torchrun, the script defines WORLD_SIZE, so it does not give the number of pods."""
    job = _job(parallelism=2)
    container = job["spec"]["template"]["spec"]["containers"][0]
    container["command"] = ["python", "train.py"]
    container["env"] = [
        {"name": "MASTER_ADDR", "value": "train-0.train"},
        {"name": "WORLD_SIZE", "value": "4"},
    ]
    assert not fires("too-little-parallelism", job, SERVICE)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("until nc -z train-0.train 29500; do sleep 1; done", True),
        ("while ! timeout 1 bash -c '</dev/tcp/train-0.train/29500'; do :; done", True),
        ("until nslookup train-0.train; do sleep 1; done", False),
        (
            '[ "$JOB_COMPLETION_INDEX" = 0 ] || until nc -z train-0.train 29500; do sleep 1; done',
            False,
        ),
        ("until nc -z database 29500; do sleep 1; done", False),
        (
            "until nc -z train-0.train 8080; do sleep 1; done",
            False,
        ),  # the port may belong to a native sidecar
        ("echo train-0.train 29500", False),
    ],
)
def test_pods_that_wait_for_themselves_are_reported(script: str, expected: bool) -> None:
    wait = [{"name": "wait", "image": "busybox:1", "command": ["sh", "-c", script]}]
    job = _job("--nnodes=4", *STATIC, pod={"initContainers": wait})
    assert fires("waits-for-itself", job, SERVICE) is expected


@pytest.mark.parametrize(
    ("fields", "env", "expected"),
    [
        ({}, {"value": "$(JOB_COMPLETION_INDEX)"}, False),
        ({"completionMode": "NonIndexed"}, {"value": "5"}, True),  # the command uses the variable
        ({"completionMode": None}, {"value": "5"}, True),
    ],
)
def test_an_index_needs_an_indexed_job(fields: Json, env: Json, expected: bool) -> None:
    job = _job("--nnodes=4", *STATIC, **fields)
    job["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", **env}]
    assert fires("index-without-indexed-job", job) is expected


def test_the_user_may_set_the_index_variable() -> None:
    job = _job("--nnodes=4", *STATIC, completionMode="NonIndexed")
    job["spec"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "JOB_COMPLETION_INDEX", "value": "0"}
    ]
    assert not fires("index-without-indexed-job", job)


def test_fix_for_indexed_jobs_sets_completions() -> None:
    job = _job("--nnodes=4", *STATIC, completionMode=None, completions=None)
    (problem,) = problems_of("index-without-indexed-job", job)
    assert problem.fix is not None
    assert [(edit.path[-1], edit.value) for edit in problem.fix.edits] == [
        ("completionMode", "Indexed"),
        ("completions", 4),
    ]


@pytest.mark.parametrize(("role", "expected"), [("Master", True), ("Worker", False)])
def test_pods_of_one_role_may_not_wait_for_themselves(role: str, expected: bool) -> None:
    """The workers of a PyTorchJob may wait for the master, but the master may not wait for workers."""
    script = "until nc -z train-master-0 23456; do sleep 1; done"
    wait = [{"name": "wait", "image": "busybox:1", "command": ["sh", "-c", script]}]
    main = [{"name": "pytorch", "image": "a:1", "command": ["python", "train.py"]}]
    specs = {
        one: {
            "replicas": 1,
            "template": {
                "spec": {"containers": main, "initContainers": wait if one == role else []}
            },
        }
        for one in ("Master", "Worker")
    }
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "train"}}
    assert fires("waits-for-itself", {**job, "spec": {"pytorchReplicaSpecs": specs}}) is expected
