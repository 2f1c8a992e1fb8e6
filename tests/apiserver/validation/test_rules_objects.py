"""Rules for Services and ConfigMaps (numbers 197 to 212), and for kinds without a number."""

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
TWO = [{"name": "a", "port": 1}, {"name": "b", "port": 2}]
PEER, PORT = "spec.ingress[0].from[0]", "spec.ingress[0].ports[0]"

ROWS: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("197", "service", {"metadata.name": "a.b"}, [f"metadata.name {INV}"]),
    ("197", "service", {"metadata.name": "a" * 64}, [f"metadata.name {INV}"]),
    ("197 ok", "service", {"metadata.name": "1a"}, []),
    ("198", "service", {"spec.ports": []}, [f"spec.ports {R}"]),
    ("198", "service", {"spec": ...}, [f"spec.ports {R}"]),
    ("199 ok", "service", {"spec": {"clusterIP": "None", "selector": {"a": "b"}}}, []),
    (
        "200",
        "service",
        {"spec.ports": [{"port": 1}, {"name": "b", "port": 2}]},
        [f"spec.ports[0].name {R}"],
    ),
    (
        "201",
        "service",
        {"spec.ports": [*TWO, {"name": "a", "port": 3}]},
        [f"spec.ports[2].name {D}"],
    ),
    ("201", "service", {"spec.ports": [{"name": "A", "port": 1}]}, [f"spec.ports[0].name {INV}"]),
    ("201 63 here", "service", {"spec.ports": [{"name": "a" * 63, "port": 1}]}, []),
    ("202", "service", {"spec.ports": [*TWO, {"name": "c", "port": 1}]}, [f"spec.ports[2] {D}"]),
    ("202 ok", "service", {"spec.ports": [*TWO, {"name": "c", "port": 1, "protocol": "UDP"}]}, []),
    ("203 one cause", "service", {"spec.ports": [{"port": 70000}]}, [f"spec.ports[0].port {INV}"]),
    (
        "204",
        "service",
        {"spec.ports": [{"port": 1, "targetPort": "a" * 16}]},
        [f"spec.ports[0].targetPort {INV}"],
    ),
    (
        "205",
        "service",
        {"spec.clusterIP": "None", "spec.type": "NodePort"},
        [f"spec.clusterIPs[0] {INV}"],
    ),
    (
        "206",
        "service",
        {"spec.ports": [{"port": 1, "nodePort": 30001}]},
        [f"spec.ports[0].nodePort {F}"],
    ),
    (
        "206 range",
        "service",
        {"spec.type": "NodePort", "spec.ports": [{"port": 1, "nodePort": 80}]},
        [f"spec.ports[0].nodePort {INV}"],
    ),
    ("207", "service", {"spec.selector": {"a": "x" * 64}}, [f"spec.selector {INV}"]),
    ("208", "service", {"spec.type": "x"}, [f"spec.type {NS}"]),
    ("208", "service", {"spec.sessionAffinity": "x"}, [f"spec.sessionAffinity {NS}"]),
    ("209", "configmap", {"data": {"a/b": "x"}}, [f"data[a/b] {INV}"]),
    ("209", "configmap", {"data": {"..x": "x"}}, [f"data[..x] {INV}"]),
    ("209", "configmap", {"binaryData": {"x" * 254: ""}}, [f"binaryData[{'x' * 254}] {INV}"]),
    ("210", "configmap", {"binaryData": {"k": ""}}, [f"data[k] {INV}"]),
    ("211", "configmap", {"data": {"k": "x" * (1024 * 1024 + 1)}}, [f"[] {TL}"]),
    ("211 ok", "configmap", {"data": {"k": "x" * 1024 * 1024}}, []),
    ("212", "configmap", {"metadata.name": "A"}, [f"metadata.name {INV}"]),
    ("Service", "service", {"spec": {"type": "ExternalName"}}, [f"spec.externalName {R}"]),
    ("Service", "service", {"spec.clusterIP": "x"}, [f"spec.clusterIPs[0] {INV}"]),
    ("Service", "service", {"spec.loadBalancerClass": "a/b"}, [f"spec.loadBalancerClass {F}"]),
    (
        "Service",
        "service",
        {"spec.externalTrafficPolicy": "Local"},
        [f"spec.externalTrafficPolicy {INV}"],
    ),
    (
        "null is the empty text",
        "service",
        {"spec.externalIPs": [None]},
        [f"spec.externalIPs[0] {INV}"],
    ),
    (
        "null is the empty text",
        "service",
        {"spec.type": "LoadBalancer", "spec.loadBalancerSourceRanges": [None]},
        [f"spec.loadBalancerSourceRanges[0] {INV}"],
    ),
    ("modes", "claim", {"spec.accessModes": [None]}, ["spec.accessModes unsupported-value"]),
    ("modes", "claim", {"spec.accessModes": ["ReadWriteOncePod", "ReadWriteOncePod"]}, []),
    (
        "mapped",
        "service",
        {"spec.externalIPs": ["::ffff:0102:0304"]},
        [f"spec.externalIPs[0] {INV}"],
    ),
    ("multicast", "service", {"spec.externalIPs": ["224.0.0.1"]}, [f"spec.externalIPs[0] {INV}"]),
    (
        "class",
        "service",
        {"spec.type": "LoadBalancer", "spec.loadBalancerClass": "a b"},
        [f"spec.loadBalancerClass {INV}"],
    ),
    (
        "the server drops the configuration",
        "service",
        {"spec.sessionAffinity": "None", "spec.sessionAffinityConfig": {"clientIP": {}}},
        [],
    ),
    ("Service ok", "service", {"spec.sessionAffinityConfig": {"clientIP": {}}}, []),
    (
        "Service",
        "service",
        {"spec.ipFamilies": ["IPv4", "IPv4"]},
        [f"spec.ipFamilies[1] {D}", f"spec.ipFamilyPolicy {INV}"],
    ),
    ("Service", "service", {"spec.ipFamilies": ["IPv5"]}, [f"spec.ipFamilies[0] {NS}"]),
    ("Service", "service", {"spec.clusterIPs": ["10.0.0.1"]}, [f"spec.clusterIPs {INV}"]),
    ("Service", "service", {"spec.clusterIP": "010.0.0.1"}, [f"spec.clusterIPs[0] {INV}"]),
    ("Service", "service", {"spec.externalIPs": ["127.0.0.1"]}, [f"spec.externalIPs[0] {INV}"]),
    ("Service", "service", {"spec.trafficDistribution": ""}, [f"spec.trafficDistribution {NS}"]),
    ("Service", "service", {"metadata.generation": -1}, [f"metadata.generation {INV}"]),
    ("Secret", "secret", {"data": {"a b": "dg=="}}, [f"data[a b] {INV}"]),
    (
        "Secret",
        "secret",
        {"type": "kubernetes.io/tls"},
        [f"data[tls.crt] {R}", f"data[tls.key] {R}"],
    ),
    (
        "Secret ok",
        "secret",
        {"type": "kubernetes.io/ssh-auth", "stringData": {"ssh-privatekey": "x"}},
        [],
    ),
    (
        "Secret",
        "secret",
        {"type": "kubernetes.io/service-account-token"},
        [f"metadata.annotations[kubernetes.io/service-account.name] {R}"],
    ),
    ("Secret", "secret", {"stringData": {"k": "x" * (1024 * 1024 + 1)}}, [f"data {TL}"]),
    ("PVC", "claim", {"spec": {}}, [f"spec.accessModes {R}", f"spec.resources[storage] {R}"]),
    ("PVC", "claim", {"spec.accessModes": ["rwo"]}, [f"spec.accessModes {NS}"]),
    (
        "PVC",
        "claim",
        {"spec.accessModes": ["ReadWriteOncePod", "ReadOnlyMany"]},
        [f"spec.accessModes {F}"],
    ),
    (
        "PVC",
        "claim",
        {"spec.resources": {"requests": {"storage": "0"}}},
        [f"spec.resources[storage] {INV}"],
    ),
    ("PVC", "claim", {"spec.volumeMode": "block"}, [f"spec.volumeMode {NS}"]),
    ("PVC", "claim", {"spec.storageClassName": "A"}, [f"spec.storageClassName {INV}"]),
    ("PVC ok", "claim", {"spec.storageClassName": ""}, []),
    ("PVC dropped", "claim", {"spec.dataSource": {"kind": "VolumeSnapshot", "name": "x"}}, []),
    (
        "PVC",
        "claim",
        {"spec.dataSourceRef": {"kind": "VolumeSnapshot", "name": "x"}},
        [f"spec.dataSourceRef {INV}"],
    ),
    ("PVC dropped", "claim", {"spec.dataSourceRef": {"kind": "x", "namespace": "y"}}, []),
    (
        "NetworkPolicy",
        "policy",
        {"spec.podSelector": {"matchLabels": {"a b": "c"}}},
        [f"spec.podSelector.matchLabels {INV}"],
    ),
    ("NetworkPolicy", "policy", {"spec.policyTypes": ["ingress"]}, [f"spec.policyTypes[0] {NS}"]),
    ("NetworkPolicy", "policy", {"spec.ingress.0.from.0": {}}, [f"{PEER} {R}"]),
    (
        "NetworkPolicy",
        "policy",
        {"spec.ingress.0.from.0": {"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8"}}},
        [f"{PEER} {F}"],
    ),
    (
        "NetworkPolicy",
        "policy",
        {"spec.ingress.0.from.0": {"ipBlock": {"cidr": "10.0.0.0"}}},
        [f"{PEER}.ipBlock.cidr {INV}"],
    ),
    (
        "NetworkPolicy",
        "policy",
        {"spec.ingress.0.from.0": {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/8"]}}},
        [f"{PEER}.ipBlock.except[0] {INV}"],
    ),
    (
        "NetworkPolicy",
        "policy",
        {"spec.ingress.0.ports.0": {"port": 80, "endPort": 79}},
        [f"{PORT}.endPort {INV}"],
    ),
    (
        "NetworkPolicy",
        "policy",
        {"spec.ingress.0.ports.0": {"port": "http", "endPort": 79}},
        [f"{PORT}.endPort {INV}"],
    ),
    (
        "NetworkPolicy",
        "policy",
        {"spec.ingress.0.ports.0": {"protocol": "tcp"}},
        [f"{PORT}.protocol {NS}"],
    ),
]


@pytest.mark.parametrize(("rule", "base", "changes", "expected"), ROWS)
def test_the_rule_rejects_exactly_these_fields(
    rule: str, base: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict(base, changes) == expected, rule


def test_before_1_36_a_service_name_begins_with_a_letter(verdict: Any) -> None:
    assert verdict("service", {"metadata.name": "1a"}, (1, 35)) == [f"metadata.name {INV}"]
