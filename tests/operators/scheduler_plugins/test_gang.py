"""Gangs of scheduler-plugins' coscheduling: the PodGroup, the label of the pods, and the operators' own fields."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.making import profile, smallest

LABEL = "scheduling.x-k8s.io/pod-group"


def _compiled(body: str, target: str, **spec: Any) -> dict[str, dict[str, Any]]:
    """Return the manifests by kind."""
    cluster = profile({"gangScheduler": "scheduler-plugins", **spec})
    return {
        manifest["kind"]: manifest
        for manifest in ptcompile.compile(smallest(body), target=target, cluster=cluster).unwrap()
    }


@pytest.mark.parametrize("target", ["job", "jobset"])
def test_the_pods_name_their_pod_group(target: str) -> None:
    manifests = _compiled("nodes: 3\nresources: {gpu: 2}", target, scheduleTimeoutSeconds=90)
    group = manifests["PodGroup"]
    assert (group["apiVersion"], group["metadata"]["name"]) == (
        "scheduling.x-k8s.io/v1alpha1",
        "train",
    )
    assert group["spec"] == {
        "minMember": 3,
        "minResources": {"nvidia.com/gpu": "6"},
        "scheduleTimeoutSeconds": 90,
    }
    assert f"'{LABEL}': 'train'" in str(manifests["Job" if target == "job" else "JobSet"])


def test_the_operators_make_their_own_groups() -> None:
    policy = _compiled("nodes: 3", "pytorchjob", scheduleTimeoutSeconds=90)["PyTorchJob"]["spec"][
        "runPolicy"
    ]
    assert policy["schedulingPolicy"] == {"minAvailable": 3, "scheduleTimeoutSeconds": 90}
    runtime = _compiled("nodes: 3", "trainjob", scheduleTimeoutSeconds=90)["TrainingRuntime"]
    assert runtime["spec"]["podGroupPolicy"] == {"coscheduling": {"scheduleTimeoutSeconds": 90}}


def test_an_elastic_job_starts_with_its_smallest_number_of_nodes() -> None:
    body = "elastic: {nnodes: '2:4', nprocPerNode: 1}"
    assert _compiled(body, "job")["PodGroup"]["spec"]["minMember"] == 2
    policy = _compiled(body, "pytorchjob")["PyTorchJob"]["spec"]["runPolicy"]
    assert policy["schedulingPolicy"] == {"minAvailable": 2}


def test_a_label_of_the_user_stays() -> None:
    job = _compiled(f"nodes: 2\npodLabels: {{{LABEL}: own}}", "job")["Job"]
    assert job["spec"]["template"]["metadata"]["labels"][LABEL] == "own"
