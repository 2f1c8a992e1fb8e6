"""Webhooks on arbitrary data: they end, never raise, and never change their input.

Source: CONTRIBUTING.md#laws 7.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.versions import Versions
from tests.operators.admission import admission
from tests.operators.kueue.objects.making import cluster_queue, kueue_object, workload
from tests.operators.making import (
    Json,
    container,
    jobset,
    node,
    pytorchjob,
    replicated,
    runtime,
    task,
    trainjob,
    volcano,
)
from tests.operators.test_pods_totality import GARBAGE
from tests.places import places

POLICY = [{"event": "PodFailed", "action": "RestartJob"}]
WHOLE: list[Json] = [
    pytorchjob(
        1, 2, elasticPolicy={"nProcPerNode": 1, "rdzvConf": []}, runPolicy={"managedBy": "x"}
    ),
    volcano(
        task(
            "master",
            1,
            container(env=[{"name": "A"}], resources={"limits": {"cpu": "1e1.5"}}),
            policies=POLICY,
        ),
        task(
            "worker",
            2,
            dependsOn={"name": ["master"]},
            partitionPolicy={"totalPartitions": 1, "partitionSize": 2},
        ),
        plugins={"pytorch": ["--port=1"], "mpi": []},
        volumes=[{"mountPath": "/a", "volumeClaimName": "b"}],
        networkTopology={"mode": "hard"},
    ),
    jobset(
        replicated("a"),
        replicated("b", dependsOn=[{"name": "a", "status": "Ready"}]),
        coordinator={"replicatedJob": "a"},
        failurePolicy={"rules": [{"action": "FailJobSet", "onJobFailureReasons": ["x"]}]},
        volumeClaimPolicies=[{"templates": [{"metadata": {"name": "v"}, "spec": {}}]}],
        network={"subdomain": "x"},
    ),
    trainjob(
        trainer={"numNodes": 1, "env": [{"name": "A"}], "command": ["tune", "run"], "args": ["a"]},
        initializer={"dataset": {}},
        runtimePatches=[
            {
                "manager": "a.b/c",
                "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": []}}},
            }
        ],
    ),
    runtime({"torch": {}}, {**node(), "replicas": 2}),
    cluster_queue(
        {"borrowingLimit": 1, "lendingLimit": 1},
        cohortName="c",
        fairSharing={"weight": 1.5},
        admissionChecksStrategy={"admissionChecks": [{"name": "a", "onFlavors": ["f"]}]},
        namespaceSelector={"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
    ),
    kueue_object(
        "ResourceFlavor",
        {
            "nodeLabels": {"a": "b"},
            "nodeTaints": [{"key": "a", "value": "b", "effect": "NoSchedule"}],
            "tolerations": [{"key": "a"}],
        },
    ),
    {
        **workload(
            {
                "minCount": 1,
                "topologyRequest": {"podSetSliceSize": 1, "podSetSliceRequiredTopology": "a"},
            }
        ),
        "status": {"conditions": [{"type": "QuotaReserved", "status": "True"}]},
    },
]


def with_garbage(manifest: Json) -> Iterator[tuple[tuple[Any, ...], Json]]:
    """Yield a copy of the manifest for each place and each value put there, with the place."""
    for path in places(manifest):
        if path in {("apiVersion",), ("kind",)}:
            continue
        for value in GARBAGE:
            broken: Any = copy.deepcopy(manifest)
            at = broken
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
            yield path, broken


@pytest.mark.parametrize("manifest", WHOLE, ids=lambda m: m["kind"])
def test_the_webhooks_survive_garbage_at_every_place(manifest: Json) -> None:
    webhook = admission(manifest)
    for _, broken in with_garbage(manifest):
        before = json.dumps(broken)
        seen = webhook.default(broken)
        list(webhook.rejections().validate(seen, KindContext()))
        list(webhook.rejections().controller_errors(seen, KindContext()))
        assert json.dumps(broken) == before


@pytest.mark.parametrize("manifest", WHOLE, ids=lambda m: m["kind"])
def test_updates_to_and_from_garbage_are_judged(manifest: Json) -> None:
    webhook = admission(manifest)
    for path, broken in with_garbage(manifest):
        for old, new in ((manifest, broken), (broken, manifest)):
            list(webhook.rejections().validate_update(Update(old, new, Versions(), (path,))))
