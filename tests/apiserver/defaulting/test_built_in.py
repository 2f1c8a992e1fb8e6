"""Defaults of kinds that no recorded object shows, from Kubernetes 1.36 `defaults.go` and the strategies."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver.defaulting.decoding import with_defaults
from ptcompile.apiserver.stored import as_created

Json = dict[str, Any]


def stored(kind: str, version: str, **body: Any) -> Json:
    manifest = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **body}
    result = as_created(manifest)
    return {
        key: value for key, value in result.items() if key not in ("apiVersion", "kind", "metadata")
    }


TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i:1"}]},
}
STORED_TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "i:1",
                "resources": {},
                "imagePullPolicy": "IfNotPresent",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
        "securityContext": {},
    },
}


def test_workloads_get_their_defaults() -> None:
    selector = {"matchLabels": {"a": "b"}}
    assert stored("Deployment", "apps/v1", spec={"selector": selector, "template": TEMPLATE})[
        "spec"
    ] == {
        "selector": selector,
        "template": STORED_TEMPLATE,
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
        },
    }
    recreated = stored(
        "Deployment", "apps/v1", spec={"strategy": {"type": "Recreate"}, "template": TEMPLATE}
    )
    assert recreated["spec"]["strategy"] == {"type": "Recreate"}
    controller = stored("ReplicationController", "v1", spec={"template": TEMPLATE})
    assert controller["spec"]["selector"] == {"a": "b"}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("i", "Always"),
        ("i:latest", "Always"),
        ("i:1", "IfNotPresent"),
        ("r:5/i", "Always"),
        ("a b", "IfNotPresent"),
    ],
)
def test_the_tag_decides_the_default_pull_policy(image: str, policy: str) -> None:
    (container,) = stored("Pod", "v1", spec={"containers": [{"name": "c", "image": image}]})[
        "spec"
    ]["containers"]
    assert container["imagePullPolicy"] == policy


def test_volumes_and_probes_get_their_defaults() -> None:
    probe = {"grpc": {"port": 1}}
    ports = [{"containerPort": 80}]
    spec = stored(
        "Pod",
        "v1",
        spec={
            "hostNetwork": True,
            "containers": [{"name": "c", "image": "i", "livenessProbe": probe, "ports": ports}],
            "volumes": [
                {"name": "a"},
                {"name": "b", "hostPath": {"path": "/b"}},
                {"name": "c", "secret": {"secretName": "s"}},
                {"name": "d", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
                {
                    "name": "e",
                    "ephemeral": {
                        "volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}
                    },
                },
            ],
        },
    )["spec"]
    empty, host, secret, projected, ephemeral = spec["volumes"]
    assert (empty["emptyDir"], host["hostPath"]["type"], secret["secret"]["defaultMode"]) == (
        {},
        "",
        420,
    )
    assert projected["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"] == 3600
    assert ephemeral["ephemeral"]["volumeClaimTemplate"]["spec"]["volumeMode"] == "Filesystem"
    (container,) = spec["containers"]
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]
    counts = {
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert container["livenessProbe"] == {"grpc": {"port": 1, "service": ""}, **counts}


def test_pod_level_requests_default_to_the_sum_or_the_limit() -> None:
    resources = {"limits": {"cpu": "4", "memory": "8Gi"}}
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": 1}}}]
    spec = stored("Pod", "v1", spec={"containers": containers, "resources": resources})["spec"]
    assert spec["resources"]["requests"] == {"cpu": "1", "memory": "8Gi"}


def test_services_get_their_defaults() -> None:
    ports = [{"port": 80}]
    balanced = stored("Service", "v1", spec={"type": "LoadBalancer", "ports": ports})["spec"]
    assert balanced["externalTrafficPolicy"] == "Cluster"
    assert balanced["allocateLoadBalancerNodePorts"] is True
    assert "clusterIP" not in balanced
    sticky = stored("Service", "v1", spec={"sessionAffinity": "ClientIP", "ports": ports})["spec"]
    assert sticky["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}
    external = stored("Service", "v1", spec={"type": "ExternalName", "externalName": "x.y"})["spec"]
    assert external == {"type": "ExternalName", "externalName": "x.y", "sessionAffinity": "None"}
    headless = stored("Service", "v1", spec={"clusterIP": "None", "ports": ports})["spec"]
    assert (headless["clusterIPs"], headless["ipFamilyPolicy"]) == (["None"], "RequireDualStack")


def test_limit_ranges_get_their_defaults() -> None:
    limits = [{"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Gi"}}]
    (item,) = stored("LimitRange", "v1", spec={"limits": limits})["spec"]["limits"]
    assert item["default"] == {"cpu": "2"}
    assert item["defaultRequest"] == {"cpu": "2", "memory": "1Gi"}


def test_other_kinds_get_their_defaults() -> None:
    scale = {"maxReplicas": 3, "behavior": {"scaleDown": {"selectPolicy": "Min"}}}
    autoscaler = stored("HorizontalPodAutoscaler", "autoscaling/v2", spec=scale)["spec"]
    assert (autoscaler["minReplicas"], autoscaler["metrics"][0]["resource"]["name"]) == (1, "cpu")
    assert autoscaler["behavior"]["scaleDown"]["selectPolicy"] == "Min"
    policy = stored(
        "NetworkPolicy", "networking.k8s.io/v1", spec={"podSelector": {}, "egress": [{}]}
    )["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    role = {"kind": "Role", "name": "r"}
    binding = stored(
        "RoleBinding", "rbac.authorization.k8s.io/v1", roleRef=role, subjects=[{"kind": "User"}]
    )
    assert (
        binding["roleRef"]["apiGroup"]
        == binding["subjects"][0]["apiGroup"]
        == "rbac.authorization.k8s.io"
    )
    webhooks = [
        {"name": "w", "clientConfig": {"service": {"name": "s"}}, "rules": [{"apiGroups": ["*"]}]}
    ]
    kind = "MutatingWebhookConfiguration"
    (webhook,) = stored(kind, "admissionregistration.k8s.io/v1", webhooks=webhooks)["webhooks"]
    assert (webhook["failurePolicy"], webhook["reinvocationPolicy"]) == ("Fail", "Never")
    assert (webhook["clientConfig"]["service"]["port"], webhook["rules"][0]["scope"]) == (443, "*")
    names = {"kind": "Widget", "plural": "widgets"}
    crd = stored("CustomResourceDefinition", "apiextensions.k8s.io/v1", spec={"names": names})[
        "spec"
    ]
    assert (crd["names"]["singular"], crd["conversion"]) == ("widget", {"strategy": "None"})
    namespace = as_created({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}


def test_the_form_of_go() -> None:
    """Empty values of plain fields vanish, those of pointers stay, and quantities become canonical."""
    container = {
        "name": "c",
        "image": "i",
        "env": [],
        "tty": False,
        "resources": {"limits": {"cpu": 0.5}},
    }
    spec = {
        "containers": [container],
        "hostNetwork": False,
        "shareProcessNamespace": False,
        "nodeSelector": {},
    }
    pod = with_defaults(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    )["spec"]
    assert pod["containers"][0]["resources"]["limits"] == {"cpu": "500m"}
    assert not {"env", "tty"} & pod["containers"][0].keys()
    assert not {"hostNetwork", "nodeSelector"} & pod.keys()
    assert pod["shareProcessNamespace"] is False


# pkg/apis/*/v1/defaults.go and pkg/registry/*/strategy.go of Kubernetes 1.36: path, default
DEFAULTS: list[tuple[str, str, Json, str, Any]] = [
    ("Job", "batch/v1", {"spec": {}}, "spec.completions", 1),
    ("Job", "batch/v1", {"spec": {"parallelism": 2}}, "spec.completions", None),
    ("Job", "batch/v1", {"spec": {"completions": 2}}, "spec.parallelism", 1),
    ("Job", "batch/v1", {"spec": {}}, "spec.backoffLimit", 6),
    ("Job", "batch/v1", {"spec": {"backoffLimitPerIndex": 1}}, "spec.backoffLimit", 2147483647),
    ("Job", "batch/v1", {"spec": {}}, "spec.completionMode", "NonIndexed"),
    ("Job", "batch/v1", {"spec": {}}, "spec.suspend", False),
    ("Job", "batch/v1", {"spec": {}}, "spec.manualSelector", False),
    ("Job", "batch/v1", {"spec": {}}, "spec.podReplacementPolicy", "TerminatingOrFailed"),
    (
        "Job",
        "batch/v1",
        {"spec": {"podFailurePolicy": {"rules": []}}},
        "spec.podReplacementPolicy",
        "Failed",
    ),
    ("CronJob", "batch/v1", {"spec": {}}, "spec.concurrencyPolicy", "Allow"),
    ("CronJob", "batch/v1", {"spec": {}}, "spec.suspend", False),
    ("CronJob", "batch/v1", {"spec": {}}, "spec.successfulJobsHistoryLimit", 3),
    ("CronJob", "batch/v1", {"spec": {}}, "spec.failedJobsHistoryLimit", 1),
    ("Deployment", "apps/v1", {"spec": {}}, "spec.replicas", 1),
    ("Deployment", "apps/v1", {"spec": {}}, "spec.revisionHistoryLimit", 10),
    ("Deployment", "apps/v1", {"spec": {}}, "spec.progressDeadlineSeconds", 600),
    ("Deployment", "apps/v1", {"spec": {}}, "spec.strategy.rollingUpdate.maxSurge", "25%"),
    (
        "Deployment",
        "apps/v1",
        {"spec": {"strategy": {"type": "Recreate"}}},
        "spec.strategy.rollingUpdate",
        None,
    ),
    ("DaemonSet", "apps/v1", {"spec": {}}, "spec.revisionHistoryLimit", 10),
    ("DaemonSet", "apps/v1", {"spec": {}}, "spec.updateStrategy.rollingUpdate.maxUnavailable", 1),
    ("DaemonSet", "apps/v1", {"spec": {}}, "spec.updateStrategy.rollingUpdate.maxSurge", 0),
    (
        "DaemonSet",
        "apps/v1",
        {"spec": {"updateStrategy": {"type": "OnDelete"}}},
        "spec.updateStrategy.rollingUpdate",
        None,
    ),
    ("StatefulSet", "apps/v1", {"spec": {}}, "spec.replicas", 1),
    ("StatefulSet", "apps/v1", {"spec": {}}, "spec.revisionHistoryLimit", 10),
    ("StatefulSet", "apps/v1", {"spec": {}}, "spec.podManagementPolicy", "OrderedReady"),
    ("StatefulSet", "apps/v1", {"spec": {}}, "spec.updateStrategy.rollingUpdate.partition", 0),
    (
        "StatefulSet",
        "apps/v1",
        {"spec": {}},
        "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
        "Retain",
    ),
    ("ReplicaSet", "apps/v1", {"spec": {}}, "spec.replicas", 1),
    ("Service", "v1", {"spec": {}}, "spec.type", "ClusterIP"),
    (
        "Service",
        "v1",
        {"spec": {"sessionAffinity": "ClientIP"}},
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
        10800,
    ),
    ("Service", "v1", {"spec": {}}, "spec.sessionAffinityConfig", None),
    ("Service", "v1", {"spec": {}}, "spec.externalTrafficPolicy", None),
    ("Service", "v1", {"spec": {"type": "NodePort"}}, "spec.externalTrafficPolicy", "Cluster"),
    ("Service", "v1", {"spec": {"type": "LoadBalancer"}}, "spec.externalTrafficPolicy", "Cluster"),
    (
        "Service",
        "v1",
        {"spec": {"type": "LoadBalancer"}},
        "spec.allocateLoadBalancerNodePorts",
        True,
    ),
    (
        "Service",
        "v1",
        {"spec": {"externalIPs": ["1.2.3.4"]}},
        "spec.externalTrafficPolicy",
        "Cluster",
    ),
    (
        "Service",
        "v1",
        {"spec": {"type": "ExternalName", "externalIPs": ["1.2.3.4"]}},
        "spec.externalTrafficPolicy",
        None,
    ),
    ("Service", "v1", {"spec": {}}, "spec.internalTrafficPolicy", "Cluster"),
    ("Service", "v1", {"spec": {"type": "ExternalName"}}, "spec.internalTrafficPolicy", None),
    ("Service", "v1", {"spec": {}}, "spec.ipFamilyPolicy", "SingleStack"),
    ("Service", "v1", {"spec": {"clusterIP": "None"}}, "spec.ipFamilyPolicy", "RequireDualStack"),
    (
        "Service",
        "v1",
        {"spec": {"clusterIP": "None", "selector": {"a": "b"}}},
        "spec.ipFamilyPolicy",
        "SingleStack",
    ),
    ("Service", "v1", {"spec": {"clusterIP": "None"}}, "spec.clusterIPs", ["None"]),
    ("Service", "v1", {"spec": {"clusterIPs": ["None"]}}, "spec.clusterIP", "None"),
    ("Secret", "v1", {}, "type", "Opaque"),
    ("Secret", "v1", {"stringData": {"a": "b"}}, "data.a", "Yg=="),
    ("PersistentVolumeClaim", "v1", {"spec": {}}, "spec.volumeMode", "Filesystem"),
    ("PersistentVolume", "v1", {"spec": {}}, "spec.volumeMode", "Filesystem"),
    ("PersistentVolume", "v1", {"spec": {}}, "spec.persistentVolumeReclaimPolicy", "Retain"),
    ("Namespace", "v1", {}, "spec.finalizers", ["kubernetes"]),
    ("HorizontalPodAutoscaler", "autoscaling/v2", {"spec": {}}, "spec.minReplicas", 1),
    (
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        {"spec": {}},
        "spec.metrics.0.resource.target.averageUtilization",
        80,
    ),
    (
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        {"spec": {"behavior": {"scaleUp": {}}}},
        "spec.behavior.scaleUp.policies",
        [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    ),
    (
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        {"spec": {"behavior": {"scaleUp": {}}}},
        "spec.behavior.scaleUp.stabilizationWindowSeconds",
        0,
    ),
    (
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        {"spec": {"behavior": {"scaleUp": {}}}},
        "spec.behavior.scaleDown.policies",
        [{"type": "Percent", "value": 100, "periodSeconds": 15}],
    ),
    ("NetworkPolicy", "networking.k8s.io/v1", {"spec": {}}, "spec.policyTypes", ["Ingress"]),
    (
        "NetworkPolicy",
        "networking.k8s.io/v1",
        {"spec": {"egress": [{}]}},
        "spec.policyTypes",
        ["Ingress", "Egress"],
    ),
    ("PriorityClass", "scheduling.k8s.io/v1", {}, "preemptionPolicy", "PreemptLowerPriority"),
    ("StorageClass", "storage.k8s.io/v1", {}, "reclaimPolicy", "Delete"),
    ("StorageClass", "storage.k8s.io/v1", {}, "volumeBindingMode", "Immediate"),
    ("CSIDriver", "storage.k8s.io/v1", {"spec": {}}, "spec.attachRequired", True),
    ("CSIDriver", "storage.k8s.io/v1", {"spec": {}}, "spec.podInfoOnMount", False),
    ("CSIDriver", "storage.k8s.io/v1", {"spec": {}}, "spec.storageCapacity", False),
    ("CSIDriver", "storage.k8s.io/v1", {"spec": {}}, "spec.requiresRepublish", False),
    ("CSIDriver", "storage.k8s.io/v1", {"spec": {}}, "spec.seLinuxMount", False),
    (
        "CSIDriver",
        "storage.k8s.io/v1",
        {"spec": {}},
        "spec.fsGroupPolicy",
        "ReadWriteOnceWithFSType",
    ),
    ("CSIDriver", "storage.k8s.io/v1", {"spec": {}}, "spec.volumeLifecycleModes", ["Persistent"]),
    (
        "ResourceClaim",
        "resource.k8s.io/v1",
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "gpu"}}]}}},
        "spec.devices.requests.0.exactly.count",
        1,
    ),
    (
        "ResourceClaim",
        "resource.k8s.io/v1",
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"allocationMode": "All"}}]}}},
        "spec.devices.requests.0.exactly.count",
        None,
    ),
    (
        "ValidatingWebhookConfiguration",
        "admissionregistration.k8s.io/v1",
        {"webhooks": [{"name": "a"}]},
        "webhooks.0.timeoutSeconds",
        10,
    ),
    (
        "MutatingWebhookConfiguration",
        "admissionregistration.k8s.io/v1",
        {"webhooks": [{"name": "a", "clientConfig": {"service": {"name": "s"}}}]},
        "webhooks.0.clientConfig.service.port",
        443,
    ),
    (
        "APIService",
        "apiregistration.k8s.io/v1",
        {"spec": {"service": {"name": "s"}}},
        "spec.service.port",
        443,
    ),
]


@pytest.mark.parametrize(("kind", "version", "body", "path", "expected"), DEFAULTS)
def test_a_field_gets_its_default(
    kind: str, version: str, body: Json, path: str, expected: Any
) -> None:
    value: Any = with_defaults(
        {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **body}
    )
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else (value or {}).get(part)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("kind", "reinvocation"),
    [("MutatingWebhookConfiguration", "Never"), ("ValidatingWebhookConfiguration", None)],
)
def test_only_mutating_webhooks_are_invoked_again(kind: str, reinvocation: str | None) -> None:
    manifest = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "webhooks": [{"name": "a"}],
    }
    assert with_defaults(manifest)["webhooks"][0].get("reinvocationPolicy") == reinvocation
