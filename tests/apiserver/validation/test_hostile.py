"""Field rules on values of any type: they do not raise and do not change their input (CONTRIBUTING.md#laws 7)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from ptcompile.apiserver.kinds import BUILT_IN
from ptcompile.apiserver.validation import built_in_problems, metadata_problems
from ptcompile.apiserver.validation.templates import template_problems
from ptcompile.kubernetes.requests import ApiServer
from tests.conftest import thinned

ODD: tuple[Any, ...] = (
    None,
    5,
    -1,
    1.5,
    True,
    "",
    "x y",
    [],
    [None],
    [5],
    [[]],
    ["a"],
    {},
    {"a": 5},
    {"a": None},
    [{}],
)
SELECTOR = {
    "matchLabels": {"a": "b"},
    "matchExpressions": [
        {"key": "a", "operator": "In", "values": ["b"]},
        {"key": "c", "operator": "Exists"},
    ],
}
AMOUNTS = {
    "limits": {"cpu": 1, "hugepages-2Mi": "2Mi", "a.io/x": 1},
    "requests": {"cpu": 1},
    "claims": [{"name": "c"}],
}
PROBE = {"httpGet": {"port": 80, "httpHeaders": [{"name": "a", "value": "b"}]}, "periodSeconds": 1}
CONTAINER = {
    "name": "main",
    "image": "i",
    "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}}],
    "envFrom": [{"prefix": "P", "configMapRef": {"name": "c"}}],
    "resources": AMOUNTS,
    "ports": [
        {"name": "a", "containerPort": 1, "hostPort": 1, "protocol": "TCP", "hostIP": "1.1.1.1"}
    ],
    "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "s", "mountPropagation": "None"}],
    "volumeDevices": [{"name": "v", "devicePath": "/d"}],
    "livenessProbe": PROBE,
    "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
    "securityContext": {
        "capabilities": {"add": ["A"]},
        "allowPrivilegeEscalation": False,
        "seccompProfile": {"type": "Localhost", "localhostProfile": "p"},
        "windowsOptions": {"runAsUserName": "a", "gmsaCredentialSpec": "b"},
    },
    "restartPolicy": "Never",
    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}],
    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
}
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
TERM = {
    "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
    "matchFields": [{"key": "metadata.name"}],
}
PODS = {"labelSelector": SELECTOR, "topologyKey": "a", "namespaces": ["n"], "matchLabelKeys": ["x"]}
POD = {
    "containers": [CONTAINER],
    "initContainers": [
        {"name": "init", "image": "i", "ports": [{"containerPort": 1, "hostPort": 2}]}
    ],
    "volumes": [
        {"name": "v", "configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]}},
        {
            "name": "p",
            "projected": {
                "sources": [{"secret": {"name": "s"}}, {"serviceAccountToken": {"path": "t"}}]
            },
        },
        {
            "name": "d",
            "downwardAPI": {
                "items": [{"path": "p", "resourceFieldRef": {"resource": "limits.cpu"}}]
            },
        },
        {
            "name": "e",
            "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}},
        },
        {"name": "n", "nfs": {"server": "s", "path": "/p"}, "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "i", "iscsi": {"targetPortal": "p", "iqn": "iqn.2001-04.com.a:b", "lun": 0}},
    ],
    "affinity": {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [TERM]},
            PREFERRED: [{"weight": 1, "preference": TERM}],
        },
        "podAffinity": {REQUIRED: [PODS], PREFERRED: [{"weight": 1, "podAffinityTerm": PODS}]},
    },
    "tolerations": [
        {
            "key": "a",
            "operator": "Equal",
            "value": "b",
            "effect": "NoExecute",
            "tolerationSeconds": 1,
        }
    ],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "z",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": SELECTOR,
        }
    ],
    "nodeSelector": {"a": "b"},
    "securityContext": {
        "supplementalGroups": [1],
        "sysctls": [{"name": "net.a", "value": "1"}],
        "fsGroup": 1,
    },
    "dnsPolicy": "None",
    "dnsConfig": {"nameservers": ["1.1.1.1"], "searches": ["a.b"], "options": [{"name": "ndots"}]},
    "hostAliases": [{"ip": "::1", "hostnames": ["a"]}],
    "schedulingGates": [{"name": "a"}],
    "readinessGates": [{"conditionType": "a"}],
    "resourceClaims": [{"name": "c", "resourceClaimName": "r"}],
    "resources": AMOUNTS,
    "os": {"name": "linux"},
    "overhead": {"cpu": 1},
    "hostUsers": False,
    "hostNetwork": True,
    "restartPolicy": "Never",
    "terminationGracePeriodSeconds": 30,
}
META = {
    "name": "n",
    "labels": {"a": "b"},
    "annotations": {"container.apparmor.security.beta.kubernetes.io/main": "runtime/default"},
    "finalizers": ["a.io/b"],
    "ownerReferences": [
        {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": True}
    ],
}
TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "main", "image": "i"}]},
}
FAILURES = {
    "rules": [
        {
            "action": "Ignore",
            "onExitCodes": {"operator": "In", "values": [1], "containerName": "main"},
        },
        {"action": "Count", "onPodConditions": [{"type": "a", "status": "True"}]},
    ]
}
JOB = {
    "template": TEMPLATE,
    "parallelism": 2,
    "completions": 2,
    "completionMode": "Indexed",
    "selector": SELECTOR,
    "manualSelector": True,
    "podFailurePolicy": FAILURES,
    "successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]},
    "backoffLimitPerIndex": 1,
    "maxFailedIndexes": 1,
}
CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1"}},
    "dataSource": {"kind": "K"},
}
JOBSET = {
    "replicatedJobs": [
        {"name": "r", "template": {"metadata": {"labels": {"a": "b"}}, "spec": JOB}}
    ],
    "volumeClaimPolicies": [{"templates": [{"metadata": {"name": "v"}, "spec": CLAIM}]}],
}
PATCH = {"template": {"metadata": {"annotations": {"a": "b"}}, "spec": JOBSET}}
SERVICE = {
    "ports": [
        {"name": "a", "port": 1, "targetPort": 1, "nodePort": 30000},
        {"name": "b", "port": 2},
    ],
    "clusterIP": "1.1.1.1",
    "clusterIPs": ["1.1.1.1"],
    "externalIPs": ["1.1.1.2"],
    "type": "LoadBalancer",
    "sessionAffinity": "ClientIP",
    "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 1}},
    "loadBalancerSourceRanges": ["10.0.0.0/8"],
}
PEERS = [{"podSelector": SELECTOR}, {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]
KUBEFLOW, TRAINER = "kubeflow.org/v1", "trainer.kubeflow.org/v1alpha1"
OBJECTS: list[tuple[str, str, dict[str, Any]]] = [
    ("v1", "Pod", {"spec": POD}),
    ("batch/v1", "Job", {"spec": JOB}),
    ("v1", "Service", {"spec": SERVICE}),
    ("v1", "ConfigMap", {"data": {"a": "b"}, "binaryData": {"c": "Yg=="}}),
    (
        "v1",
        "Secret",
        {"data": {"a": "Yg=="}, "stringData": {"c": "d"}, "type": "kubernetes.io/tls"},
    ),
    ("v1", "PersistentVolumeClaim", {"spec": CLAIM}),
    ("v1", "Namespace", {}),
    (
        "networking.k8s.io/v1",
        "NetworkPolicy",
        {"spec": {"ingress": [{"from": PEERS, "ports": [{"port": 1}]}]}},
    ),
    (KUBEFLOW, "PyTorchJob", {"spec": {"pytorchReplicaSpecs": {"Master": {"template": TEMPLATE}}}}),
    (
        "batch.volcano.sh/v1alpha1",
        "Job",
        {"spec": {"tasks": [{"template": TEMPLATE}], "volumes": [{"volumeClaim": CLAIM}]}},
    ),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", {"spec": JOBSET}),
    (TRAINER, "TrainingRuntime", {"spec": {"template": {"spec": JOBSET}}}),
    (
        TRAINER,
        "TrainJob",
        {
            "spec": {
                "trainer": {"env": CONTAINER["env"], "resourcesPerNode": AMOUNTS},
                "runtimePatches": [{"trainingRuntimeSpec": PATCH}],
            }
        },
    ),
]


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container of the tree with each of its keys."""
    for key in (
        list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    ):
        yield node, key
        yield from places(node[key])


