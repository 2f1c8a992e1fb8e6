"""What a cluster must have for one job."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile import ClusterProfile, Spec
from ptcompile.prerequisites import requirements

CLUSTER = ClusterProfile.model_validate({"spec": {}})


def spec(job: dict[str, Any], **metadata: Any) -> Spec:
    common = {"image": "i", "script": "t.py"}
    return Spec.model_validate({"metadata": {"name": "job", **metadata}, "spec": {**common, **job}})


def names(found: tuple[requirements.Requirement, ...], kind: str) -> list[str]:
    return [one.name for one in found if one.kind == kind]


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
def test_operators_by_target(target: str, operators: list[str]) -> None:
    assert names(requirements.requires(spec({"nodes": 1}), CLUSTER, target), "operator") == operators


def test_versions_are_the_profile_s() -> None:
    profile = ClusterProfile.model_validate({"spec": {"versions": {"kubernetes": "1.33", "trainingOperator": "1.8"}}})
    found = requirements.requires(spec({"nodes": 2, "target": "pytorchjob"}), profile)
    assert [(one.name, one.version) for one in found if one.version] == [
        ("kubernetes", "1.30"),  # the oldest that will do, and not the cluster's own
        ("training-operator", "1.8"),
    ]


def test_what_a_job_names_and_does_not_make() -> None:
    job = spec(
        {
            "nodes": 2,
            "queue": "gold",
            "priorityClassName": "high",
            "serviceAccountName": "trainer",
            "imagePullSecrets": [{"name": "registry"}],
            "env": {"A": {"secretKeyRef": {"name": "s", "key": "k"}}, "B": "1"},
            "envFrom": [{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "o", "optional": True}}],
            "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "e", "emptyDir": {}}],
            "resources": {"gpu": 8, "devices": {"vpc.amazonaws.com/efa": 4}},
        },
        namespace="ml",
    )
    found = requirements.requires(job, CLUSTER)
    assert names(found, "object") == [
        "PriorityClass/high",
        "LocalQueue/gold",
        "ServiceAccount/trainer",
        "Secret/registry",
        "Secret/s",
        "ConfigMap/c",
        "PersistentVolumeClaim/data",
    ]
    assert names(found, "resource") == ["nvidia.com/gpu", "vpc.amazonaws.com/efa"]
    assert names(found, "namespace") == ["ml"]
    assert names(found, "operator") == ["kueue"]


def test_what_the_profile_s_pods_name_counts_too() -> None:
    secret = {"name": "T", "valueFrom": {"secretKeyRef": {"name": "token", "key": "k"}}}
    template = {"spec": {"containers": [{"name": "pytorch", "env": [secret]}]}}
    defaults = {"serviceAccountName": "trainer", "imagePullSecrets": [{"name": "registry"}], "podTemplate": template}
    profile = ClusterProfile.model_validate({"spec": {"defaults": defaults}})
    assert names(requirements.requires(spec({"nodes": 1}), profile), "object") == [
        "ServiceAccount/trainer",
        "Secret/registry",
        "Secret/token",
    ]


@pytest.mark.parametrize(
    ("profile", "target", "operators", "objects"),
    [
        ({}, "trainjob", ["trainer", "jobset", "kueue"], ["WorkloadPriorityClass/high", "LocalQueue/gold"]),
        (
            {"queueSystem": "volcano"},
            "trainjob",
            ["trainer", "jobset", "volcano"],
            ["PriorityClass/high", "Queue/gold"],
        ),
        ({"queueSystem": "volcano"}, "job", ["volcano"], ["PriorityClass/high", "Queue/gold"]),
        ({"queueSystem": "kai"}, "jobset", ["jobset", "kai-scheduler"], ["PriorityClass/high", "Queue/gold"]),
        ({}, "volcano", ["volcano"], ["PriorityClass/high", "Queue/gold"]),
        (
            {"gangScheduler": "scheduler-plugins"},
            "job",
            ["kueue", "scheduler-plugins"],
            ["WorkloadPriorityClass/high", "LocalQueue/gold"],
        ),
    ],
)
def test_who_admits_and_who_places(
    profile: dict[str, Any], target: str, operators: list[str], objects: list[str]
) -> None:
    cluster = ClusterProfile.model_validate({"spec": profile})
    found = requirements.requires(spec({"nodes": 2, "queue": "gold", "priority": "high"}), cluster, target)
    assert names(found, "operator") == operators
    assert sorted(names(found, "object")) == sorted(objects)
    assert len(set(found)) == len(found)
