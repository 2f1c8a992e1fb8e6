"""Rules of Kubernetes 1.36's field validation that have no number. Each row has the field of its rule."""

from __future__ import annotations

from typing import Any

import pytest

INV, R, NS, D, F, NF, TL, TM = (
    "invalid-value",
    "required-value",
    "unsupported-value",
    "duplicate-value",
    "forbidden-value",
    "not-found-value",
    "too-long-value",
    "too-many-items",
)
C, RULES = "spec.containers[0]", "spec.containers[0].restartPolicyRules"
NEEDED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
ANTI, NODE = f"spec.affinity.podAntiAffinity.{NEEDED}[0]", f"spec.affinity.nodeAffinity.{NEEDED}"
RULE, SUCCESS = "spec.podFailurePolicy.rules[0]", "spec.successPolicy.rules"
INIT = {"name": "a", "image": "i"}
HUGE = "hugepages-2Mi"
INDEXED = {"spec.completionMode": "Indexed", "spec.completions": 4, "spec.parallelism": 4}
MANY = {
    "spec.completionMode": "Indexed",
    "spec.backoffLimitPerIndex": 1,
    "spec.completions": 200_000,
}
OWNER = {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": True}


def restart(**rule: Any) -> dict[str, Any]:
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}, **rule}]
    return {"C.restartPolicy": "Never", "C.restartPolicyRules": rules}


def resize(*policies: dict[str, Any]) -> dict[str, Any]:
    return {"C.resizePolicy": list(policies)}


def anti(**term: Any) -> dict[str, Any]:
    return {"spec.affinity": {"podAntiAffinity": {NEEDED: [{"topologyKey": "zone", **term}]}}}


def field(*values: str) -> dict[str, Any]:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(values)}]}]
    return {"spec.affinity": {"nodeAffinity": {NEEDED: {"nodeSelectorTerms": terms}}}}


def from_file(**ref: Any) -> dict[str, Any]:
    fields = {"volumeName": "v", "path": "p", "key": "k", **ref}
    return {
        "spec.volumes": [{"name": "v"}],
        "C.env": [{"name": "X", "valueFrom": {"fileKeyRef": fields}}],
    }


def codes(**fields: Any) -> dict[str, Any]:
    return {"spec.podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": fields}]}}


def owners(*refs: dict[str, Any]) -> dict[str, Any]:
    return {"metadata.ownerReferences": list(refs)}


