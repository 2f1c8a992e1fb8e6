"""The PodGroup that Jobs and JobSets bring along."""

from __future__ import annotations

from typing import Any

import pytest

from tests import making
from tests.making import compiled, smallest

LEVELS = {"topology": {"levels": {"rack": {"tier": 1}}}}
VOLCANO = making.profile({"queueSystem": "volcano", **LEVELS})
PLUGINS = making.profile({"gangScheduler": "scheduler-plugins"})
ROLES = "master: {resources: {cpu: 1}}\nworker: {replicas: 3, resources: {cpu: 4, memory: 2Gi}}"


def group(target: str, body: str, profile: Any) -> dict[str, Any] | None:
    made = compiled(smallest(body), target, profile).manifests
    groups = [one for one in made if one["kind"] == "PodGroup"]
    assert len(groups) < 2
    return groups[0] if groups else None


@pytest.mark.parametrize("target", ["job", "jobset"])
def test_volcano_s_pod_group(target: str) -> None:
    """docs/facts/volcano.md#gangs, #minresources: minResources are the requests of the first minMember pods."""
    body = "elastic: {nnodes: '2:4'}\nresources: {cpu: 2, gpu: 8}\nqueue: q\npriority: high\ntopology: {required: rack}"
    found = group(target, body, VOLCANO)
    assert found is not None
    assert (found["apiVersion"], found["metadata"]["name"]) == ("scheduling.volcano.sh/v1beta1", "train")
    assert found["spec"] == {
        "minMember": 2,
        "minResources": {"cpu": "4", "nvidia.com/gpu": "16"},
        "queue": "q",
        "priorityClassName": "high",
        "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
    }


def test_the_requests_of_every_role_and_sidecar() -> None:
    sidecar = "\npodTemplate: {spec: {containers: [{name: s, image: s, resources: {requests: {cpu: 500m}}}]}}"
    found = group("jobset", ROLES + sidecar, PLUGINS)
    assert found is not None
    assert found["spec"]["minResources"] == {"cpu": "15", "memory": "6Gi"}
    assert found["spec"]["minMember"] == 4


BESIDE = "\nroles: {loader: {replicas: 3, command: [serve], resources: {cpu: 1, memory: 2Gi}}}"


def test_pods_beside_the_trainers_are_in_the_gang() -> None:
    """The fewest nodes of a range and all other pods: no node holds its place and waits for a data loader."""
    body = "elastic: {nnodes: '2:4'}\nresources: {cpu: 8}\nqueue: q\npriority: high" + BESIDE
    found = group("jobset", body, VOLCANO)
    assert found is not None
    assert found["spec"]["minMember"] == 5
    assert found["spec"]["minResources"] == {"cpu": "19", "memory": "6Gi"}
    jobset = compiled(smallest(body), "jobset", VOLCANO).manifests[-1]
    runtime = compiled(smallest(body), "trainjob", VOLCANO).manifests[0]
    for owner in (jobset["spec"], runtime["spec"]["template"]["spec"]):
        assert [one["name"] for one in owner["replicatedJobs"]] == ["node", "loader"]
    for one in jobset["spec"]["replicatedJobs"]:
        template = one["template"]["spec"]["template"]
        assert template["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "train"}
    for one in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        pods = one["template"]["spec"]["template"]["spec"]
        assert (pods["schedulerName"], pods["priorityClassName"]) == ("volcano", "high")
    assert compiled(smallest(body), "volcano", VOLCANO).manifests[0]["spec"]["minAvailable"] == 5


def test_one_node_and_a_pod_beside_it_are_a_gang() -> None:
    found = group("jobset", "nodes: 1" + BESIDE, PLUGINS)
    assert found is not None
    assert found["spec"]["minMember"] == 4


@pytest.mark.parametrize(
    ("target", "body", "profile", "there"),
    [
        ("job", "nodes: 2", PLUGINS, True),
        ("job", "nodes: 1\nqueue: q", PLUGINS, False),  # one pod is no gang
        ("job", "nodes: 1\nqueue: q", VOLCANO, True),  # its queue is the PodGroup's
        ("job", "nodes: 1", VOLCANO, False),
        ("job", "nodes: 2", making.profile({}), False),
        ("job", "nodes: 2", making.profile({"gangScheduler": "none"}), False),
        ("job", "nodes: 2", making.profile({"queueSystem": "kai"}), False),  # KAI makes it
        ("volcano", "nodes: 2", VOLCANO, False),  # the operators make it
        ("pytorchjob", "nodes: 2", VOLCANO, False),
        ("trainjob", "nodes: 2", PLUGINS, False),
        ("pod", "queue: q", VOLCANO, False),
    ],
)
def test_where_there_is_one(target: str, body: str, profile: Any, *, there: bool) -> None:
    assert (group(target, body, profile) is not None) is there


def test_it_stands_before_the_pods_and_they_name_it() -> None:
    service, made, job = compiled(smallest("nodes: 2"), "job", VOLCANO).manifests
    assert (service["kind"], made["kind"], job["kind"]) == ("Service", "PodGroup", "Job")
    template = job["spec"]["template"]
    assert template["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "train"}
    assert template["spec"]["schedulerName"] == "volcano"
    template = compiled(smallest("nodes: 2"), "job", PLUGINS).manifests[-1]["spec"]["template"]
    assert template["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": "train"}
    assert "schedulerName" not in template["spec"]  # the profile's schedulerName, or the cluster's own scheduler


def test_the_queue_of_kueue_is_none_of_volcano_s() -> None:
    found = group("job", "nodes: 2\nqueue: q\npriority: p", making.profile({"gangScheduler": "volcano"}))
    assert found is not None
    assert found["spec"].keys() == {"minMember"}
