"""Jobs in a queue whose pods request nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.diagnostics import Problem
from tests.linter.asking import problems_of
from tests.operators.kueue.webhooks.making import QUEUE, Json
from tests.operators.making import container, task, volcano

REQUESTING = container(resources={"requests": {"cpu": 1}})


def _problems(manifest: Json, *others: Json) -> list[Problem]:
    manifest = {**manifest, "metadata": {**manifest["metadata"], "labels": QUEUE}}
    return problems_of("queue-without-requests", manifest, *others)


def _cluster_queue(*resources: str) -> Json:
    groups = [{"coveredResources": list(resources), "flavors": []}]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "q"},
        "spec": {"resourceGroups": groups},
    }


@pytest.mark.parametrize(
    ("tasks", "path"),
    [
        ([task("a", 1, container()), task("b", 1, REQUESTING)], 0),
        ([task("a", 1, REQUESTING), task("b", 1, container())], 1),
    ],
)
def test_the_role_without_requests_is_reported(tasks: list[Json], path: int) -> None:
    (problem,) = _problems(volcano(*tasks))
    assert problem.path[:3] == ("spec", "tasks", path)


@pytest.mark.parametrize(("resources", "expected"), [(["cpu"], True), (["cpu", "pods"], False)])
def test_a_quota_of_pods_needs_no_requests(resources: list[str], expected: bool) -> None:
    assert (
        bool(_problems(volcano(task("a", 1, container())), _cluster_queue(*resources))) is expected
    )


@pytest.mark.parametrize(
    ("trainer", "expected"),
    [
        ({"numNodes": 1}, True),
        ({"numNodes": 1, "resourcesPerNode": {"requests": {"cpu": 1}}}, False),
    ],
)
def test_a_trainjob_may_have_its_own_requests(trainer: dict[str, Any], expected: bool) -> None:
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer},
    }
    assert bool(_problems(job)) is expected
