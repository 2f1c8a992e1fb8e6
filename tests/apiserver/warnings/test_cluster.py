"""Warnings about Nodes, ServiceAccounts, RuntimeClasses, TLS Secrets and CRDs (Kubernetes 1.36)."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from tests.apiserver.warnings.conftest import Warned

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"
OTHER = "-----BEGIN X-----\nAAAA\n-----END X-----\n"


@pytest.mark.parametrize(
    ("certificate", "key", "text"),
    [
        (CERTIFICATE, KEY, None),
        ("x", KEY, "failed to find any PEM data in certificate input"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA",
            KEY,
            "failed to find any PEM data in certificate input",
        ),
        (
            KEY,
            KEY,
            "failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs "
            "may have been "
            "switched",
        ),
        (
            OTHER,
            KEY,
            'failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the '
            "following types: "
            "[X]",
        ),
        (CERTIFICATE, "", "failed to find any PEM data in key input"),
        (
            CERTIFICATE,
            CERTIFICATE,
            "found a certificate rather than a key in the PEM for the private key",
        ),
        (
            CERTIFICATE,
            OTHER,
            'failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the '
            "following types: [X]",
        ),
    ],
)
def test_tls_secrets_without_a_pem_certificate_or_key_are_warned_about(
    warned: Warned, certificate: str, key: str, text: str | None
) -> None:
    expected = [f"tls: {text}"] if text else []
    plain = {"tls.crt": certificate, "tls.key": key}
    data = {name: b64encode(value.encode()).decode() for name, value in plain.items()}
    assert warned("v1", "Secret", {"type": "kubernetes.io/tls", "stringData": plain}) == expected
    assert warned("v1", "Secret", {"type": "kubernetes.io/tls", "data": data}) == expected
    assert warned("v1", "Secret", {"type": "Opaque", "data": data}) == []


def test_secrets_that_are_not_base64_have_no_pem_data(warned: Warned) -> None:
    fields = {"type": "kubernetes.io/tls", "data": {"tls.crt": "%", "tls.key": 7}}
    assert warned("v1", "Secret", fields) == [
        "tls: failed to find any PEM data in certificate input"
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"podCIDRs": ["10.0.0.0/24"]}, []),
        ({"configSource": {"configMap": {"name": "c"}}}, []),  # the server drops it first
        (
            {"externalID": "i"},
            ["spec.externalID: this field is deprecated, and is unused by Kubernetes"],
        ),
        (
            {"podCIDR": "FD00::/8", "podCIDRs": ["10.0.0.1/8"]},
            [
                'spec.podCIDRs[0]: IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")'
            ],
        ),
        (
            {"podCIDRs": ["10.0.0.0/8", "FD00::/8"]},
            [
                'spec.podCIDRs[1]: IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")'
            ],
        ),
    ],
)
def test_deprecated_fields_of_nodes_are_warned_about(
    warned: Warned, spec: dict[str, Any], expected: list[str]
) -> None:
    assert warned("v1", "Node", {"spec": spec}) == expected


def test_the_deprecated_annotation_of_service_accounts_is_warned_about(warned: Warned) -> None:
    metadata = {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
    assert warned("v1", "ServiceAccount", {"metadata": metadata}) == [
        "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate "
        "namespaces to "
        "isolate access to mounted secrets"
    ]
    assert warned("v1", "ServiceAccount", {"metadata": metadata}, "1.31") == []


def test_deprecated_labels_of_runtime_classes_are_warned_about(warned: Warned) -> None:
    scheduling = {"nodeSelector": {"beta.kubernetes.io/arch": "amd64", "a": "b"}}
    assert warned("node.k8s.io/v1", "RuntimeClass", {"scheduling": scheduling}) == [
        'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/arch" instead'
    ]


@pytest.mark.parametrize(
    ("schema", "expected", "before_1_36"),
    [
        ({"type": "string", "format": "date-time"}, [], []),
        ({"type": "integer", "format": "int64"}, [], []),
        ({"format": "int64", "x-kubernetes-int-or-string": True}, [], []),
        ({"type": "string", "format": "k8s-short-name"}, [], []),
        ({"type": "string", "format": "int32"}, ["int32"], ["int32"]),
        ({"type": "object", "format": "x"}, ["x"], []),
        ({"type": "array", "format": "cidr", "items": {"type": "string"}}, ["cidr"], []),
        (
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": {"type": "string", "format": "x"}},
                    "b": {"type": "string", "format": "x"},
                },
            },
            ["x"],
            ["x"],
        ),
    ],
)
def test_unrecognized_formats_of_crds_are_warned_about(
    warned: Warned, schema: dict[str, Any], expected: list[str], before_1_36: list[str]
) -> None:
    fields = {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}

    def texts(kubernetes: str) -> list[str]:
        return warned("apiextensions.k8s.io/v1", "CustomResourceDefinition", fields, kubernetes)

    assert texts("1.36") == [f'unrecognized format "{name}"' for name in expected]
    assert texts("1.35") == [f'unrecognized format "{name}"' for name in before_1_36]
    assert texts("1.33") == []


@pytest.mark.parametrize(("kubernetes", "count"), [("1.31", 0), ("1.32", 1)])
def test_since_1_32_limited_secrets_of_an_account_are_warned_about(
    warned: Warned, kubernetes: str, count: int
) -> None:
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    assert (
        len(warned("v1", "ServiceAccount", {"metadata": {"annotations": annotations}}, kubernetes))
        == count
    )
