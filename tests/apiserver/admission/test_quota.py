"""ResourceQuotas: amounts, scopes, counts of objects, storage, devices and what is used already."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.apiserver.admission.beside import (
    Json,
    from_yaml,
    job,
    limit_range,
    messages,
    pod,
    quota,
    rejections,
)

CPU = {"limits": {"cpu": "4"}}


def texts(*objects: Json, **options: Any) -> list[str]:
    """Return the messages without their paths."""
    return [message.partition(": ")[2] for message in messages(*objects, **options)]


@pytest.mark.parametrize(
    ("hard", "manifest", "expected"),
    [
        ({"limits.cpu": 4}, pod(CPU), []),
        ({"limits.cpu": 4}, pod({}, CPU, init={}), ["failed quota: team: must specify limits.cpu for: c0,first"]),
        ({"cpu": 4, "limits.memory": 1}, pod({}),
         ["failed quota: team: must specify cpu for: c0; limits.memory for: c0"]),
        ({"requests.ephemeral-storage": 1}, pod({}), []),
        ({"requests.cpu": 3}, pod({"requests": {"cpu": 2}}, {"requests": {"cpu": 2}}),
         ["exceeded quota: team, requested: requests.cpu=4, used: requests.cpu=0, limited: requests.cpu=3"]),
        ({"requests.cpu": 3}, pod({}, resources={"requests": {"cpu": 2}}), []),
        ({"limits.nvidia.com/gpu": 1}, pod({"limits": {"nvidia.com/gpu": 8}}), []),
        ({"requests.nvidia.com/gpu": 1}, pod({"limits": {"nvidia.com/gpu": 8}}),
         ["exceeded quota: team, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=0,"
          " limited: requests.nvidia.com/gpu=1"]),
        ({"count/pods": 0, "pods": 0}, pod({}),
         ["exceeded quota: team, requested: count/pods=1,pods=1, used: count/pods=0,pods=0,"
          " limited: count/pods=0,pods=0"]),
        ({"hugepages-2Mi": "2Mi"}, pod({"limits": {"cpu": 1, "hugepages-2Mi": "4Mi"}}),
         ["exceeded quota: team, requested: hugepages-2Mi=4Mi, used: hugepages-2Mi=0, limited: hugepages-2Mi=2Mi"]),
    ],
)  # fmt: skip
def test_a_pod_is_counted_by_each_hard_limit(
    hard: Json, manifest: Json, expected: list[str]
) -> None:
    assert texts(quota(hard), manifest) == expected


def selecting(name: str, operator: str = "Exists", *values: str) -> Json:
    expression = {
        "scopeName": name,
        "operator": operator,
        **({"values": list(values)} if values else {}),
    }
    return {"scopeSelector": {"matchExpressions": [expression]}}


ACROSS = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "zone", "namespaces": ["other"], "labelSelector": {}}]}}  # fmt: skip


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ({"scopes": ["Terminating"]}, pod({}, activeDeadlineSeconds=9), pod({})),
        ({"scopes": ["NotTerminating"]}, pod({}), pod({}, activeDeadlineSeconds=9)),
        ({"scopes": ["BestEffort"]}, pod({"limits": {"nvidia.com/gpu": 1}}), pod(CPU)),
        ({"scopes": ["NotBestEffort"]}, pod(CPU), pod({})),
        ({"scopes": ["PriorityClass"]}, pod({}, priorityClassName="high"), pod({})),
        (
            selecting("PriorityClass", "In", "high"),
            pod({}, priorityClassName="high"),
            pod({}, priorityClassName="low"),
        ),
        (selecting("PriorityClass", "NotIn", "high"), pod({}), pod({}, priorityClassName="high")),
        (selecting("PriorityClass", "DoesNotExist"), pod({}), pod({}, priorityClassName="high")),
        ({"scopes": ["CrossNamespacePodAffinity"]}, pod({}, affinity=ACROSS), pod({})),
        (
            {"scopes": ["Terminating", "BestEffort"]},
            pod({}, activeDeadlineSeconds=9),
            pod(CPU, activeDeadlineSeconds=9),
        ),
    ],
)
def test_a_scoped_quota_counts_only_objects_of_its_scope(
    scope: Json, inside: Json, outside: Json
) -> None:
    scoped = quota({"pods": 0}, **scope)
    assert len(texts(scoped, inside)) == 1
    assert texts(scoped, outside) == []


def simple(kind: str, api_version: str = "v1", **fields: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "o"}, **fields}


BALANCER = simple(
    "Service", spec={"type": "LoadBalancer", "ports": [{"port": 1}, {"port": 2, "name": "b"}]}
)
BALANCER["spec"]["ports"][0]["name"] = "a"
CLAIM = simple(
    "PersistentVolumeClaim",
    spec={
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "gold",
        "resources": {"requests": {"storage": "2Gi"}},
    },
)


@pytest.mark.parametrize(
    ("hard", "manifest", "requested"),
    [
        ({"configmaps": 0}, simple("ConfigMap"), "configmaps=1"),
        ({"count/configmaps": 0}, simple("ConfigMap"), "count/configmaps=1"),
        ({"count/jobs.batch": 0}, job({}), "count/jobs.batch=1"),
        ({"count/networkpolicies.networking.k8s.io": 0},
         simple("NetworkPolicy", "networking.k8s.io/v1", spec={"podSelector": {}}),
         "count/networkpolicies.networking.k8s.io=1"),
        ({"services.nodeports": 1}, BALANCER, "services.nodeports=2"),
        ({"services.loadbalancers": 0}, BALANCER, "services.loadbalancers=1"),
        ({"requests.storage": "1Gi"}, CLAIM, "requests.storage=2Gi"),
        ({"gold.storageclass.storage.k8s.io/requests.storage": "1Gi"}, CLAIM,
         "gold.storageclass.storage.k8s.io/requests.storage=2Gi"),
        ({"gold.storageclass.storage.k8s.io/persistentvolumeclaims": 0}, CLAIM,
         "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1"),
        ({"silver.storageclass.storage.k8s.io/requests.storage": "1Gi"}, CLAIM, None),
        ({"gpu.deviceclass.resource.k8s.io/devices": 3},
         simple("ResourceClaim", "resource.k8s.io/v1",
                spec={"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 4}}]}}),
         "gpu.deviceclass.resource.k8s.io/devices=4"),
        ({"pods": 0, "configmaps": 0}, simple("Namespace"), None),
    ],
)  # fmt: skip
def test_objects_other_than_pods_are_counted(
    hard: Json, manifest: Json, requested: str | None
) -> None:
    reported = [text for text in texts(quota(hard), manifest) if "quota" in text]
    assert [text.partition("requested: ")[2].partition(", used")[0] for text in reported] == (
        [] if requested is None else [requested]
    )


def test_a_scope_can_select_a_volume_attributes_class() -> None:
    scoped = quota(
        {"persistentvolumeclaims": 0}, **selecting("VolumeAttributesClass", "In", "fast")
    )
    assert texts(scoped, CLAIM) == []
    assert (
        len(
            texts(scoped, {**CLAIM, "spec": {**CLAIM["spec"], "volumeAttributesClassName": "fast"}})
        )
        == 1
    )


def test_resources_of_a_crd_are_counted_by_its_plural() -> None:
    definition, own, limit = from_yaml("""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: geese.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Goose, plural: geese, singular: goose, listKind: GooseList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
{apiVersion: example.com/v1, kind: Goose, metadata: {name: g}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {count/geese.example.com: 0}}}
""")
    assert len(texts(definition, limit, own)) == 1


def test_what_is_used_already_counts() -> None:
    used = {**quota({"pods": 3}), "status": {"hard": {"pods": 3}, "used": {"pods": 2}}}
    assert texts(used, pod({})) == []
    (rejection,) = rejections(used, job({}))
    assert rejection.message.endswith(
        "requested: pods=1, used: pods=3, limited: pods=3, for pod 2 of 2"
    )
    stored = {**pod({}), "metadata": {"name": "p", "uid": "1"}}
    assert texts({**used, "status": {"used": {"pods": 3}}}, stored) == []


def test_all_pods_of_a_job_count_together() -> None:
    (rejection,) = rejections(quota({"limits.cpu": 10}), job(CPU, pods=4))
    assert (rejection.code, rejection.stage, rejection.authority) == (
        "PTC294",
        "pod",
        "kube-apiserver",
    )
    assert rejection.path == ("spec", "template", "spec", "containers", 0, "resources")
    assert rejection.message.endswith(
        "exceeded quota: team, requested: limits.cpu=4, used: limits.cpu=8, limited: limits.cpu=10, for pod 3 of 4"
    )


def test_pods_of_a_runtime_belong_to_its_trainjob() -> None:
    runtime, train = from_yaml("""
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: r}
spec:
  mlPolicy: {numNodes: 1, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: i}]}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t}
