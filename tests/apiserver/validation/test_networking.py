"""IPAddress and ServiceCIDR, as kube-apiserver 1.36 validates them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.validation.small_kinds import Row, check_row, kind, rejected_fields

PARENT = {"group": "", "resource": "services", "name": "s", "namespace": "n"}
BACKEND = {"service": {"name": "s", "port": {"number": 80}}}
PREFIX = {"path": "/", "pathType": "Prefix", "backend": BACKEND}
POLICY: dict[str, Any] = {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}]}]}
GOOD = {
    "address": {
        **kind("networking.k8s.io/v1", "IPAddress", spec={"parentRef": PARENT}),
        "metadata": {"name": "10.0.0.1"},
    },
    "two-ranges": kind(
        "networking.k8s.io/v1", "ServiceCIDR", spec={"cidrs": ["10.0.0.0/16", "fd00::/112"]}
    ),
    "range": kind("networking.k8s.io/v1", "ServiceCIDR", spec={"cidrs": ["10.0.0.0/16"]}),
    "ingress": kind("networking.k8s.io/v1", "Ingress", spec={"defaultBackend": BACKEND}),
    "rules": kind(
        "networking.k8s.io/v1", "Ingress", spec={"rules": [{"http": {"paths": [PREFIX]}}]}
    ),
    "policy": kind(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        spec={"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}]}]},
    ),
}
PATH, AT_PATH = "spec.rules.0.http.paths.0", "spec.rules[0].http.paths[0]"
PEER, AT_PEER = "spec.ingress.0.from.0", "spec.ingress[0].from[0]"
PORT = "spec.defaultBackend.service.port"
ROWS: list[Row] = [
    ("address", "metadata.name", "2001:db8::1", ""),
    (
        "address",
        "metadata.name",
        "2001:DB8::1",
        'metadata.name: Invalid value: "2001:DB8::1": must be in canonical',
    ),
    ("address", "metadata.name", "010.0.0.1", "metadata.name: Invalid value"),
    ("address", "metadata.name", "::ffff:10.0.0.1", "metadata.name: Invalid value"),
    (
        "address",
        "metadata.name",
        "a",
        'metadata.name: Invalid value: "a": must be a valid IP address',
    ),
    ("address", "spec", {}, "spec.parentRef: Required value"),
    ("address", "spec.parentRef.group", "A", "spec.parentRef.group: Invalid value"),
    ("address", "spec.parentRef.resource", "", "spec.parentRef.resource: Required value"),
    ("address", "spec.parentRef.name", "a/b", "spec.parentRef.name: Invalid value"),
    ("address", "spec.parentRef.namespace", "", ""),
    ("range", "spec", {}, "spec.cidrs: Required value: at least one CIDR required"),
    ("range", "spec.cidrs", ["10.0.0.0/16", "fd00::/112"], ""),
    (
        "range",
        "spec.cidrs",
        ["10.0.0.0/16", "10.1.0.0/16"],
        "spec.cidrs: Invalid value: [...]: may specify no more",
    ),
    (
        "range",
        "spec.cidrs",
        ["10.0.0.0/16"] * 3,
        "spec.cidrs: Invalid value: [...]: may only hold up to 2 values",
    ),
    ("range", "spec.cidrs", ["10.0.0.1/16"], "spec.cidrs[0]: Invalid value"),
    (
        "range",
        "spec.cidrs",
        ["FD00::/112"],
        'spec.cidrs[0]: Invalid value: "FD00::/112": must be in canonical form',
    ),
    ("ingress", "spec", {}, "spec: Invalid value"),
    ("ingress", "spec", {"rules": []}, "spec: Invalid value"),
    ("ingress", "spec", {"rules": [{"http": {"paths": [PREFIX]}}]}, ""),
    ("ingress", "spec.tls", [{"secretName": "a.b", "hosts": ["a.io"]}], ""),
    ("ingress", "spec.tls", [{"secretName": "A"}], "spec.tls[0].secretName: Invalid value"),
    ("ingress", "spec.tls", [{"secretName": ""}], ""),
    ("ingress", "spec.ingressClassName", "A", "spec.ingressClassName: Invalid value"),
    (
        "ingress",
        "spec.defaultBackend.service.name",
        "",
        "spec.defaultBackend.service.name: Required value",
    ),
    (
        "ingress",
        "spec.defaultBackend.service.name",
        None,
        "spec.defaultBackend.service.name: Required value",
    ),
    (
        "ingress",
        "spec.defaultBackend.service.name",
        "A",
        "spec.defaultBackend.service.name: Invalid value",
    ),
    ("ingress", "spec.defaultBackend.service.port", {"name": "http"}, ""),
    (
        "ingress",
        "spec.defaultBackend.service.port",
        {"name": "a b"},
        "spec.defaultBackend.service.port.name: Invalid value",
    ),
    (
        "ingress",
        "spec.defaultBackend.service.port",
        {"name": "http", "number": 80},
        "spec.defaultBackend",
    ),
    ("ingress", "spec.defaultBackend.service.port", {"number": 65535}, ""),
    (
        "ingress",
        "spec.defaultBackend.service.port",
        {"number": 65536},
        "spec.defaultBackend.service.port.number: Invalid",
    ),
    ("ingress", "spec.defaultBackend", {}, "spec.defaultBackend: Required value"),
    ("rules", f"{PATH}.pathType", None, f"{AT_PATH}.pathType: Required value"),
    ("rules", f"{PATH}.pathType", "Some", f"{AT_PATH}.pathType: Unsupported value"),
    ("rules", f"{PATH}.pathType", "Exact", ""),
    ("rules", f"{PATH}.path", "a", f"{AT_PATH}.path: Invalid value"),
    ("rules", f"{PATH}.path", "/a//b", f"{AT_PATH}.path: Invalid value"),
    ("policy", PEER, {}, f"{AT_PEER}: Required value"),
    ("policy", PEER, {"namespaceSelector": {}, "podSelector": {}}, ""),
    (
        "policy",
        PEER,
        {"namespaceSelector": {"matchLabels": {"a b": "c"}}},
        f"{AT_PEER}.namespaceSelector",
    ),
    ("policy", PEER, {"ipBlock": {"cidr": "10.0.0.0/8"}}, ""),
    (
        "policy",
        PEER,
        {"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}},
        f"{AT_PEER}: Forbidden",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[2]}"[:60])
def test_the_rule_rejects_exactly_these_fields(row: Row) -> None:
    check_row(GOOD, row)


@pytest.mark.parametrize(
    ("name", "path", "value", "expected"),
    [
        ("address", "spec.parentRef.name", "t", ["spec.parentRef"]),
        ("range", "spec.cidrs", ["10.0.0.0/16", "fd00::/112"], []),
        ("range", "spec.cidrs", ["10.1.0.0/16"], ["spec.cidrs[0]"]),
        ("two-ranges", "spec.cidrs", ["10.0.0.0/16"], ["spec.cidrs"]),
    ],
)
def test_an_update_of_an_address_or_of_a_range_is_rejected(
    name: str, path: str, value: Any, expected: list[str]
) -> None:
    assert rejected_fields(GOOD[name], path, value) == expected
