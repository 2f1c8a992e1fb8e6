"""PyTorchJobs as import reads them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.reading import Read
from ptcompile.kubernetes.index import Objects
from ptcompile.operators.pytorchjob.read import read
from tests.operators.making import Json, container, pytorchjob, template


def _read(job: Json) -> Read:
    (reading,) = read(job, Objects())
    return reading


def _differing(**spec: Any) -> Json:
    job = pytorchjob(1, 3, **spec)
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"] = template(container(image="other:1"))
    return job


@pytest.mark.parametrize(
    ("job", "roles"),
    [
        (pytorchjob(1, 3), [("node", 4)]),
        (_differing(), [("master", 1), ("worker", 3)]),
        (pytorchjob(1, None), [("node", 1)]),
        (pytorchjob(None, 3, elasticPolicy={"minReplicas": 1}), [("node", 3)]),
        (pytorchjob(None, 3), []),
        (pytorchjob(1, 3, elasticPolicy={"minReplicas": 1}), []),
    ],
)
def test_replica_types_become_roles(job: Json, roles: list[tuple[str, int]]) -> None:
    reading = _read(job)
    assert [(role.role, role.replicas) for role in reading.pods] == roles
    assert bool(reading.problems) is not bool(roles)


@pytest.mark.parametrize(
    ("policy", "nnodes"),
    [
        ({"minReplicas": 1, "maxReplicas": 4}, "1:4"),
        ({"minReplicas": 1}, "1:3"),
        ({"maxReplicas": 4}, "3:4"),
        ({"maxRestarts": 5}, "3:3"),
    ],
)
def test_an_elastic_policy_becomes_a_range_of_nodes(policy: Json, nnodes: str) -> None:
    fields = _read(pytorchjob(None, 3, elasticPolicy=policy)).fields
    assert fields["elastic"]["nnodes"] == nnodes
    assert fields["elastic"]["maxRestarts"] == policy.get("maxRestarts", 0)
    assert fields["nodes"] == 3


@pytest.mark.parametrize(
    ("policy", "endpoint"),
    [
        ({"rdzvHost": "h"}, "h:29400"),
        ({"rdzvHost": "h", "rdzvPort": 1}, "h:1"),
        ({"rdzvPort": 1}, None),
        ({"rdzvHost": ""}, None),
    ],
)
def test_an_elastic_policy_becomes_the_endpoint(policy: Json, endpoint: str | None) -> None:
    elastic = _read(pytorchjob(None, 3, elasticPolicy={"minReplicas": 1, **policy})).fields[
        "elastic"
    ]
    assert elastic.get("rdzvEndpoint") == endpoint


@pytest.mark.parametrize(("backend", "expected"), [("c10d", "c10d"), ("", None), (None, None)])
def test_an_elastic_policy_becomes_the_backend(backend: str | None, expected: str | None) -> None:
    policy = {"minReplicas": 1, "rdzvBackend": backend}
    assert (
        _read(pytorchjob(None, 3, elasticPolicy=policy)).fields["elastic"]["rdzvBackend"]
        == expected
    )


@pytest.mark.parametrize(
    ("run_policy", "expected"),
    [
        ({}, {"cleanPodPolicy": "None"}),
        ({"cleanPodPolicy": "All", "suspend": True}, {"cleanPodPolicy": "All", "suspend": True}),
        ({"ttlSecondsAfterFinished": 0}, {"cleanPodPolicy": "None", "ttlSecondsAfterFinished": 0}),
    ],
)
def test_the_run_policy_is_read_back(run_policy: Json, expected: Json) -> None:
    assert _read(pytorchjob(1, 3, runPolicy=run_policy)).fields["runPolicy"] == expected


@pytest.mark.parametrize(
    ("ports", "port"),
    [
        ([], None),
        ([{"name": "pytorchjob-port", "containerPort": 23456}], None),
        ([{"name": "pytorchjob-port", "containerPort": 5000}], 5000),
        ([{"name": "other", "containerPort": 5000}], None),
    ],
)
def test_a_named_port_becomes_the_master_s_port(ports: list[Json], port: int | None) -> None:
    job = pytorchjob(1, 3)
    for replica in job["spec"]["pytorchReplicaSpecs"].values():
        replica["template"] = template(container(ports=ports))
    assert _read(job).fields.get("masterPort") == port


@pytest.mark.parametrize(("spec", "backend"), [({}, None), ({"nprocPerNode": "4"}, "static")])
def test_processes_per_node_mean_torchrun(spec: Json, backend: str | None) -> None:
    assert _read(pytorchjob(1, 3, **spec)).fields.get("elastic", {}).get("rdzvBackend") == backend