FILE, HIGH = f"{C}.env[0].valueFrom.fileKeyRef", "spec.maxFailedIndexes"
SELECTOR = {"matchLabels": {"a": "b"}}
POD: list[tuple[str, dict[str, Any], list[str]]] = [
    ("node fields", field("a", "b"), [f"{NODE}.nodeSelectorTerms[0].matchFields[0].values {R}"]),
    ("node fields", field("A"), [f"{NODE}.nodeSelectorTerms[0].matchFields[0].values[0] {INV}"]),
    (
        "preferences pass any value",
        {
            "spec.affinity": {
                "nodeAffinity": {
                    PREFERRED: [
                        {
                            "weight": 1,
                            "preference": {
                                "matchExpressions": [
                                    {"key": "a", "operator": "In", "values": ["a b"]}
                                ]
                            },
                        }
                    ]
                }
            }
        },
        [],
    ),
    (
        "affinity keys",
        anti(labelSelector=SELECTOR, matchLabelKeys=["a b"]),
        [f"{ANTI}.matchLabelKeys[0] {INV}"],
    ),
    (
        "affinity keys",
        anti(labelSelector=SELECTOR, matchLabelKeys=["x"], mismatchLabelKeys=["x"]),
        [f"{ANTI}.matchLabelKeys[0] {INV}"],
    ),
    (
        "affinity keys",
        anti(labelSelector=SELECTOR, matchLabelKeys=["a"]),
        [f"{ANTI}.matchLabelKeys[0] {INV}"],
    ),
    ("restart rules", restart(action=None), [f"{RULES}[0].action {NS}"]),
    ("restart rules", restart(action="x"), [f"{RULES}[0].action {NS}"]),
    ("restart rules ok", restart(action="RestartAllContainers"), []),
    ("restart rules", restart(exitCodes=None), [f"{RULES}[0].exitCodes {R}"]),
    (
        "restart rules",
        restart(exitCodes={"operator": "in", "values": [1]}),
        [f"{RULES}[0].exitCodes.operator {NS}"],
    ),
    (
        "restart rules",
        restart(exitCodes={"operator": "In", "values": list(range(256))}),
        [f"{RULES}[0].exitCodes.values {TM}"],
    ),
    (
        "restart rules",
        {
            "C.restartPolicy": "Never",
            "C.restartPolicyRules": restart()["C.restartPolicyRules"] * 21,
        },
        [f"{RULES} {TM}"],
    ),
    ("resize", resize({"restartPolicy": "NotRequired"}), [f"{C}.resizePolicy[0].resourceName {R}"]),
    (
        "resize",
        resize({"resourceName": "x", "restartPolicy": "NotRequired"}),
        [f"{C}.resizePolicy[0].resourceName {NS}"],
    ),
    ("resize", resize({"resourceName": "cpu"}), [f"{C}.resizePolicy[0].restartPolicy {R}"]),
    (
        "resize",
        resize({"resourceName": "cpu", "restartPolicy": "x"}),
        [f"{C}.resizePolicy[0].restartPolicy {NS}"],
    ),
    (
        "resize",
        resize(*[{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2),
        [f"{C}.resizePolicy[1] {D}"],
    ),
    (
        "resize of what runs once",
        {
            "spec.initContainers": [
                {
                    **INIT,
                    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
                }
            ]
        },
        [f"spec.initContainers[0].resizePolicy[0].restartPolicy {INV}"],
    ),
    ("dnsConfig", {"spec.dnsConfig": {"searches": ["a"] * 33}}, [f"spec.dnsConfig.searches {INV}"]),
    (
        "dnsConfig",
        {"spec.dnsConfig": {"searches": ["a" * 60 + ".b" * 20] * 21}},
        [f"spec.dnsConfig.searches {INV}"],
    ),
    (
        "override",
        {"spec.hostnameOverride": "a", "spec.hostNetwork": True},
        [f"spec.hostnameOverride {F}"],
    ),
    ("override", {"spec.hostnameOverride": "A"}, [f"spec.hostnameOverride {INV}"]),
    (
        "resourceFieldRef",
        {"C.env": [{"name": "X", "valueFrom": {"resourceFieldRef": {}}}]},
        [f"{C}.env[0].valueFrom.resourceFieldRef.resource {R}"],
    ),
    ("fileKeyRef ok", from_file(), []),
    ("fileKeyRef", from_file(key=""), [f"{FILE}.key {R}"]),
    ("fileKeyRef", from_file(volumeName="w"), [f"{FILE}.volumeName {NF}"]),
    (
        "fileKeyRef",
        {**from_file(), "spec.volumes": [{"name": "v", "configMap": {"name": "c"}}]},
        [f"{FILE}.volumeName {INV}"],
    ),
    ("fileKeyRef", from_file(volumeName="A_"), [f"{FILE}.volumeName {INV}"]),
    (
        "envFrom",
        {"C.envFrom": [{"secretRef": {"name": "A"}}]},
        [f"{C}.envFrom[0].secretRef.name {INV}"],
    ),
    ("envFrom ok", {"C.envFrom": [{"secretRef": {"name": "a-"}}]}, []),
    ("finalizers", {"metadata.finalizers": ["a b"]}, [f"metadata.finalizers[0] {INV}"]),
    (
        "finalizers",
        {"metadata.finalizers": ["orphan", "foregroundDeletion"]},
        [f"metadata.finalizers {INV}"],
    ),
    (
        "null is the empty text",
        {"spec.dnsConfig": {"nameservers": [None]}},
        [f"spec.dnsConfig.nameservers[0] {INV}"],
    ),
    (
        "null is the empty text",
        {"spec.dnsConfig": {"searches": [None]}},
        [f"spec.dnsConfig.searches[0] {INV}"],
    ),
    (
        "null is the empty text",
        {"spec.hostAliases": [{"ip": "1.2.3.4", "hostnames": [None]}]},
        [f"spec.hostAliases[0].hostnames[0] {INV}"],
    ),
    ("owners", owners({**OWNER, "kind": "Event"}), [f"metadata.ownerReferences {INV}"]),
    ("owners", owners(OWNER, {**OWNER, "name": "m"}), [f"metadata.ownerReferences {INV}"]),
    ("the server drops an identical owner", owners(OWNER, OWNER), []),
    ("generateName", {"metadata": {"generateName": "A-"}}, [f"metadata.generateName {INV}"]),
    (
        "mounts",
        {
            "spec.volumes": [
                {"name": "v", "persistentVolumeClaim": {"claimName": "c"}},
                {"name": "w"},
            ],
            "C.volumeDevices": [{"name": "v", "devicePath": "/d"}],
            "C.volumeMounts": [{"name": "w", "mountPath": "/d"}],
        },
        [f"{C}.volumeMounts[0].mountPath {INV}"],
    ),
    (
        "mounts",
        {
            "spec.volumes": [{"name": "v"}],
            "C.volumeMounts": [{"name": "v", "mountPath": "/d", "subPathExpr": "../x"}],
        },
        [f"{C}.volumeMounts.subPathExpr {INV}"],
    ),
    (
        "devices",
        {
            "spec.volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
            "C.volumeDevices": [
                {"name": "v", "devicePath": "/d"},
                {"name": "v", "devicePath": "/d"},
            ],
        },
        [
            f"{C}.volumeDevices[1].name {INV}",
            f"{C}.volumeDevices[1].devicePath {INV}",
        ],
    ),
    (
        "mounts",
        {
            "spec.volumes": [{"name": "v"}],
            "C.volumeMounts": [
                {
                    "name": "v",
                    "mountPath": "/d",
                    "readOnly": True,
                    "recursiveReadOnly": "IfPossible",
                    "mountPropagation": "HostToContainer",
                }
            ],
        },
        [f"{C}.volumeMounts.recursiveReadOnly {F}"],
    ),
    ("devices", {"C.volumeDevices": [{"devicePath": "/d"}]}, [f"{C}.volumeDevices[0].name {R}"]),
    (
        "user namespaces",
        {
            "spec.hostUsers": False,
            "C.volumeDevices": [{"name": "v", "devicePath": "/d"}],
            "spec.volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        },
        [f"{C}.volumeDevices {F}"],
    ),
    (
        "user namespaces",
        {"C.securityContext": {"procMount": "Unmasked"}},
        [f"{C}.securityContext.procMount {INV}"],
    ),
    (
        "pod resources",
        {"spec.resources": {"claims": [{"name": "c"}]}},
        [f"spec.resources.claims {F}"],
    ),
    (
        "pod resources",
        {"spec.os": {"name": "windows"}, "spec.resources": {"limits": {"cpu": 1}}},
        [f"spec.resources {F}"],
    ),
    (
        "pod resources",
        {
            "spec.resources": {"limits": {HUGE: "2Mi", "cpu": 1}},
            "spec.containers": [
                {**INIT, "name": n, "resources": {"limits": {HUGE: "2Mi", "cpu": 1}}} for n in "ab"
            ],
        },
        [f"spec.resources.limits[{HUGE}] {INV}"],
    ),
    (
        "pod resources count sidecars",
        {
            "spec.initContainers": [
                {**INIT, "restartPolicy": "Always", "resources": {"requests": {"cpu": 2}}}
            ],
            "spec.resources": {"requests": {"cpu": 2}},
            "C.resources": {"requests": {"cpu": 1}},
        },
        [f"spec.resources.requests[cpu] {INV}"],
    ),
    (
        "pod resources, the greatest init container",
        {
            "spec.initContainers": [{**INIT, "resources": {"requests": {"cpu": 2}}}],
            "spec.resources": {"requests": {"cpu": 2}},
            "C.resources": {"requests": {"cpu": 1}},
        },
        [],
    ),
    (
        "claims",
        {
            "spec.resourceClaims": [{"name": "x", "resourceClaimName": "a"}],
            "C.resources": {"claims": [{"name": "x", "request": "r"}, {"name": "x"}]},
        },
        [f"{C}.resources.claims[1] {D}"],
    ),
    ("claims", {"C.resources": {"claims": [{}]}}, [f"{C}.resources.claims[0] {R}"]),
    (
        "claims",
        {
            "spec.resourceClaims": [{"name": "x", "resourceClaimName": "a"}],
            "C.resources": {"claims": [{"name": "x", "request": "A"}]},
        },
        [f"{C}.resources.claims[0].request {INV}"],
    ),
    (
        "resourceClaims",
        {"spec.resourceClaims": [{"name": "A", "resourceClaimName": "B"}]},
        [
            f"spec.resourceClaims[0].name {INV}",
            f"spec.resourceClaims[0].resourceClaimName {INV}",
        ],
    ),
    (
        "resourceClaims",
        {"spec.resourceClaims": [{"resourceClaimName": "a", "resourceClaimTemplateName": "b"}]},
        [
            f"spec.resourceClaims[0].name {R}",
            f"spec.resourceClaims[0] {INV}",
        ],
    ),
    (
        "host ports of one init container",
        {
            "spec.initContainers": [
                {
                    **INIT,
                    "ports": [
                        {"containerPort": 1, "hostPort": 9},
                        {"containerPort": 2, "hostPort": 9},
                    ],
                }
            ]
        },
        [f"spec.initContainers[0].ports[1].hostPort {D}"],
    ),
    (
        "host ports of two init containers",
        {
            "spec.initContainers": [
                {**INIT, "name": n, "ports": [{"containerPort": 1, "hostPort": 9}]} for n in "ab"
            ]
        },
        [],
    ),
    ("preemptionPolicy", {"spec.preemptionPolicy": ""}, [f"spec.preemptionPolicy {R}"]),
    (
        "spread",
        {
            "spec.topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "z",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": SELECTOR,
                    "matchLabelKeys": ["a b"],
                }
            ]
        },
        [f"spec.topologySpreadConstraints[0].matchLabelKeys[0] {INV}"],
    ),
    (
        "mirror",
        {"metadata.annotations": {"kubernetes.io/config.mirror": "x"}},
        [f"metadata.annotations[kubernetes.io/config.mirror] {INV}"],
    ),
    (
        "AppArmor",
        {"metadata.annotations": {"container.apparmor.security.beta.kubernetes.io/main": "x"}},
        [f"metadata.annotations[container.apparmor.security.beta.kubernetes.io/main] {INV}"],
    ),
    (
        "AppArmor",
        {"C.securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": " "}}},
        [f"{C}.securityContext.appArmorProfile.localhostProfile {R}"],
    ),
    (
        "AppArmor",
        {"C.securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": " a"}}},
        [f"{C}.securityContext.appArmorProfile.localhostProfile {INV}"],
    ),
    (
        "AppArmor",
        {
            "C.securityContext": {
                "appArmorProfile": {"type": "Localhost", "localhostProfile": "a" * 4096}
            }
        },
        [f"{C}.securityContext.appArmorProfile.localhostProfile {TL}"],
    ),
    (
        "seccomp",
        {"C.securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "/a"}}},
        [f"{C}.securityContext.seccompProfile.localhostProfile {INV}"],
    ),
    (
        "Windows",
        {
            "C.securityContext": {
                "windowsOptions": {
                    "gmsaCredentialSpecName": "A",
                    "gmsaCredentialSpec": "",
                    "runAsUserName": "a\\b\\c",
                }
            }
        },
        [
            f"{C}.securityContext.windowsOptions.gmsaCredentialSpecName {INV}",
            f"{C}.securityContext.windowsOptions.gmsaCredentialSpec {INV}",
            f"{C}.securityContext.windowsOptions.runAsUserName {INV}",
        ],
    ),
    (
        "Windows",
        {
            "C.securityContext": {
                "windowsOptions": {"gmsaCredentialSpec": "a" * 65537, "runAsUserName": ""}
            }
        },
        [
            f"{C}.securityContext.windowsOptions.gmsaCredentialSpec {INV}",
            f"{C}.securityContext.windowsOptions.runAsUserName {INV}",
        ],
    ),
    (
        "Windows",
        {"spec.os": {"name": "windows"}, "spec.hostUsers": False, "spec.hostPID": True},
        [
            f"spec.hostPID {F}",
            f"spec.hostUsers {F}",
            f"spec.hostPID {F}",
        ],
    ),
    (
        "sysctls",
        {"spec.securityContext": {"sysctls": [{}]}},
        [f"spec.securityContext.sysctls[0].name {R}"],
    ),
    (
        "pod users",
        {"spec.securityContext": {"runAsUser": -1}},
        [f"spec.securityContext.runAsUser {INV}"],
    ),
]
JOB: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "many indexes",
        {**MANY, "spec.maxFailedIndexes": 100_001, "spec.parallelism": 1},
        [f"{HIGH} {INV}"],
    ),
    (
        "many indexes",
        {**MANY, "spec.maxFailedIndexes": 10, "spec.parallelism": 10_001},
        [f"spec.parallelism {INV}"],
    ),
    ("many indexes", {**MANY, "spec.parallelism": 1}, [f"{HIGH} {R}"]),
    (
        "many indexes",
        {**MANY, "spec.maxFailedIndexes": 10_001, "spec.parallelism": 1},
        [f"{HIGH} {INV}"],
    ),
    (
        "conditions",
        {
            "spec.podFailurePolicy": {
                "rules": [{"action": "Ignore", "onPodConditions": [{"type": "a"}] * 21}]
            }
        },
        [f"{RULE}.onPodConditions {TM}"],
    ),
    ("codes", codes(operator="in", values=[1]), [f"{RULE}.onExitCodes.operator {NS}"]),
    (
        "codes",
        codes(operator="In", values=list(range(1, 257))),
        [f"{RULE}.onExitCodes.values {TM}"],
    ),
    (
        "success",
        {**INDEXED, "spec.successPolicy": {"rules": [{"succeededCount": 1}] * 21}},
        [f"{SUCCESS} {TM}"],
    ),
    (
        "success",
        {**INDEXED, "spec.successPolicy": {"rules": [{"succeededIndexes": "0," * 33_000}]}},
        [f"{SUCCESS}[0].succeededIndexes {TL}"],
    ),
    (
        "success",
        {**INDEXED, "spec.successPolicy": {"rules": [{"succeededCount": -1}]}},
        [f"{SUCCESS}[0].succeededCount {INV}"],
    ),
    (
        "generateName counts too",
        {"metadata": {"generateName": "a" * 58}, **INDEXED},
        [f"metadata.generateName {INV}"],
    ),
]
OTHER: list[tuple[str, dict[str, Any], list[str]]] = [
    ("secret", {"type": "kubernetes.io/basic-auth"}, [f"data[username] {R}"]),
    (
        "service",
        {"spec": {"type": "ExternalName", "externalName": "A", "clusterIP": "1.1.1.1"}},
        [
            f"spec.clusterIP {F}",
            f"spec.externalName {INV}",
        ],
    ),
    (
        "service",
        {"spec.clusterIPs": ["1.1.1.1"], "spec.clusterIP": "1.1.1.2"},
        [f"spec.clusterIPs {INV}"],
    ),
    ("service", {"spec.externalIPs": ["x"]}, [f"spec.externalIPs[0] {INV}"]),
    ("service", {"spec.healthCheckNodePort": 30000}, [f"spec.healthCheckNodePort {INV}"]),
    (
        "service",
        {
            "spec.type": "LoadBalancer",
            "spec.externalTrafficPolicy": "Cluster",
            "spec.healthCheckNodePort": 30000,
        },
        [f"spec.healthCheckNodePort {INV}"],
    ),
    (
        "service",
        {
            "spec.type": "LoadBalancer",
            "spec.externalTrafficPolicy": "Local",
            "spec.healthCheckNodePort": 30000,
        },
        [],
    ),
    (
        "service",
        {
            "spec.type": "LoadBalancer",
            "spec.loadBalancerSourceRanges": ["10.0.0.0", " 010.0.0.0/8 "],
        },
        [f"spec.loadBalancerSourceRanges[0] {INV}"],
    ),
    (
        "service",
        {"spec.loadBalancerSourceRanges": ["10.0.0.0/8"]},
        [f"spec.loadBalancerSourceRanges {F}"],
    ),
    (
        "service",
        {"spec.type": "NodePort", "spec.externalTrafficPolicy": "x"},
        [f"spec.externalTrafficPolicy {NS}"],
    ),
    (
        "service",
        {
            "spec.sessionAffinity": "ClientIP",
            "spec.sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}},
        },
        [f"spec.sessionAffinityConfig.clientIP.timeoutSeconds {INV}"],
    ),
    (
        "service",
        {"spec.ports": [{"port": 1, "appProtocol": "a b", "protocol": "tcp"}]},
        [
            f"spec.ports[0].protocol {NS}",
            f"spec.ports[0].appProtocol {INV}",
        ],
    ),
    (
        "service",
        {
            "spec.type": "NodePort",
            "spec.ports": [
                {"name": "a", "port": 1, "nodePort": 30000},
                {"name": "b", "port": 2, "nodePort": 30000},
            ],
        },
        [f"spec.ports[1].nodePort {D}"],
    ),
    (
        "claim",
        {"spec.dataSourceRef": {"apiGroup": "A"}},
        [
            f"spec.dataSourceRef.name {R}",
            f"spec.dataSourceRef.kind {R}",
            f"spec.dataSourceRef.apiGroup {INV}",
        ],
    ),
    ("policy", {"spec.policyTypes": ["Ingress", "Egress", "Ingress"]}, [f"spec.policyTypes {INV}"]),
    ("policy", {"spec.ingress.0.ports.0": {"endPort": 9}}, [f"spec.ingress[0].ports[0].port {R}"]),
    (
        "policy",
        {"spec.ingress.0.from.0": {"ipBlock": {}}},
        [f"spec.ingress[0].from[0].ipBlock.cidr {R}"],
    ),
    (
        "policy",
        {
            "spec.ingress.0.from.0": {
                "ipBlock": {"cidr": "10.0.0.0/8", "except": ["x", "010.1.0.0/16"]}
            }
        },
        [f"spec.ingress[0].from[0].ipBlock.except[{at}] {INV}" for at in (0, 1)],
    ),
    ("trainjob", {"spec.trainer.image": " i"}, [f"spec.trainer.image {INV}"]),
    (
        "trainjob",
        {"spec.initializer": {"model": {"env": [{"name": ""}]}}},
        [f"spec.initializer.model.env[0].name {R}"],
    ),
]
ROWS = (
    [("pod", *row) for row in POD]
    + [("job", *row) for row in JOB]
    + [(row[0], *row) for row in OTHER]
)


@pytest.mark.parametrize(("base", "what", "changes", "expected"), ROWS)
def test_the_rule_rejects_exactly_these_fields(
    base: str, what: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict(base, changes) == expected, what


def test_before_1_35_a_sidecar_only_restarts_always(verdict: Any) -> None:
    changes = {"spec.initContainers": [{**INIT, "restartPolicy": "Never"}]}
    assert verdict("pod", changes, (1, 34)) == [f"spec.initContainers[0].restartPolicy {NS}"]
