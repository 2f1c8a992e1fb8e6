"""Rules for scheduling (numbers 121 to 163), and for pod fields without a number."""

from __future__ import annotations

from typing import Any

import pytest

INV, R, NS, D, F, TL = (
    "invalid-value",
    "required-value",
    "unsupported-value",
    "duplicate-value",
    "forbidden-value",
    "too-long-value",
)
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
T, S = "spec.tolerations[0]", "spec.topologySpreadConstraints[0]"
NODE, ANTI = (
    f"spec.affinity.nodeAffinity.{REQUIRED}",
    f"spec.affinity.podAntiAffinity.{REQUIRED}[0]",
)
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


def toleration(**fields: Any) -> dict[str, Any]:
    return {"spec.tolerations": [fields]}


def node(**expression: Any) -> dict[str, Any]:
    terms = [{"matchExpressions": [expression]}]
    return {"spec.affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}


def anti(**term: Any) -> dict[str, Any]:
    return {"spec.affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "zone", **term}]}}}


def spread(**fields: Any) -> dict[str, Any]:
    return {"spec.topologySpreadConstraints": [{**SPREAD, **fields}]}


EXPRESSION = f"{NODE}.nodeSelectorTerms[0].matchExpressions[0]"
ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("121", toleration(), [f"{T}.operator {INV}"]),
    ("121", toleration(operator="Equal", value="a"), [f"{T}.operator {INV}"]),
    ("121 ok", toleration(operator="Exists"), []),
    ("122", toleration(key="a", operator="Exists", value="x"), [f"{T}.operator {INV}"]),
    ("123", toleration(key="a", value="a b"), [f"{T}.operator {INV}"]),
    ("124", toleration(key="a", operator="exists"), [f"{T}.operator {NS}"]),
    ("124", toleration(key="a", operator="Gt", value="1"), [f"{T}.operator {NS}"]),
    ("125", toleration(key="a", effect="noSchedule"), [f"{T}.effect {NS}"]),
    ("126", toleration(key="a", effect="NoSchedule", tolerationSeconds=1), [f"{T}.effect {INV}"]),
    ("126 empty too", toleration(key="a", tolerationSeconds=1), [f"{T}.effect {INV}"]),
    ("127", toleration(key="a b"), [f"{T}.key {INV}"]),
    (
        "128 ok",
        {"spec.tolerations": [{"key": "a", "effect": "NoExecute", "tolerationSeconds": -1}] * 2},
        [],
    ),
    ("129", {"spec.nodeSelector": {"a b": "x"}}, [f"spec.nodeSelector {INV}"]),
    ("129", {"spec.nodeSelector": {"a": "x y"}}, [f"spec.nodeSelector {INV}"]),
    ("130", {"spec.affinity": {"nodeAffinity": {REQUIRED: {}}}}, [f"{NODE}.nodeSelectorTerms {R}"]),
    ("131", node(key="a", operator="in", values=["x"]), [f"{EXPRESSION}.operator {INV}"]),
    ("132", node(key="a", operator="In"), [f"{EXPRESSION}.values {R}"]),
    ("132", node(key="a", operator="Gt", values=["1", "2"]), [f"{EXPRESSION}.values {R}"]),
    ("133", node(key="a", operator="Exists", values=["x"]), [f"{EXPRESSION}.values {F}"]),
    ("134 ok", node(key="a", operator="Gt", values=["x"]), []),
    ("135", node(key="a b", operator="Exists"), [f"{EXPRESSION}.key {INV}"]),
    ("135", node(key="a", operator="In", values=["a b"]), [f"{EXPRESSION}.values[0] {INV}"]),
    (
        "135 fields",
        {
            "spec.affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {"key": "metadata.uid", "operator": "In", "values": ["x"]}
                                ]
                            }
                        ]
                    }
                }
            }
        },
        [f"{NODE}.nodeSelectorTerms[0].matchFields[0].key {INV}"],
    ),
    (
        "136",
        {"spec.affinity": {"nodeAffinity": {PREFERRED: [{"weight": 101, "preference": {}}]}}},
        [f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight {INV}"],
    ),
    ("137 one cause", anti(topologyKey=""), [f"{ANTI}.topologyKey {R}"]),
    (
        "138",
        anti(labelSelector={"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}),
        [f"{ANTI}.labelSelector.matchExpressions[0].operator {INV}"],
    ),
    (
        "138",
        anti(labelSelector={"matchLabels": {"a": "x y"}}),
        [f"{ANTI}.labelSelector.matchLabels {INV}"],
    ),
    ("139 warning only", anti(), []),
    ("affinity keys", anti(matchLabelKeys=["a"]), [f"{ANTI}.matchLabelKeys {F}"]),
    ("affinity namespaces", anti(namespaces=["A"]), [f"{ANTI}.namespace {INV}"]),
    ("140", spread(maxSkew=0), [f"{S}.maxSkew {INV}"]),
    ("141", spread(topologyKey=""), [f"{S}.topologyKey {R}"]),
    ("142", spread(whenUnsatisfiable="x"), [f"{S}.whenUnsatisfiable {NS}"]),
    ("142", spread(whenUnsatisfiable=None), [f"{S}.whenUnsatisfiable {NS}"]),
    ("142", spread(nodeAffinityPolicy="x"), [f"{S}.nodeAffinityPolicy {NS}"]),
    ("143", spread(minDomains=0), [f"{S}.minDomains {INV}"]),
    ("143", spread(minDomains=1, whenUnsatisfiable="ScheduleAnyway"), [f"{S}.minDomains {INV}"]),
    (
        "144",
        {"spec.topologySpreadConstraints": [SPREAD, SPREAD]},
        ["spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable} " + D],
    ),
    ("145", spread(matchLabelKeys=["a"]), [f"{S}.matchLabelKeys {F}"]),
    (
        "145 twice",
        spread(matchLabelKeys=["a"], labelSelector={"matchLabels": {"a": "b"}}),
        [f"{S}.matchLabelKeys[0] {INV}"],
    ),
    ("146", {"spec.priorityClassName": "A"}, [f"spec.priorityClassName {INV}"]),
    ("146", {"spec.runtimeClassName": "A"}, [f"spec.runtimeClassName {INV}"]),
    ("146", {"spec.serviceAccountName": "A"}, [f"spec.serviceAccountName {INV}"]),
    ("146", {"spec.nodeName": "A"}, [f"spec.nodeName {INV}"]),
    ("147 no file can know", {"spec.priorityClassName": "not-here"}, []),
    ("148", {"spec.preemptionPolicy": "x"}, [f"spec.preemptionPolicy {NS}"]),
    ("149 ok", {"spec.schedulerName": "A b"}, []),
    ("150", {"spec.restartPolicy": "always"}, [f"spec.restartPolicy {NS}"]),
    ("151", {"spec.dnsPolicy": "x"}, [f"spec.dnsPolicy {NS}"]),
    ("152", {"spec.dnsPolicy": "None"}, [f"spec.dnsConfig {R}"]),
    (
        "152",
        {"spec.dnsPolicy": "None", "spec.dnsConfig": {"searches": ["a"]}},
        [f"spec.dnsConfig.nameservers {R}"],
    ),
    (
        "153",
        {"spec.dnsConfig": {"nameservers": ["1.1.1.1"] * 4}},
        [f"spec.dnsConfig.nameservers {INV}"],
    ),
    (
        "153",
        {"spec.dnsConfig": {"nameservers": ["1.1.1.256", "::1", "01.1.1.1"]}},
        [f"spec.dnsConfig.nameservers[0] {INV}", f"spec.dnsConfig.nameservers[2] {INV}"],
    ),
    (
        "153",
        {"spec.dnsConfig": {"searches": ["a b", "_x.y", "."]}},
        [f"spec.dnsConfig.searches[0] {INV}"],
    ),
    ("154", {"spec.dnsConfig": {"options": [{"value": "5"}]}}, [f"spec.dnsConfig.options[0] {R}"]),
    ("155", {"spec.hostname": "a.b"}, [f"spec.hostname {INV}"]),
    ("155", {"spec.subdomain": "A"}, [f"spec.subdomain {INV}"]),
    (
        "156",
        {"spec.hostnameOverride": "a", "spec.setHostnameAsFQDN": True},
        [f"spec.hostnameOverride {F}"],
    ),
    ("157", {"spec.schedulingGates": [{"name": "a b"}]}, [f"spec.schedulingGates[0] {INV}"]),
    (
        "157",
        {"spec.schedulingGates": [{"name": "a"}, {"name": "a"}]},
        [f"spec.schedulingGates[1] {D}"],
    ),
    (
        "158",
        {"spec.schedulingGates": [{"name": "a"}], "spec.nodeName": "n"},
        [f"spec.nodeName {F}"],
    ),
    ("159", {"spec.activeDeadlineSeconds": 0}, [f"spec.activeDeadlineSeconds {INV}"]),
    ("160 ok", {"spec.terminationGracePeriodSeconds": -1}, []),
    (
        "161",
        {"spec.hostAliases": [{"ip": "x", "hostnames": ["A"]}]},
        [
            f"spec.hostAliases[0].ip {INV}",
            f"spec.hostAliases[0].hostnames[0] {INV}",
        ],
    ),
    ("162", {"spec.os": {}}, [f"spec.os.name {R}"]),
    ("162", {"spec.os": {"name": "Linux"}}, [f"spec.os {NS}"]),
    (
        "162 options",
        {"spec.os": {"name": "linux"}, "spec.securityContext": {"windowsOptions": {}}},
        [f"spec.securityContext.windowsOptions {F}"],
    ),
    (
        "162 options",
        {"spec.os": {"name": "windows"}, "C.securityContext": {"runAsUser": 1}},
        [f"spec.containers[0].securityContext.runAsUser {F}"],
    ),
    ("163 warning only", {"spec.imagePullSecrets": [{"name": ""}]}, []),
    (
        "readiness gates",
        {"spec.readinessGates": [{"conditionType": "a b"}]},
        [f"spec.readinessGates[0].conditionType {INV}"],
    ),
    ("overhead", {"spec.overhead": {"cpu": "1"}}, [f"spec.overhead {F}"]),
    (
        "overhead",
        {"spec.overhead": {"cpu": "-1"}, "spec.runtimeClassName": "r"},
        [f"spec.overhead.limits[cpu] {INV}"],
    ),
    ("override", {"spec.hostnameOverride": "a" * 65}, [f"spec.hostnameOverride {TL}"]),
    (
        "annotations",
        {"metadata.annotations": {"controller.kubernetes.io/pod-deletion-cost": "+1"}},
        [f"metadata.annotations[controller.kubernetes.io/pod-deletion-cost] {INV}"],
    ),
    (
        "annotations",
        {
            "metadata.annotations": {
                "container.apparmor.security.beta.kubernetes.io/x": "unconfined"
            }
        },
        [f"metadata.annotations[container.apparmor.security.beta.kubernetes.io/x] {INV}"],
    ),
]


@pytest.mark.parametrize(("rule", "changes", "expected"), ROWS)
def test_the_rule_rejects_exactly_these_fields(
    rule: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict("pod", changes) == expected, rule
