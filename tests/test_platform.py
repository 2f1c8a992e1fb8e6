"""What a cluster must have: for its jobs, for one job, and the operator's chart of reference document 004."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ptcompile import ClusterProfile, Spec, platform
from ptcompile.source import read

CLUSTER = ClusterProfile.model_validate({"spec": {}})


def spec(job: dict[str, Any], **metadata: Any) -> Spec:
    common = {"image": "i", "script": "t.py"}
    return Spec.model_validate({"metadata": {"name": "job", **metadata}, "spec": {**common, **job}})


def names(found: tuple[platform.Requirement, ...], kind: str) -> list[str]:
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
    assert names(platform.requires(spec({"nodes": 1}), CLUSTER, target), "operator") == operators


def test_versions_are_the_profile_s() -> None:
    profile = ClusterProfile.model_validate({"spec": {"versions": {"kubernetes": "1.33", "trainingOperator": "1.8"}}})
    found = platform.requires(spec({"nodes": 2, "target": "pytorchjob"}), profile)
    assert [(one.name, one.version) for one in found if one.version] == [
        ("kubernetes", "1.33"),
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
    found = platform.requires(job, CLUSTER)
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


def test_the_operator_s_chart_has_the_document_s_defaults() -> None:
    setup = platform.platform(CLUSTER)
    assert setup.values == {
        "image": {"repository": "ccr.ccs.tencentyun.com/tke-market/pytorch-operator", "tag": "latest"},
        "namespace": {"create": True, "name": "pytorch-operator"},
    }
    assert "#   repository: ccr.ccs.tencentyun.com/tke-market/pytorch-operator\n" in setup.text()
    assert read(setup.text()).documents == ()


def test_objects_before_the_jobs() -> None:
    jobs = [
        spec({"nodes": 2, "queue": "gold", "priorityClassName": "high"}, namespace="ml"),
        spec({"nodes": 2, "queue": "gold", "priorityClassName": "system-node-critical"}, namespace="ml"),
        spec({"nodes": 2, "target": "volcano", "queue": "bulk"}, namespace="volcano-jobs"),
    ]
    setup = platform.platform(CLUSTER, jobs, priorities={"low": -5})
    documents = list(yaml.safe_load_all(setup.text()))
    assert [(one["kind"], one["metadata"]["name"]) for one in documents] == [
        ("Namespace", "ml"),
        ("Namespace", "volcano-jobs"),
        ("PriorityClass", "high"),
        ("PriorityClass", "low"),
        ("LocalQueue", "gold"),
        ("Queue", "bulk"),
    ]
    assert [one["value"] for one in documents if one["kind"] == "PriorityClass"] == [0, -5]
    assert documents[4]["metadata"]["namespace"] == "ml"
    assert setup.values == {}


def test_the_chart_s_own_namespace_is_left_to_the_chart() -> None:
    job = spec({"nodes": 2, "target": "pytorchjob"}, namespace="pytorch-operator")
    own = platform.Operator(namespace_create=False)
    kinds = [[one["kind"] for one in platform.platform(CLUSTER, [job], operator=one).manifests] for one in (None, own)]
    assert kinds == [[], ["Namespace"]]


def test_old_kueue_has_the_old_version() -> None:
    profile = ClusterProfile.model_validate({"spec": {"versions": {"kueue": "0.14"}}})
    made = platform.platform(profile, [spec({"nodes": 2, "queue": "gold"})]).manifests
    assert made[0]["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    assert platform.platform(CLUSTER, [spec({"nodes": 2, "queue": "q"})]).manifests[0]["apiVersion"].endswith("v1beta2")


def test_what_every_cluster_has_is_not_made() -> None:
    jobs = [spec({"nodes": 1}, namespace="default"), spec({"nodes": 1, "target": "volcano", "queue": "default"})]
    assert platform.platform(CLUSTER, jobs).manifests == ()
