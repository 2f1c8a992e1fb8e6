"""Kinds used with training jobs: one change to a valid object, and the path that the server rejects."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import is_supported, validate
from ptcompile.kubernetes.versions import Versions
from tests.differ.applying.test_updates import changed

Json = dict[str, Any]
NEWER, OLDER = Versions(kubernetes=(1, 36)), Versions(kubernetes=(1, 32))
POD = {"containers": [{"name": "c", "image": "i"}]}
SELECTOR = {"matchLabels": {"a": "b"}}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
TARGET = {"type": "Utilization", "averageUtilization": 50}
RBAC = "rbac.authorization.k8s.io"


def _kind(api_version: str, kind: str, **body: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **body}


_CRD_SPEC = {
    "group": "example.com",
    "scope": "Namespaced",
    "names": {"kind": "Foo", "plural": "foos"},
    "versions": [
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object"}},
        }
    ],
}

GOOD: dict[str, Json] = {
    "deployment": _kind("apps/v1", "Deployment", spec={"selector": SELECTOR, "template": TEMPLATE}),
    "replica-set": _kind(
        "apps/v1", "ReplicaSet", spec={"selector": SELECTOR, "template": TEMPLATE}
    ),
    "daemon-set": _kind("apps/v1", "DaemonSet", spec={"selector": SELECTOR, "template": TEMPLATE}),
    "stateful-set": _kind(
        "apps/v1",
        "StatefulSet",
        spec={"serviceName": "s", "selector": SELECTOR, "template": TEMPLATE},
    ),
    "controller": _kind("v1", "ReplicationController", spec={"template": TEMPLATE}),
    "pod-template": _kind("v1", "PodTemplate", template=TEMPLATE),
    "cron-job": _kind(
        "batch/v1",
        "CronJob",
        spec={
            "schedule": "0 3 * * *",
            "jobTemplate": {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}},
        },
    ),
    "volume": _kind(
        "v1",
        "PersistentVolume",
        spec={
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteMany"],
            "nfs": {"server": "s", "path": "/"},
        },
    ),
    "storage-class": _kind("storage.k8s.io/v1", "StorageClass", provisioner="a.b/c"),
    "quota": _kind("v1", "ResourceQuota", spec={"hard": {"requests.cpu": "1"}}),
    "limits": _kind(
        "v1", "LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}}]}
    ),
    "autoscaler": _kind(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        spec={
            "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": TARGET}}],
        },
    ),
    "budget": _kind(
        "policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1, "selector": SELECTOR}
    ),
    "priority": _kind("scheduling.k8s.io/v1", "PriorityClass", value=1000),
    "runtime-class": _kind("node.k8s.io/v1", "RuntimeClass", handler="runc"),
    "role": _kind(
        f"{RBAC}/v1", "Role", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    ),
    "cluster-role": _kind(
        f"{RBAC}/v1", "ClusterRole", rules=[{"nonResourceURLs": ["/x"], "verbs": ["get"]}]
    ),
    "binding": _kind(
        f"{RBAC}/v1",
        "RoleBinding",
        roleRef={"apiGroup": RBAC, "kind": "Role", "name": "a"},
        subjects=[{"kind": "ServiceAccount", "name": "s"}],
    ),
    "cluster-binding": _kind(
        f"{RBAC}/v1",
        "ClusterRoleBinding",
        roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": "a"},
    ),
    "ingress": _kind(
        "networking.k8s.io/v1",
        "Ingress",
        spec={
            "rules": [
                {
                    "host": "a.example.com",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "s", "port": {"number": 80}}},
                            }
                        ]
                    },
                }
            ]
        },
    ),
    "ingress-class": _kind(
        "networking.k8s.io/v1", "IngressClass", spec={"controller": "example.com/c"}
    ),
    "claim-template": _kind(
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
        spec={
            "spec": {
                "devices": {
                    "requests": [{"name": "g", "exactly": {"deviceClassName": "gpu.example.com"}}]
                }
            }
        },
    ),
    "device-class": _kind(
        "resource.k8s.io/v1",
        "DeviceClass",
        spec={"selectors": [{"cel": {"expression": "device.driver == 'a'"}}]},
    ),
    "lease": _kind(
        "coordination.k8s.io/v1", "Lease", spec={"holderIdentity": "x", "leaseDurationSeconds": 15}
    ),
    "account": _kind("v1", "ServiceAccount", automountServiceAccountToken=False),
    "webhooks": _kind(
        "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhooks=[]
    ),
    "any-crd": {
        **_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", spec=_CRD_SPEC),
        "metadata": {"name": "foos.example.com"},
    },
}

_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}

BAD: list[tuple[str, str, Any, str]] = [
    ("deployment", "spec.selector.matchLabels", {"a": "c"}, "spec.template.metadata.labels"),
    ("deployment", "spec.selector", {}, "spec.selector"),
    ("deployment", "spec.replicas", -1, "spec.replicas"),
    ("deployment", "spec.replica", 1, "spec.replica"),
    ("deployment", "spec.template.spec.restartPolicy", "Never", "spec.template.spec.restartPolicy"),
    ("deployment", "spec.template.spec.containers", [], "spec.template.spec.containers"),
    (
        "deployment",
        "spec.template.spec.activeDeadlineSeconds",
        5,
        "spec.template.spec.activeDeadlineSeconds",
    ),
    (
        "deployment",
        "spec.strategy",
        {"type": "Recreate", "rollingUpdate": {}},
        "spec.strategy.rollingUpdate",
    ),
    (
        "deployment",
        "spec.strategy.rollingUpdate",
        {"maxSurge": 0, "maxUnavailable": "0%"},
        "spec.strategy.rollingUpdate.maxUnavailable",
    ),
    ("deployment", "spec.progressDeadlineSeconds", 0, "spec.progressDeadlineSeconds"),
    ("replica-set", "spec.selector", None, "spec.selector"),
    (
        "daemon-set",
        "spec.updateStrategy.rollingUpdate",
        {"maxSurge": 1},
        "spec.updateStrategy.rollingUpdate.maxSurge",
    ),
    ("daemon-set", "spec.updateStrategy.type", "x", "spec.updateStrategy.type"),
    ("stateful-set", "spec.podManagementPolicy", "x", "spec.podManagementPolicy"),
    (
        "stateful-set",
        "spec.updateStrategy",
        {"type": "OnDelete", "rollingUpdate": {}},
        "spec.updateStrategy.rollingUpdate",
    ),
    ("stateful-set", "spec.serviceName", "a.b", "spec.serviceName"),
    ("stateful-set", "metadata.name", "a.b", "metadata.name"),
    (
        "stateful-set",
        "spec.volumeClaimTemplates",
        [{"metadata": {"name": "A"}, "spec": _CLAIM}],
        "spec.volumeClaimTemplates.0.metadata.name",
    ),
    (
        "stateful-set",
        "spec.volumeClaimTemplates",
        [
            {
                "metadata": {"name": "a"},
                "spec": {**_CLAIM, "dataSource": {"apiGroup": "A", "kind": "K", "name": "n"}},
            }
        ],
        "spec.volumeClaimTemplates.0.spec.dataSource.apiGroup",
    ),
    ("controller", "spec.selector", {"a": "c"}, "spec.template.metadata.labels"),
    ("pod-template", "template.spec.containers", [], "template.spec.containers"),
    ("cron-job", "spec.schedule", "0 3 * *", "spec.schedule"),
    ("cron-job", "spec.schedule", "0 25 * * *", "spec.schedule"),
    ("cron-job", "spec.schedule", "9" * 5000 + " 3 * * *", "spec.schedule"),
    ("cron-job", "spec.schedule", "@sometimes", "spec.schedule"),
    ("cron-job", "spec.schedule", "TZ=UTC 0 3 * * *", "spec.schedule"),
    ("cron-job", "spec.schedule", "@every 1.5.5h", "spec.schedule"),
    ("cron-job", "spec.schedule", "@every .h", "spec.schedule"),
    ("cron-job", "spec.schedule", "@every 5", "spec.schedule"),
    ("cron-job", "spec.schedule", "@every", "spec.schedule"),
    ("cron-job", "spec.schedule", "@every ", "spec.schedule"),
    ("cron-job", "spec.timeZone", "Berlin", "spec.timeZone"),
    ("cron-job", "spec.concurrencyPolicy", "No", "spec.concurrencyPolicy"),
    ("cron-job", "metadata.name", "a" * 53, "metadata.name"),
    (
        "cron-job",
        "spec.jobTemplate.spec.manualSelector",
        True,
        "spec.jobTemplate.spec.manualSelector",
    ),
    (
        "cron-job",
        "spec.jobTemplate.spec.template.spec.restartPolicy",
        "Always",
        "spec.jobTemplate.spec.template.spec.restartPolicy",
    ),
    ("volume", "spec.capacity", {"cpu": "1"}, "spec.capacity"),
    ("volume", "spec.accessModes", [], "spec.accessModes"),
    ("volume", "spec.nfs", None, "spec"),
    ("volume", "spec.hostPath", {"path": "/x"}, "spec.nfs"),
    ("volume", "spec.local", {"path": "/x"}, "spec.nodeAffinity"),
    (
        "volume",
        "spec",
        {
            **_VOLUME,
            "csi": {
                "driver": "d",
                "volumeHandle": "h",
                "nodeExpandSecretRef": {"name": "A", "namespace": "n"},
            },
        },
        "spec.csi.nodeExpandSecretRef.name",
    ),
    ("storage-class", "provisioner", "", "provisioner"),
    ("storage-class", "reclaimPolicy", "Recycle", "reclaimPolicy"),
    ("quota", "spec.hard", {"cpus": "1"}, "spec.hard.cpus"),
    ("quota", "spec.hard", {"pods": "1500m"}, "spec.hard.pods"),
    ("quota", "spec.scopes", ["BestEffort"], "spec.scopes"),
    ("limits", "spec.limits.0.type", "Node", "spec.limits.0.type"),
    ("limits", "spec.limits.0", {"type": "Pod", "default": {"cpu": "1"}}, "spec.limits.0.default"),
    ("limits", "spec.limits.0", {"type": "Pod", "min": {"a b": "1"}}, "spec.limits.0.min.a b"),
    ("limits", "spec.limits.0.default", {"a b": "1"}, "spec.limits.0.default.a b"),
    ("limits", "spec.limits.0.max", {"frobnicate": "1"}, "spec.limits.0.max.frobnicate"),
    ("limits", "spec.limits.0", {"type": "PersistentVolumeClaim"}, "spec.limits.0.limits"),
    (
        "limits",
        "spec.limits.0",
        {"type": "PersistentVolumeClaim", "max": {"cpu": "1"}},
        "spec.limits.0.limits",
    ),
    ("limits", "spec.limits", [{"type": "Container"}, {"type": "Container"}], "spec.limits.1.type"),
    ("limits", "spec.limits.0.min", {"cpu": "3"}, "spec.limits.0.min.cpu"),
    (
        "limits",
        "spec.limits.0.maxLimitRequestRatio",
        {"cpu": "500m"},
        "spec.limits.0.maxLimitRequestRatio.cpu",
    ),
    ("autoscaler", "spec.minReplicas", 4, "spec.maxReplicas"),
    ("autoscaler", "spec.metrics.0.type", "Pods", "spec.metrics.0.pods"),
    (
        "autoscaler",
        "spec.metrics.0.resource.target.type",
        "x",
        "spec.metrics.0.resource.target.type",
    ),
    ("autoscaler", "spec.scaleTargetRef.apiVersion", "v1", "spec.scaleTargetRef.apiVersion"),
    ("autoscaler", "spec.scaleTargetRef.apiVersion", "/v1", "spec.scaleTargetRef.apiVersion"),
    (
        "autoscaler",
        "spec.behavior",
        {"scaleUp": {"policies": []}},
        "spec.behavior.scaleUp.policies",
    ),
    ("budget", "spec.maxUnavailable", 1, "spec"),
    ("budget", "spec.minAvailable", "101%", "spec.minAvailable"),
    ("priority", "value", 2_000_000_000, "value"),
    ("priority", "metadata.name", "system-x", "metadata.name"),
    ("runtime-class", "handler", "A", "handler"),
    ("runtime-class", "overhead", {"podFixed": {"cpu": "-1"}}, "overhead.podFixed.limits.cpu"),
    ("role", "rules.0.verbs", [], "rules.0.verbs"),
    ("role", "rules.0.nonResourceURLs", ["/x"], "rules.0.nonResourceURLs"),
    ("role", "metadata.name", "a/b", "metadata.name"),
    ("cluster-role", "aggregationRule", {}, "aggregationRule.clusterRoleSelectors"),
    ("binding", "roleRef.kind", "User", "roleRef.kind"),
    ("binding", "subjects.0.apiGroup", RBAC, "subjects.0.apiGroup"),
    ("cluster-binding", "roleRef.kind", "Role", "roleRef.kind"),
    (
        "cluster-binding",
        "subjects",
        [{"kind": "ServiceAccount", "name": "s"}],
        "subjects.0.namespace",
    ),
    ("ingress", "spec.rules.0.host", "10.0.0.1", "spec.rules.0.host"),
    ("ingress", "spec.rules.0.http.paths.0.path", "x", "spec.rules.0.http.paths.0.path"),
    ("ingress", "spec.rules.0.http.paths.0.pathType", None, "spec.rules.0.http.paths.0.pathType"),
    (
        "ingress",
        "spec.rules.0.http.paths.0.backend.service.port",
        {},
        "spec.rules.0.http.paths.0.backend.service.port",
    ),
    ("ingress", "spec.rules", [], "spec"),
    ("ingress-class", "spec.controller", "c", "spec.controller"),
    ("claim-template", "spec.metadata", {"name": "x"}, "spec.metadata.name"),
    (
        "claim-template",
        "spec.spec.devices.constraints",
        [{"requests": ["h"], "matchAttribute": "a.b/c"}],
        "spec.spec.devices.constraints.0.requests.0",
    ),
    (
        "claim-template",
        "spec.spec.devices.constraints",
        [{"matchAttribute": "c"}],
        "spec.spec.devices.constraints.0.matchAttribute",
    ),
    (
        "claim-template",
        "spec.spec.devices.requests.0.firstAvailable",
        [{"name": "x", "deviceClassName": "y"}],
        "spec.spec.devices.requests.0",
    ),
    (
        "claim-template",
        "spec.spec.devices",
        {
            "requests": [{"name": "g", "firstAvailable": [{"name": "x", "deviceClassName": "c"}]}],
            "constraints": [{"requests": ["g/x/x"], "matchAttribute": "a.b/c"}],
        },
        "spec.spec.devices.constraints.0.requests.0",
    ),
    ("claim-template", "spec.spec.devices.config", [{}], "spec.spec.devices.config.0.opaque"),
    (
        "claim-template",
        "spec.spec.devices.config",
        [{"opaque": {"driver": "a.b"}}],
        "spec.spec.devices.config.0.opaque.parameters",
    ),
    ("device-class", "spec.selectors.0.cel.expression", "gpu", "spec.selectors.0.cel.expression"),
    ("lease", "spec.leaseDurationSeconds", 0, "spec.leaseDurationSeconds"),
    ("account", "secrets", [{"name": 1}], "secrets.0.name"),
    ("webhooks", "webhooks", {}, "webhooks"),
    ("any-crd", "metadata.labels", {"a b": "c"}, "metadata.labels.a b"),
]


@pytest.mark.parametrize("name", GOOD)
def test_a_valid_object_is_accepted(name: str) -> None:
    assert is_supported(GOOD[name])
    assert validate(GOOD[name], versions=NEWER) == []


@pytest.mark.parametrize(("name", "path", "value", "where"), BAD)
def test_an_invalid_change_is_rejected(name: str, path: str, value: Any, where: str) -> None:
    problems = validate(changed(GOOD[name], path, value), versions=NEWER)
    assert where in {".".join(map(str, problem.path)) for problem in problems}
    assert {(problem.stage, problem.authority) for problem in problems} == {
        ("apply", "kube-apiserver")
    }


@pytest.mark.parametrize(
    "schedule",
    [
        "*/5 0-6 1,15 jan-mar sun",
        "@daily",
        "@every 1h30m",
        "@every 1.5h",
        "@every .5h1.m",
        "@every -1h",
        "@every 0",
        "0 0 ? * 1-5/2",
    ],
)
def test_a_schedule_is_read_as_the_servers_library_reads_it(schedule: str) -> None:
    assert validate(changed(GOOD["cron-job"], "spec.schedule", schedule)) == []


def test_the_name_of_a_cron_job_leaves_room_for_those_of_its_jobs() -> None:
    assert validate(changed(GOOD["cron-job"], "metadata.name", "a" * 52)) == []


def test_the_overhead_of_a_runtime_class_may_have_no_cpu_for_its_huge_pages() -> None:
    overhead = {"podFixed": {"hugepages-2Mi": "2Mi"}}
    assert validate(changed(GOOD["runtime-class"], "overhead", overhead)) == []


def test_the_configuration_of_a_driver_may_hold_anything() -> None:
    config = [{"opaque": {"driver": "a.b", "parameters": {"kind": "A"}}}]
    assert (
        validate(
            changed(GOOD["claim-template"], "spec.spec.devices.config", config), versions=NEWER
        )
        == []
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.revisionHistoryLimit", -1),
        ("spec.template.spec.hostname", "A"),
        ("spec.template.spec.subdomain", "*"),
    ],
)
def test_the_server_leaves_some_fields_of_a_stateful_set_unchecked(path: str, value: Any) -> None:
    assert validate(changed(GOOD["stateful-set"], path, value), versions=NEWER) == []


def test_two_data_sources_of_a_claim_agree() -> None:
    source = {"kind": "PersistentVolumeClaim", "name": "a"}
    claim = _kind(
        "v1",
        "PersistentVolumeClaim",
        spec={**_CLAIM, "dataSource": source, "dataSourceRef": dict(source)},
    )
    assert validate(claim) == []
    (problem,) = validate(changed(claim, "spec.dataSourceRef.name", "b"))
    assert problem.message == "spec: Invalid value: {...}: must match dataSourceRef"
    # the server drops a source that is neither a claim nor a snapshot
    assert (
        validate(changed(claim, "spec.dataSource", {"apiGroup": "a.io", "kind": "K", "name": "n"}))
        == []
    )


def test_the_server_leaves_a_node_stage_secret_unchecked() -> None:
    source = {"driver": "d", "volumeHandle": "h", "nodeStageSecretRef": {"name": "A"}}
    assert validate(_kind("v1", "PersistentVolume", spec={**_VOLUME, "csi": source})) == []


def test_a_gated_field_is_ignored_until_the_gate_is_on() -> None:
    pod = _kind(
        "v1",
        "Pod",
        spec=changed({"spec": POD}, "spec.containers.0.resizePolicy", [{"resourceName": "x"}])[
            "spec"
        ],
    )
    assert validate(pod, versions=NEWER)
    assert [problem.name for problem in validate(pod, versions=OLDER)] == ["gate-off"]


def test_an_older_server_does_not_have_a_newer_kind() -> None:
    (problem,) = validate(GOOD["device-class"], versions=OLDER)
    assert (problem.name, problem.path) == ("no-such-kind", ("apiVersion",))
    assert "v1beta1" in str(problem.help)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("value", [[], {}, "x", 7, True, [None], [[]], {"a": []}])
def test_no_type_of_value_raises(name: str, value: Any) -> None:
    for path in paths(GOOD[name], ()):
        validate(changed(GOOD[name], ".".join(path), value))


def paths(node: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the paths of all values in plain data."""
    if isinstance(node, dict):
        return [
            child_path
            for key, value in node.items()
            for child_path in [(*path, key), *paths(value, (*path, key))]
        ]
    if isinstance(node, list):
        return [
            child_path
            for i, value in enumerate(node)
            for child_path in [(*path, str(i)), *paths(value, (*path, str(i)))]
        ]
    return []


@pytest.mark.parametrize("name", [{"a": None}, [None], 5])
def test_the_name_of_an_alternative_has_the_right_type(name: Any) -> None:
    path = "spec.spec.devices.requests.0.firstAvailable"
    (problem, *_) = validate(
        changed(GOOD["claim-template"], path, [{"name": name, "deviceClassName": "c"}])
    )
    assert problem.name == "wrong-type"