spec:
  runtimeRef: {kind: TrainingRuntime, name: r}
  trainer: {numNodes: 4, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}
""")
    hard = quota({"requests.nvidia.com/gpu": 8, "limits.cpu": 1})
    assert [
        rejection for rejection in rejections(hard, train, runtime) if rejection.code == "PTC294"
    ] == []
    reported = [
        rejection for rejection in rejections(hard, runtime, train) if rejection.code == "PTC294"
    ]
    assert {problem.path for problem in reported} == {("spec",)}
    assert any(problem.message.endswith("for pod 3 of 4") for problem in reported)


def test_defaults_of_a_limit_range_come_first() -> None:
    limits = limit_range({"type": "Container", "default": {"cpu": 2}})
    assert texts(quota({"limits.cpu": 2}), limits, pod({})) == []
    assert texts(quota({"limits.cpu": 1}), limits, pod({})) == [
        "exceeded quota: team, requested: limits.cpu=2, used: limits.cpu=0, limited: limits.cpu=1"
    ]


def test_a_job_of_a_cron_job_is_counted_when_it_is_created() -> None:
    cron = simple(
        "CronJob", "batch/v1", spec={"schedule": "@daily", "jobTemplate": {"spec": job({})["spec"]}}
    )
    diagnostics = ptcompile.lint(
        [quota({"count/jobs.batch": 0, "limits.cpu": 1}), cron]
    ).diagnostics
    quotas = [diagnostic for diagnostic in diagnostics if diagnostic.code == "PTC294"]
    assert {(diagnostic.stage, diagnostic.severity) for diagnostic in quotas} == {("pod", "error")}
    assert len(quotas) == 2


def test_many_quotas_and_pods_are_limited() -> None:
    """A finding reports what was not checked, and the time does not grow with the product."""
    quotas = [
        quota({"pods": 5}, name=f"q{i}", **selecting("PriorityClass", "In", f"c{i}", "d"))
        for i in range(300)
    ]
    pods = [{**pod({}), "metadata": {"name": f"p{i}"}} for i in range(3000)]
    diagnostics = ptcompile.lint([*quotas, *pods]).diagnostics
    assert any(
        diagnostic.code == "PTC591" and "too many steps" in diagnostic.message
        for diagnostic in diagnostics
    )
