"""Rules for containers (numbers 12 to 73 and 102 to 120). Each row has the number of its rule."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import validate

INV, R, NS, D, F, NF, TM = (
    "invalid-value",
    "required-value",
    "unsupported-value",
    "duplicate-value",
    "forbidden-value",
    "not-found-value",
    "too-many-items",
)
MAIN = {"name": "main", "image": "i"}
C = "spec.containers[0]"


def env(**source: Any) -> dict[str, Any]:
    return {"C.env": [{"name": "X", **source}]}


def ref(**source: Any) -> dict[str, Any]:
    return env(valueFrom=source)


def amounts(
    limits: dict[str, Any] | None = None, requests: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {"C.resources": {"limits": limits or {}, "requests": requests or {}}}


def probe(kind: str = "livenessProbe", **fields: Any) -> dict[str, Any]:
    return {f"C.{kind}": {"tcpSocket": {"port": 80}, **fields}}


FROM, REQ, LIM, PROBE = (
    f"{C}.env[0].valueFrom",
    f"{C}.resources.requests",
    f"{C}.resources.limits",
    f"{C}.livenessProbe",
)
INIT = {"spec.initContainers": [{"name": "a", "image": "i"}]}
GPU = "nvidia.com/gpu"

ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("12", {"spec.containers": []}, [f"spec.containers {R}"]),
    ("12", {"spec": ...}, [f"spec.containers {R}"]),
    ("12 null item", {"spec.containers": [None]}, [f"{C}.name {R}", f"{C}.image {R}"]),
    ("13", {"C.name": ""}, [f"{C}.name {R}"]),
    ("14", {"C.name": "a.b"}, [f"{C}.name {INV}"]),
    ("14", {"C.name": "A_b"}, [f"{C}.name {INV}"]),
    ("14", {"C.name": "a" * 64}, [f"{C}.name {INV}"]),
    ("15", {"spec.containers": [MAIN, MAIN]}, [f"spec.containers[1].name {D}"]),
    ("15", {"spec.initContainers": [MAIN]}, [f"spec.initContainers[0].name {D}"]),
    ("16", {"C.image": ...}, [f"{C}.image {R}"]),
    ("17", {"C.image": " i"}, [f"{C}.image {INV}"]),
    ("18", {"C.imagePullPolicy": "always"}, [f"{C}.imagePullPolicy {NS}"]),
    ("18 ok", {"C.imagePullPolicy": ""}, []),
    ("19", {"C.terminationMessagePolicy": "x"}, [f"{C}.terminationMessagePolicy {NS}"]),
    ("20", {"C.restartPolicy": "x"}, [f"{C}.restartPolicy {NS}"]),
    ("20 ok", {"C.restartPolicy": "Never"}, []),
    (
        "21",
        {
            "C.restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
            ]
        },
        [f"{C}.restartPolicy {R}"],
    ),
    (
        "22",
        {**INIT, "spec.initContainers.0.livenessProbe": {"exec": {"command": ["x"]}}},
        [f"spec.initContainers[0].livenessProbe {F}"],
    ),
    (
        "22 ok",
        {
            **INIT,
            "spec.initContainers.0.restartPolicy": "Always",
            "spec.initContainers.0.livenessProbe": {"exec": {"command": ["x"]}},
        },
        [],
    ),
    (
        "23",
        {**INIT, "spec.initContainers.0.lifecycle": {"preStop": {"sleep": {"seconds": 1}}}},
        [f"spec.initContainers[0].lifecycle {F}"],
    ),
    (
        "24",
        {
            "spec.restartPolicy": "Never",
            "C.resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
        },
        [f"{C}.resizePolicy {INV}"],
    ),
    ("25", {"spec.ephemeralContainers": [MAIN]}, [f"spec.ephemeralContainers {F}"]),
    ("26", {"C.workingDir": "x", "C.command": [""]}, []),
    ("27", {"C.env": [{"value": "x"}]}, [f"{C}.env[0].name {R}"]),
    ("28", {"C.env": [{"name": "A=B"}]}, [f"{C}.env[0].name {INV}"]),
    ("28", {"C.env": [{"name": "É"}]}, [f"{C}.env[0].name {INV}"]),
    ("29 ok", {"C.env": [{"name": "1 a.b-c"}]}, []),
    ("30 ok", {"C.env": [{"name": "A"}, {"name": "A"}]}, []),
    (
        "31",
        env(value="x", valueFrom={"fieldRef": {"fieldPath": "metadata.name"}}),
        [f"{FROM} {INV}"],
    ),
    ("31", env(value="", valueFrom={"fieldRef": {"fieldPath": "metadata.name"}}), []),
    ("32", ref(), [f"{FROM} {INV}"]),
    (
        "33",
        ref(fieldRef={"fieldPath": "metadata.name"}, secretKeyRef={"name": "a", "key": "b"}),
        [f"{FROM} {INV}"],
    ),
    ("34", ref(fieldRef={}), [f"{FROM}.fieldRef.fieldPath {R}"]),
    ("35", ref(fieldRef={"fieldPath": "spec.foo"}), [f"{FROM}.fieldRef.fieldPath {INV}"]),
    ("36", ref(fieldRef={"fieldPath": "status.phase"}), [f"{FROM}.fieldRef.fieldPath {NS}"]),
    ("36", ref(fieldRef={"fieldPath": "metadata.labels"}), [f"{FROM}.fieldRef.fieldPath {NS}"]),
    ("37", ref(fieldRef={"fieldPath": "metadata.labels['bad key']"}), [f"{FROM}.fieldRef {INV}"]),
    ("37 ok", ref(fieldRef={"fieldPath": "metadata.annotations['A.io/x']"}), []),
    (
        "38",
        ref(resourceFieldRef={"resource": "limits.nvidia.com/gpu"}),
        [f"{FROM}.resourceFieldRef.resource {NS}"],
    ),
    (
        "39",
        ref(resourceFieldRef={"resource": "limits.cpu", "divisor": "2"}),
        [f"{FROM}.resourceFieldRef.divisor {INV}"],
    ),
    ("39 ok", ref(resourceFieldRef={"resource": "limits.memory", "divisor": "1Mi"}), []),
    ("40 ok", ref(resourceFieldRef={"resource": "limits.cpu", "containerName": "nobody"}), []),
    ("41", ref(configMapKeyRef={"name": "c"}), [f"{FROM}.configMapKeyRef.key {R}"]),
    ("42", ref(secretKeyRef={"name": "c", "key": "a/b"}), [f"{FROM}.secretKeyRef.key {INV}"]),
    ("43", ref(secretKeyRef={"key": "k"}), [f"{FROM}.secretKeyRef.name {INV}"]),
    ("43", ref(secretKeyRef={"name": "A_", "key": "k"}), [f"{FROM}.secretKeyRef.name {INV}"]),
    ("44", {"C.envFrom": [{}]}, [f"{C}.envFrom {INV}"]),
    (
        "44",
        {"C.envFrom": [{"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}]},
        [f"{C}.envFrom {INV}"],
    ),
    ("45", {"C.envFrom": [{"configMapRef": {}}]}, [f"{C}.envFrom[0].configMapRef.name {R}"]),
    (
        "46",
        {"C.envFrom": [{"prefix": "a=", "secretRef": {"name": "a"}}]},
        [f"{C}.envFrom[0].prefix {INV}"],
    ),
    ("47", amounts({"gpu": 1}), [f"{LIM}[gpu] {INV}"]),
    ("48", amounts({"requests.a.io/x": 1}), [f"{LIM}[requests.a.io/x] {INV}"]),
    ("48", amounts({"Nvidia.com/gpu": 1}), [f"{LIM}[Nvidia.com/gpu] {INV}"]),
    ("49", amounts({GPU: "500m"}), [f"{LIM}[{GPU}] {INV}"]),
    ("49 ok", amounts({GPU: "1000m"}), []),
    ("50", amounts(requests={"cpu": "-1"}), [f"{REQ}[cpu] {INV}"]),
    ("51", amounts({"cpu": 1}, {"cpu": "1001m"}), [f"{REQ} {INV}"]),
    ("51", amounts({"memory": "1Gi"}, {"memory": "1.1Gi"}), [f"{REQ} {INV}"]),
    ("51 null is 0", amounts({"cpu": None}, {"cpu": "1"}), [f"{REQ} {INV}"]),
    ("52", amounts({GPU: 2}, {GPU: 1}), [f"{REQ} {INV}"]),
    ("53", amounts(requests={GPU: 1}), [f"{LIM} {R}"]),
    ("54 ok", amounts({GPU: 1}), []),
    ("55", amounts({"hugepages-2Mi": "2Mi"}, {"hugepages-2Mi": "2Mi"}), [f"{C}.resources {F}"]),
    ("56", amounts({"hugepages-2Mi": "3Mi", "cpu": 1}), [f"{LIM}[hugepages-2Mi] {INV}"]),
    ("57 warning only", amounts(requests={"memory": "512m"}), []),
    ("58", {"C.resources": {"claims": [{"name": "x"}]}}, [f"{C}.resources.claims[0] {NF}"]),
    ("59", {"spec.resourceClaims": [{"name": "x"}]}, [f"spec.resourceClaims[0] {INV}"]),
    (
        "60",
        {"spec.resourceClaims": [{"name": "x", "resourceClaimName": "a"}] * 2},
        [f"spec.resourceClaims[1].name {D}"],
    ),
    ("61", {"spec.resources": {"limits": {GPU: 1}}}, [f"spec.resources.limits[{GPU}] {NS}"]),
    (
        "62, C20",
        {"spec.resources": {"requests": {"cpu": 2}}, "C.resources": {"requests": {"cpu": 4}}},
        [f"spec.resources.requests[cpu] {INV}"],
    ),
    (
        "63",
        {"spec.resources": {"limits": {"cpu": 2}}, "C.resources": {"limits": {"cpu": 4}}},
        [f"spec.resources.containers[0][cpu].limits {INV}"],
    ),
    ("64", {"C.ports": [{"name": "a"}]}, [f"{C}.ports[0].containerPort {R}"]),
    ("65", {"C.ports": [{"containerPort": 65536}]}, [f"{C}.ports[0].containerPort {INV}"]),
    ("66", {"C.ports": [{"containerPort": 1, "name": "a" * 16}]}, [f"{C}.ports[0].name {INV}"]),
    ("67", {"C.ports": [{"containerPort": 1, "name": "80"}]}, [f"{C}.ports[0].name {INV}"]),
    ("67", {"C.ports": [{"containerPort": 1, "name": "a--b"}]}, [f"{C}.ports[0].name {INV}"]),
    (
        "68",
        {"C.ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]},
        [f"{C}.ports[1].name {D}"],
    ),
    ("69 warning only", {"C.ports": [{"containerPort": 1}, {"containerPort": 1}]}, []),
    ("70", {"C.ports": [{"containerPort": 1, "protocol": "tcp"}]}, [f"{C}.ports[0].protocol {NS}"]),
    (
        "71",
        {"C.ports": [{"containerPort": 1, "hostPort": 70000}]},
        [f"{C}.ports[0].hostPort {INV}"],
    ),
    (
        "72",
        {"C.ports": [{"containerPort": 1, "hostPort": 80}, {"containerPort": 2, "hostPort": 80}]},
        [f"{C}.ports[1].hostPort {D}"],
    ),
    (
        "73",
        {"spec.hostNetwork": True, "C.ports": [{"containerPort": 1, "hostPort": 2}]},
        [f"{C}.ports[0].hostPort {INV}"],
    ),
    ("73 ok", {"spec.hostNetwork": True, "C.ports": [{"containerPort": 1}]}, []),
    ("102", {"C.livenessProbe": {}}, [f"{PROBE} {R}"]),
    ("102", probe(exec={"command": ["x"]}), [f"{PROBE}.tcpSocket {F}"]),
    ("103", {"C.livenessProbe": {"exec": {}}}, [f"{PROBE}.exec.command {R}"]),
    ("104", {"C.livenessProbe": {"tcpSocket": {"port": 0}}}, [f"{PROBE}.tcpSocket.port {INV}"]),
    ("104", {"C.livenessProbe": {"tcpSocket": {"port": "80"}}}, [f"{PROBE}.tcpSocket.port {INV}"]),
    ("104 absent", {"C.livenessProbe": {"httpGet": {}}}, [f"{PROBE}.httpGet.port {INV}"]),
    ("104 grpc", {"C.livenessProbe": {"grpc": {"port": 70000}}}, [f"{PROBE}.grpc.port {INV}"]),
    ("105 ok", {"C.livenessProbe": {"tcpSocket": {"port": "nobody"}}}, []),
    ("106", probe(initialDelaySeconds=-1), [f"{PROBE}.initialDelaySeconds {INV}"]),
    ("107", probe(successThreshold=2), [f"{PROBE}.successThreshold {INV}"]),
    ("107 ok", probe("readinessProbe", successThreshold=2), []),
    (
        "108",
        probe("readinessProbe", terminationGracePeriodSeconds=1),
        [f"{C}.readinessProbe.terminationGracePeriodSeconds {INV}"],
    ),
    (
        "108",
        probe(terminationGracePeriodSeconds=0),
        [f"{PROBE}.terminationGracePeriodSeconds {INV}"],
    ),
    (
        "109",
        {"C.livenessProbe": {"httpGet": {"port": 80, "scheme": "http"}}},
        [f"{PROBE}.httpGet.scheme {NS}"],
    ),
    (
        "110",
        {"C.livenessProbe": {"httpGet": {"port": 80, "httpHeaders": [{"name": "a b"}]}}},
        [f"{PROBE}.httpGet.httpHeaders {INV}"],
    ),
    ("111", {"C.lifecycle": {"preStop": {}}}, [f"{C}.lifecycle.preStop {R}"]),
    (
        "112",
        {"C.lifecycle": {"preStop": {"sleep": {"seconds": 31}}}},
        [f"{C}.lifecycle.preStop.sleep {INV}"],
    ),
    ("112 ok", {"C.lifecycle": {"preStop": {"sleep": {"seconds": 30}}}}, []),
    ("113", {"C.securityContext": {"runAsUser": -1}}, [f"{C}.securityContext.runAsUser {INV}"]),
    (
        "113",
        {"spec.securityContext": {"supplementalGroups": [2**31]}},
        ["spec.securityContext.supplementalGroups[0] " + INV],
    ),
    (
        "114",
        {"C.securityContext": {"allowPrivilegeEscalation": False, "privileged": True}},
        [f"{C}.securityContext {INV}"],
    ),
    (
        "114",
        {
            "C.securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"add": ["CAP_SYS_ADMIN"]},
            }
        },
        [f"{C}.securityContext {INV}"],
    ),
    (
        "114 ok",
        {
            "C.securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"add": ["SYS_ADMIN"]},
            }
        },
        [],
    ),
    ("115", {"C.securityContext": {"procMount": "x"}}, [f"{C}.securityContext.procMount {NS}"]),
    (
        "115",
        {"spec.securityContext": {"fsGroupChangePolicy": "x"}},
        ["spec.securityContext.fsGroupChangePolicy " + NS],
    ),
    (
        "116",
        {"C.securityContext": {"seccompProfile": {}}},
        [f"{C}.securityContext.seccompProfile.type {R}"],
    ),
    (
        "116",
        {"C.securityContext": {"seccompProfile": {"type": "x"}}},
        [f"{C}.securityContext.seccompProfile.type {NS}"],
    ),
    (
        "116",
        {"C.securityContext": {"seccompProfile": {"type": "Localhost"}}},
        [f"{C}.securityContext.seccompProfile.localhostProfile {R}"],
    ),
    (
        "116",
        {"C.securityContext": {"seccompProfile": {"type": "Unconfined", "localhostProfile": "x"}}},
        [f"{C}.securityContext.seccompProfile.localhostProfile {INV}"],
    ),
    (
        "117",
        {"spec.securityContext": {"sysctls": [{"name": "A"}]}},
        [f"spec.securityContext.sysctls[0].name {INV}"],
    ),
    (
        "117",
        {"spec.hostNetwork": True, "spec.securityContext": {"sysctls": [{"name": "net.a"}]}},
        [f"spec.securityContext.sysctls[0].name {INV}"],
    ),
    (
        "117",
        {
            "spec.hostIPC": True,
            "spec.securityContext": {"sysctls": [{"name": "kernel.shm_rmid_forced"}]},
        },
        [f"spec.securityContext.sysctls[0].name {INV}"],
    ),
    (
        "118",
        {"spec.securityContext": {"sysctls": [{"name": "a.b"}] * 2}},
        [f"spec.securityContext.sysctls[1].name {D}"],
    ),
    (
        "119",
        {"spec.shareProcessNamespace": True, "spec.hostPID": True},
        [f"spec.securityContext.shareProcessNamespace {INV}"],
    ),
    ("120", {"spec.hostUsers": False, "spec.hostNetwork": True}, [f"spec.hostNetwork {F}"]),
]


@pytest.mark.parametrize(("rule", "changes", "expected"), ROWS)
def test_the_rule_rejects_exactly_these_fields(
    rule: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict("pod", changes) == expected, rule


OLDER: list[tuple[str, tuple[int, int], dict[str, Any], list[str]]] = [
    ("29 before 1.32", (1, 31), {"C.env": [{"name": "1A"}]}, [f"{C}.env[0].name {INV}"]),
    ("20 before 1.35", (1, 34), {"C.restartPolicy": "Always"}, [f"{C}.restartPolicy {F}"]),
    (
        "112 before 1.33",
        (1, 32),
        {"C.lifecycle": {"preStop": {"sleep": {"seconds": 0}}}},
        [f"{C}.lifecycle.preStop.sleep {INV}"],
    ),
    ("61 before 1.34", (1, 33), {"spec.resources": {"limits": {GPU: 1}}}, []),
]


@pytest.mark.parametrize(("rule", "server", "changes", "expected"), OLDER)
def test_an_older_server_checks_other_rules(
    rule: str, server: tuple[int, int], changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict("pod", changes, server) == expected, rule


TEMPLATE: list[tuple[str, dict[str, Any], list[str]]] = [
    ("17 the Job passes, its pods do not", {"C.image": " i"}, []),
    (
        "62 requests are not filled from limits in a template",
        {"T.spec.resources": {"requests": {"cpu": 2}}, "C.resources": {"limits": {"cpu": 4}}},
        [],
    ),
    ("54 nor is one wanted", {"C.resources": {"limits": {GPU: 1}}}, []),
    ("25", {"T.spec.ephemeralContainers": [MAIN]}, [f"spec.template.spec.ephemeralContainers {F}"]),
]


@pytest.mark.parametrize(("rule", "changes", "expected"), TEMPLATE)
def test_the_template_of_a_job_is_checked_at_its_creation(
    rule: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict("job", changes, stage="apply") == expected, rule


def test_a_job_whose_pods_are_rejected_is_found(verdict: Any) -> None:
    assert verdict("job", {"C.image": " i"}, stage="pod") == [
        f"spec.template.spec.containers[0].image {INV}"
    ]


def test_the_value_that_hides_processes_from_the_node_is_shown() -> None:
    spec = {
        "containers": [{"name": "c", "image": "i"}],
        "shareProcessNamespace": True,
        "hostPID": True,
    }
    (problem,) = validate(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    )
    assert problem.message == (
        "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot "
        "both be enabled"
    )
    assert problem.path == ("spec", "shareProcessNamespace")
