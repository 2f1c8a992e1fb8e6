"""Auxiliary objects by release: resource claim templates and ComputeDomains, and the PodGroups of Jobs and JobSets."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.shared.emitting import (
    check_equal_roles,
    check_service_name,
    object_metadata,
    plain_env,
    waits_for_nodes,
)
from ptcompile.operators.targets import TARGETS
from tests import making
from tests.making import compiled, smallest

GB200 = (
    "accelerator: nvidia-gb200\nfabric: nvlink-domain\nresources: {cpu: 4, memory: 16Gi, gpu: 4}\n"
)
QUEUE = "kueue.x-k8s.io/queue-name"
GPU = "resources: {cpu: 4, memory: 16Gi, gpu: 1}\n"


def made(body: str, profile: dict[str, Any], target: str) -> list[dict[str, Any]]:
    done = making.compiled(making.smallest(body), target, making.profile(profile))
    assert not [problem for problem in done.problems if problem.severity != "warning"], (
        done.problems
    )
    return list(done.manifests)


@pytest.mark.parametrize("target", TARGETS)
def test_claim_objects_precede_the_job_on_every_target(target: str) -> None:
    nodes = "" if target == "pod" else "nodes: 2"
    first, *others = made(GB200 + nodes, {"cloud": "eks"}, target)
    assert (first["kind"], first["metadata"], first["spec"]["numNodes"]) == (
        "ComputeDomain",
        {"name": "train"},
        0,
    )
    name = first["spec"]["channel"]["resourceClaimTemplate"]["name"]
    assert f"'resourceClaimTemplateName': '{name}'" in str(others)


@pytest.mark.parametrize(
    ("release", "nodes"),
    [
        ("25.3", 3),
        ("25.8", 0),
        ("25.12", 0),
        ("0.1", 0),
    ],  # the driver's releases after 25.12 are numbered 0.x
)
def test_older_driver_gets_the_number_of_nodes(release: str, nodes: int) -> None:
    first, *_ = made(
        GB200 + "nodes: 3", {"cloud": "eks", "versions": {"nvidiaDra": release}}, "job"
    )
    assert first["spec"]["numNodes"] == nodes
    assert waits_for_nodes((25, 3)) is not waits_for_nodes((0, 9))


@pytest.mark.parametrize(
    ("release", "version", "flat"),
    [("1.32", "v1beta1", True), ("1.33", "v1beta2", False), ("1.34", "v1", False)],
)
def test_templates_have_the_fields_of_each_kubernetes(
    release: str, version: str, flat: bool
) -> None:
    profile = {"versions": {"kubernetes": release}, "gpu": {"claim": {}}}
    done = making.compiled(making.smallest(GPU), "job", making.profile(profile))
    template = done.manifests[0]
    assert template["apiVersion"] == f"resource.k8s.io/{version}"
    (request,) = template["spec"]["spec"]["devices"]["requests"]
    assert ("deviceClassName" in request) is flat
    assert ("exactly" in request) is not flat
    warned = [(problem.name, problem.path, problem.severity) for problem in done.problems]
    expected = (
        [] if release == "1.34" else [("kubernetes-too-old", ("spec", "resources"), "warning")]
    )
    assert warned == expected


def test_claims_are_accepted_if_the_gate_is_on() -> None:
    gates = {"kubernetes": {"DynamicResourceAllocation": True}}
    profile = {"versions": {"kubernetes": "1.33"}, "gpu": {"claim": {}}, "featureGates": gates}
    assert (
        list(making.compiled(making.smallest(GPU), "job", making.profile(profile)).problems) == []
    )


def test_before_1_32_there_are_no_claims() -> None:
    profile = {"versions": {"kubernetes": "1.31"}, "cloud": "eks"}
    (problem,) = making.compiled(making.smallest(GB200), "job", making.profile(profile)).problems
    assert (problem.name, problem.path, problem.severity) == (
        "unsupported-by-target",
        ("spec", "fabric"),
        "error",
    )
    assert "need Kubernetes 1.32" in problem.message


def test_each_number_of_gpus_has_one_template() -> None:
    body = "nodes: 2\nresources: {gpu: 8}\nroles: {scorer: {command: [serve], resources: {gpu: 1}}}"
    kinds = [
        (manifest["kind"], manifest["metadata"]["name"])
        for manifest in made(body, {"gpu": {"claim": {}}}, "jobset")
    ]
    assert kinds == [
        ("ResourceClaimTemplate", "train-gpu-8"), ("ResourceClaimTemplate", "train-gpu-1"), ("JobSet", "train"),
    ]  # fmt: skip


def test_plain_command_of_a_trainjob_counts_the_claimed_gpus() -> None:
    body = "image: img:1\ncommand: [python, train.py]\nnodes: 2\nresources: {cpu: 96, gpu: 8}"
    done = making.compiled(making.text(body), "trainjob", making.profile({"gpu": {"claim": {}}}))
    assert done.manifests[-1]["spec"]["trainer"]["numProcPerNode"] == 8


LEVELS = {"topology": {"levels": {"rack": {"tier": 1}}}}
VOLCANO = making.profile({"queueSystem": "volcano", **LEVELS})
PLUGINS = making.profile({"gangScheduler": "scheduler-plugins"})
ROLES = "master: {resources: {cpu: 1}}\nworker: {replicas: 3, resources: {cpu: 4, memory: 2Gi}}"


def group(target: str, body: str, profile: Any) -> dict[str, Any] | None:
    made = compiled(smallest(body), target, profile).manifests
    groups = [manifest for manifest in made if manifest["kind"] == "PodGroup"]
    assert len(groups) < 2
    return groups[0] if groups else None


@pytest.mark.parametrize("target", ["job", "jobset"])
def test_a_volcano_pod_group_requests_its_first_pods(target: str) -> None:
    """minResources are the requests of the first minMember pods.

    Source: docs/facts/volcano.md#gangs, #minresources.
    """
    body = "elastic: {nnodes: '2:4'}\nresources: {cpu: 2, gpu: 8}\nqueue: q\npriority: high\ntopology: {required: rack}"
    pod_group = group(target, body, VOLCANO)
    assert pod_group is not None
    assert (pod_group["apiVersion"], pod_group["metadata"]["name"]) == (
        "scheduling.volcano.sh/v1beta1",
        "train",
    )
    assert pod_group["spec"] == {
        "minMember": 2,
        "minResources": {"cpu": "4", "nvidia.com/gpu": "16"},
        "queue": "q",
        "priorityClassName": "high",
        "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
    }


def test_min_resources_add_every_role_and_sidecar() -> None:
    sidecar = "\npodTemplate: {spec: {containers: [{name: s, image: s, resources: {requests: {cpu: 500m}}}]}}"
    pod_group = group("jobset", ROLES + sidecar, PLUGINS)
    assert pod_group is not None
    assert pod_group["spec"]["minResources"] == {"cpu": "15", "memory": "6Gi"}
    assert pod_group["spec"]["minMember"] == 4


BESIDE = "\nroles: {loader: {replicas: 3, command: [serve], resources: {cpu: 1, memory: 2Gi}}}"


def test_auxiliary_pods_are_in_the_gang() -> None:
    """The gang includes all auxiliary pods, so no node holds GPUs while it waits for a data loader."""
    body = "elastic: {nnodes: '2:4'}\nresources: {cpu: 8}\nqueue: q\npriority: high" + BESIDE
    pod_group = group("jobset", body, VOLCANO)
    assert pod_group is not None
    assert pod_group["spec"]["minMember"] == 5
    assert pod_group["spec"]["minResources"] == {"cpu": "19", "memory": "6Gi"}
    jobset = compiled(smallest(body), "jobset", VOLCANO).manifests[-1]
    runtime = compiled(smallest(body), "trainjob", VOLCANO).manifests[0]
    for owner in (jobset["spec"], runtime["spec"]["template"]["spec"]):
        assert [one["name"] for one in owner["replicatedJobs"]] == ["node", "loader"]
    for job in jobset["spec"]["replicatedJobs"]:
        template = job["template"]["spec"]["template"]
        assert template["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "train"}
    for job in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        pods = job["template"]["spec"]["template"]["spec"]
        assert (pods["schedulerName"], pods["priorityClassName"]) == ("volcano", "high")
    assert compiled(smallest(body), "volcano", VOLCANO).manifests[0]["spec"]["minAvailable"] == 5


def test_one_node_and_an_auxiliary_pod_form_a_gang() -> None:
    pod_group = group("jobset", "nodes: 1" + BESIDE, PLUGINS)
    assert pod_group is not None
    assert pod_group["spec"]["minMember"] == 4


@pytest.mark.parametrize(
    ("target", "body", "profile", "there"),
    [
        ("job", "nodes: 2", PLUGINS, True),
        ("job", "nodes: 1\nqueue: q", PLUGINS, False),  # a single pod needs no gang
        ("job", "nodes: 1\nqueue: q", VOLCANO, True),  # the PodGroup sets the queue
        ("job", "nodes: 1", VOLCANO, False),
        ("job", "nodes: 2", making.profile({}), False),
        ("job", "nodes: 2", making.profile({"gangScheduler": "none"}), False),
        ("job", "nodes: 2", making.profile({"queueSystem": "kai"}), False),  # KAI creates it
        ("volcano", "nodes: 2", VOLCANO, False),  # the operators create it
        ("pytorchjob", "nodes: 2", VOLCANO, False),
        ("trainjob", "nodes: 2", PLUGINS, False),
        ("pod", "queue: q", VOLCANO, False),
    ],
)
def test_only_gangs_get_a_pod_group(target: str, body: str, profile: Any, *, there: bool) -> None:
    assert (group(target, body, profile) is not None) is there


def test_pod_group_precedes_the_pods_that_name_it() -> None:
    service, made, job = compiled(smallest("nodes: 2"), "job", VOLCANO).manifests
    assert (service["kind"], made["kind"], job["kind"]) == ("Service", "PodGroup", "Job")
    template = job["spec"]["template"]
    assert template["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "train"}
    assert template["spec"]["schedulerName"] == "volcano"
    template = compiled(smallest("nodes: 2"), "job", PLUGINS).manifests[-1]["spec"]["template"]
    assert template["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": "train"}
    # the profile's schedulerName or the cluster's default scheduler applies
    assert "schedulerName" not in template["spec"]


def test_kueue_queue_is_not_set_in_the_pod_group() -> None:
    pod_group = group(
        "job", "nodes: 2\nqueue: q\npriority: p", making.profile({"gangScheduler": "volcano"})
    )
    assert pod_group is not None
    assert pod_group["spec"].keys() == {"minMember"}


@pytest.mark.parametrize(
    ("names", "expected"),
    [("", 0), ("names: {container: main}", 1), ("names: {container: pytorch}", 0)],
)
def test_a_container_that_a_kind_renames_is_a_warning(names: str, expected: int) -> None:
    problems = compiled(smallest(f"nodes: 2\n{names}"), "pytorchjob").problems
    assert [problem.name for problem in problems].count("done-differently") == expected


@pytest.mark.parametrize(
    ("name", "valid"), [("a" * 50, True), ("a", True), ("1a", False), ("a-1", True)]
)
def test_the_name_of_a_service_begins_with_a_letter(name: str, valid: bool) -> None:
    problems = compiled(smallest("nodes: 2", name), "jobset").problems
    assert any("cannot name" in problem.message for problem in problems) is not valid


@pytest.mark.parametrize(
    ("body", "profile", "managed"),
    [
        ("nodes: 2", {"queueSystem": "kueue", "multiKueue": True}, False),
        ("nodes: 2\nqueue: a", {"queueSystem": "kueue", "multiKueue": True}, True),
        ("nodes: 2\nqueue: a", {"queueSystem": "kueue"}, False),
    ],
)
def test_a_job_of_a_multikueue_queue_is_left_to_kueue(
    body: str, profile: dict[str, Any], managed: bool
) -> None:
    manifests = made(body, profile, "job")
    assert ("kueue.x-k8s.io/multikueue" in str(manifests)) is managed


@pytest.mark.parametrize(
    ("launch", "rank", "expected"),
    [
        (
            None,
            None,
            [("MASTER_ADDR", "h"), ("MASTER_PORT", "29500"), ("WORLD_SIZE", "3"), ("RANK", "0")],
        ),
        (
            None,
            "f",
            [("MASTER_ADDR", "h"), ("MASTER_PORT", "29500"), ("WORLD_SIZE", "3"), ("RANK", None)],
        ),
        (making.LAUNCH, "f", []),
    ],
)
def test_a_plain_command_gets_its_rendezvous(
    launch: Any, rank: str | None, expected: list[Any]
) -> None:
    job = making.job(replicas=3)._replace(launch=launch, master_port=29500)
    assert [(entry["name"], entry.get("value")) for entry in plain_env(job, "h", rank)] == expected


@pytest.mark.parametrize(
    ("labels", "cluster", "expected"),
    [
        ({}, None, {"name": "train"}),
        ({"a": "b"}, None, {"name": "train", "labels": {"a": "b"}}),
        ({"a": None}, None, {"name": "train"}),
        ({"a": "b", "c": None}, None, {"name": "train", "labels": {"a": "b"}}),
        (
            {},
            {"queueSystem": "kueue", "defaults": {"queue": "q"}},
            {"name": "train", "labels": {QUEUE: "q"}},
        ),
        ({QUEUE: None}, {"queueSystem": "kueue", "defaults": {"queue": "q"}}, {"name": "train"}),
    ],
)
def test_an_object_gets_its_labels(
    labels: dict[str, Any], cluster: dict[str, Any] | None, expected: dict[str, Any]
) -> None:
    profile = None if cluster is None else making.profile(cluster)
    job = making.job()._replace(
        name="train", namespace=None, labels=labels, queue="q" if cluster else None
    )
    assert object_metadata(job, profile, "job") == expected


def test_roles_of_a_kind_with_one_template_must_be_equal() -> None:
    first, other = making.template(), making.template(annotations={"a": "b"})
    equal = making.job(first, first, replicas=2)
    assert not list(check_equal_roles(equal, "a Job"))
    assert len(list(check_equal_roles(making.job(first, other, replicas=2), "a Job"))) == 1
    master, worker = equal.roles
    changed = equal._replace(roles=(master, worker._replace(restart_policy="Always")))
    assert len(list(check_equal_roles(changed, "a Job"))) == 1


@pytest.mark.parametrize(("length", "count"), [(63, 1), (64, 0)])
def test_a_name_that_is_too_long_is_reported_elsewhere(length: int, count: int) -> None:
    job = making.job()._replace(name="1" + "a" * (length - 1))
    assert len(list(check_service_name(job, "a Service"))) == count