def run(manifest: dict[str, Any]) -> int:
    check = (
        built_in_problems
        if (manifest["apiVersion"], manifest["kind"]) in BUILT_IN
        else template_problems
    )
    problems = list(check(manifest, ApiServer()))
    problems += metadata_problems(manifest)
    return len(problems)


def test_any_type_anywhere_raises_nothing() -> None:
    for version, kind, rest in OBJECTS:
        meta = META if kind == "Pod" else {"name": "n"}
        manifest = copy.deepcopy({"apiVersion": version, "kind": kind, "metadata": meta, **rest})
        before = copy.deepcopy(manifest)
        run(manifest)
        assert manifest == before
        for index, (node, key) in enumerate(places(manifest)):
            if node is manifest and key in ("apiVersion", "kind"):
                continue
            original = node[key]
            for odd in thinned(ODD, 3, start=index):
                node[key] = odd
                run(manifest)
            node[key] = original


def test_hostile_texts_are_fast() -> None:
    long = "a-" * 100_000
    for name in (long, "." * 200_000, "1" * 200_000, "\x00" * 1000, "é" * 100_000):
        container = {
            "name": name,
            "image": name,
            "env": [{"name": name}],
            "resources": {"limits": {name: name}},
        }
        pod = {"containers": [container], "nodeSelector": {name: name}, "hostname": name}
        assert run(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "labels": {name: name}},
                "spec": pod,
            }
        )
