"""Cluster requirements of one job: operators, objects, releases, and drivers for claimed devices."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile import ClusterProfile, Spec
from ptcompile.requirements import jobs
from tests.making import smallest

GB200 = "nodes: 2\naccelerator: nvidia-gb200\nfabric: nvlink-domain\nresources: {gpu: 4}"
CHANNELS = "DeviceClass/compute-domain-default-channel.nvidia.com"


def needs(body: str, profile: dict[str, Any]) -> list[tuple[str, str, str]]:
    cluster = {"kind": "ClusterProfile", "apiVersion": "ptcompile/v1", "spec": profile}
    made = ptcompile.compile(smallest(body), target="jobset", cluster=cluster)
    of_spec = ptcompile.requires(smallest(body), target="jobset", cluster=cluster).requirements
    of_manifests = ptcompile.requires(made.yaml(), cluster=cluster).requirements
    devices = {
        manifest
        for manifest in of_manifests
        if "DeviceClass" in manifest.name or manifest.name == "Configuration/kueue"
    }
    assert devices == {
        one for one in of_spec if "DeviceClass" in one.name or one.name == "Configuration/kueue"
    }
    return [(one.kind, one.name, one.version) for one in of_spec]


def test_a_job_requires_the_driver_its_crd_and_its_class() -> None:
    needed = needs(GB200, {"cloud": "eks", "versions": {"nvidiaDra": "25.12"}})
    assert ("operator", "nvidia-dra-driver-gpu", "25.12") in needed
    assert ("crd", "computedomains.resource.nvidia.com/v1beta1", "") in needed
    assert ("object", CHANNELS, "") in needed
    assert ("kubernetes", "kubernetes", "1.34") in needed


def test_an_older_driver_needs_an_older_kubernetes() -> None:
    needed = needs(GB200, {"cloud": "eks", "versions": {"nvidiaDra": "25.3"}})
    assert ("kubernetes", "kubernetes", "1.32") in needed


@pytest.mark.parametrize("queue", [True, False])
def test_kueue_needs_a_configuration_for_a_device_class(queue: bool) -> None:
    needed = needs(GB200 + ("\nqueue: gb200" if queue else ""), {"cloud": "eks"})
    assert (("object", "Configuration/kueue", "") in needed) is queue


@pytest.mark.parametrize(
    ("target", "release", "is_needed"),
    [("pytorchjob", "0.19", True), ("pytorchjob", "0.18", False), ("job", "0.19", False)],
)
def test_a_kind_that_kueue_leaves_out_needs_a_configuration(
    target: str, release: str, is_needed: bool
) -> None:
    cluster = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "spec": {"versions": {"kueue": release}},
    }
    spec = smallest("nodes: 2\nqueue: team")
    manifests = ptcompile.compile(spec, target=target, cluster=cluster).yaml()
    for found in (
        ptcompile.requires(spec, target=target, cluster=cluster),
        ptcompile.requires(manifests, cluster=cluster),
    ):
        reasons = [
            requirement.why
            for requirement in found.requirements
            if requirement.name == "Configuration/kueue"
        ]
        assert [
            reason.startswith("integrations.frameworks lists kubeflow.org/pytorchjob")
            for reason in reasons
        ] == ([True] if is_needed else [])
    queueless = ptcompile.requires(smallest("nodes: 2"), target=target, cluster=cluster)
    assert not [
        requirement
        for requirement in queueless.requirements
        if requirement.name == "Configuration/kueue"
    ]


def test_claim_templates_of_v1_need_kubernetes_1_34() -> None:
    needed = needs(
        "resources: {gpu: 1}", {"gpu": {"claim": {"deviceClassName": "gpu.example.com"}}}
    )
    assert ("kubernetes", "kubernetes", "1.34") in needed
    assert ("object", "DeviceClass/gpu.example.com", "") in needed
    assert "nvidia-dra-driver-gpu" not in [name for _, name, _ in needed]


def test_jobs_without_claims_need_no_driver() -> None:
    assert not [
        need
        for need in needs("resources: {gpu: 1}", {})
        if "DeviceClass" in need[1] or "dra" in need[1]
    ]


CLUSTER = ClusterProfile.model_validate({"spec": {}})


def spec(job: dict[str, Any], **metadata: Any) -> Spec:
    common = {"image": "i", "script": "t.py"}
    return Spec.model_validate({"metadata": {"name": "job", **metadata}, "spec": {**common, **job}})


def names(requirements: tuple[jobs.Requirement, ...], kind: str) -> list[str]:
    return [requirement.name for requirement in requirements if requirement.kind == kind]


@pytest.mark.parametrize(
    ("target", "operators"),
    [
        ("pod", []),
        ("job", []),
        ("pytorchjob", ["training-operator"]),
        ("volcano", ["volcano"]),
        ("jobset", ["jobset"]),
        ("trainjob", ["trainer", "jobset"]),
    ],
)
def test_each_target_requires_its_operators(target: str, operators: list[str]) -> None:
    assert names(jobs.requires_spec(spec({"nodes": 1}), CLUSTER, target), "operator") == operators


def test_versions_come_from_the_profile() -> None:
    profile = ClusterProfile.model_validate(
        {"spec": {"versions": {"kubernetes": "1.33", "trainingOperator": "1.8"}}}
    )
    requirements = jobs.requires_spec(spec({"nodes": 2, "target": "pytorchjob"}), profile)
    assert [
        (requirement.name, requirement.version)
        for requirement in requirements
        if requirement.version
    ] == [
        ("kubernetes", "1.30"),  # the oldest sufficient release, not the cluster's
        ("training-operator", "1.8"),
    ]


def test_objects_that_a_job_references_are_required() -> None:
    job = spec(
        {
            "nodes": 2,
            "queue": "gold",
            "priorityClassName": "high",
            "serviceAccountName": "trainer",
            "imagePullSecrets": [{"name": "registry"}],
            "env": {"A": {"secretKeyRef": {"name": "s", "key": "k"}}, "B": "1"},
            "envFrom": [
                {"configMapRef": {"name": "c"}},
                {"secretRef": {"name": "o", "optional": True}},
            ],
            "volumes": [
                {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "e", "emptyDir": {}},
            ],
            "resources": {"gpu": 8, "devices": {"vpc.amazonaws.com/efa": 4}},
        },
        namespace="ml",
    )
    requirements = jobs.requires_spec(job, CLUSTER)
    assert names(requirements, "object") == [
        "PriorityClass/high",
        "LocalQueue/gold",
        "ServiceAccount/trainer",
        "Secret/registry",
        "Secret/s",
        "ConfigMap/c",
        "PersistentVolumeClaim/data",
    ]
    assert names(requirements, "resource") == ["nvidia.com/gpu", "vpc.amazonaws.com/efa"]
    assert names(requirements, "namespace") == ["ml"]
    assert names(requirements, "operator") == ["kueue"]


def test_objects_that_the_profile_s_pods_reference_are_required() -> None:
    secret = {"name": "T", "valueFrom": {"secretKeyRef": {"name": "token", "key": "k"}}}
    template = {"spec": {"containers": [{"name": "pytorch", "env": [secret]}]}}
    defaults = {
        "serviceAccountName": "trainer",
        "imagePullSecrets": [{"name": "registry"}],
        "podTemplate": template,
    }
    profile = ClusterProfile.model_validate({"spec": {"defaults": defaults}})
    assert names(jobs.requires_spec(spec({"nodes": 1}), profile), "object") == [
        "ServiceAccount/trainer",
        "Secret/registry",
        "Secret/token",
    ]


@pytest.mark.parametrize(
    ("profile", "target", "operators", "objects"),
    [
        (
            {},
            "trainjob",
            ["trainer", "jobset", "kueue"],
            ["WorkloadPriorityClass/high", "LocalQueue/gold"],
        ),
        (
            {"queueSystem": "volcano"},
            "trainjob",
            ["trainer", "jobset", "volcano"],
            ["PriorityClass/high", "Queue/gold"],
        ),
        ({"queueSystem": "volcano"}, "job", ["volcano"], ["PriorityClass/high", "Queue/gold"]),
        (
            {"queueSystem": "kai"},
            "jobset",
            ["jobset", "kai-scheduler"],
            ["PriorityClass/high", "Queue/gold"],
        ),
        ({}, "volcano", ["volcano"], ["PriorityClass/high", "Queue/gold"]),
        (
            {"gangScheduler": "scheduler-plugins"},
            "job",
            ["kueue", "scheduler-plugins"],
            ["WorkloadPriorityClass/high", "LocalQueue/gold"],
        ),
    ],
)
def test_a_job_requires_its_queue_system_and_gang_scheduler(
    profile: dict[str, Any], target: str, operators: list[str], objects: list[str]
) -> None:
    cluster = ClusterProfile.model_validate({"spec": profile})
    requirements = jobs.requires_spec(
        spec({"nodes": 2, "queue": "gold", "priority": "high"}), cluster, target
    )
    assert names(requirements, "operator") == operators
    assert sorted(names(requirements, "object")) == sorted(objects)
    assert len(set(requirements)) == len(requirements)


def test_a_runtime_of_its_own_needs_none_of_the_cluster() -> None:
    volumes = "volumes: [{name: d, hostPath: {path: /d}}]\nvolumeMounts: [{name: d, mountPath: /d}]"
    for body, needs_one in (("restartPolicy: OnFailure", True), (volumes, False)):
        needs = map(str, ptcompile.requires(smallest(body), target="trainjob").requirements)
        kinds = {
            need.split()[1].partition(".")[0]
            for need in needs
            if need.startswith(("crd", "runtime"))
        }
        assert ({"torch-distributed", "clustertrainingruntimes"} <= kinds) is needs_one, body
        assert "trainingruntimes" in kinds
