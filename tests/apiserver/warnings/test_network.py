"""Warnings about Services, endpoints, NetworkPolicies and Ingresses (Kubernetes 1.36)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.warnings.conftest import Warned

HEADLESS = {"clusterIP": "None"}
EXTERNAL_IPS = "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
NOT_EXTERNAL = 'spec.externalName is ignored when spec.type is not "ExternalName"'


@pytest.mark.parametrize(
    ("spec", "kubernetes", "expected"),
    [
        ({}, "1.36", []),
        (HEADLESS, "1.36", []),
        ({**HEADLESS, "sessionAffinity": "None"}, "1.36", []),
        (
            {**HEADLESS, "sessionAffinity": "ClientIP"},
            "1.36",
            ["spec.SessionAffinity is ignored for headless services"],
        ),
        ({**HEADLESS, "sessionAffinity": "ClientIP"}, "1.33", []),
        (
            {**HEADLESS, "externalIPs": ["1.2.3.4"]},
            "1.36",
            ["spec.externalIPs is ignored for headless services"],
        ),
        (
            {**HEADLESS, "loadBalancerIP": "1.2.3.4"},
            "1.36",
            ["spec.loadBalancerIP is ignored for headless services"],
        ),
        ({"externalIPs": ["1.2.3.4"]}, "1.36", [EXTERNAL_IPS]),
        ({"externalIPs": ["1.2.3.4"]}, "1.35", []),
        (
            {"type": "ExternalName", "externalName": "a.b", "externalIPs": ["1.2.3.4"]},
            "1.36",
            ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
        ),
        ({"externalName": "a.b"}, "1.31", [NOT_EXTERNAL]),
        (
            {"trafficDistribution": "PreferClose"},
            "1.36",
            ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
        ),
        ({"trafficDistribution": "PreferClose"}, "1.33", []),
        ({"trafficDistribution": "PreferSameZone"}, "1.36", []),
        (
            {"clusterIPs": ["FD00::A"]},
            "1.36",
            [
                'spec.clusterIPs[0]: IPv6 address "FD00::A" should be in RFC 5952 canonical format ("fd00::a")'
            ],
        ),
        ({"clusterIPs": ["None"]}, "1.36", []),
        (
            {"loadBalancerSourceRanges": ["10.0.0.1/8"]},
            "1.36",
            [
                'spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be '
                '"10.0.0.0/8" or "10.0.0.1/32"?)'
            ],
        ),
    ],
)
def test_deprecated_settings_of_services_are_warned_about(
    warned: Warned, spec: dict[str, Any], kubernetes: str, expected: list[str]
) -> None:
    assert warned("v1", "Service", {"spec": spec}, kubernetes) == expected


def test_the_old_annotation_for_topology_is_warned_about(warned: Warned) -> None:
    annotations = {"service.kubernetes.io/topology-aware-hints": "auto"}
    assert warned("v1", "Service", {"metadata": {"annotations": annotations}}) == [
        "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
        "service.kubernetes.io/topology-mode instead"
    ]


def test_addresses_of_endpoints_in_other_forms_are_warned_about(warned: Warned) -> None:
    subsets = [{"addresses": [{"ip": "FD00::A"}], "notReadyAddresses": [{"ip": "10.0.0.1"}]}]
    assert warned("v1", "Endpoints", {"subsets": subsets}) == [
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        'subsets[0].addresses[0].ip: IPv6 address "FD00::A" should be in RFC 5952 canonical format ("fd00::a")',
    ]
    assert warned("v1", "Endpoints", {"subsets": subsets}, "1.32") == []


def test_deprecated_settings_of_endpoint_slices_are_warned_about(warned: Warned) -> None:
    group = "discovery.k8s.io/v1"
    assert warned(group, "EndpointSlice", {"addressType": "FQDN"}) == [
        "spec.addressType: FQDN endpoints are deprecated"
    ]
    fields = {"addressType": "IPv6", "endpoints": [{"addresses": ["FD00::A"]}]}
    assert len(warned(group, "EndpointSlice", fields)) == 1
    labels = {"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}
    assert warned(group, "EndpointSlice", {**fields, "metadata": {"labels": labels}}) == []


def test_ranges_of_network_policies_in_other_forms_are_warned_about(warned: Warned) -> None:
    block = {"cidr": "10.0.0.1/8", "except": ["10.1.0.1/16"]}
    spec = {
        "ingress": [{"from": [{"ipBlock": block}]}],
        "egress": [{"to": [{"podSelector": {}}, {"ipBlock": block}]}],
    }
    warnings = warned("networking.k8s.io/v1", "NetworkPolicy", {"spec": spec}, "1.35")
    assert [text.partition(": ")[0] for text in warnings] == [
        "spec.ingress[0].from[0].ipBlock.cidr",
        "spec.ingress[0].from[0].ipBlock.except[0]",
        "spec.egress[0].to[1].ipBlock.cidr",
        "spec.egress[0].to[1].ipBlock.except[0]",
    ]


def test_the_class_annotation_of_an_ingress_is_warned_about(warned: Warned) -> None:
    annotated = {"metadata": {"annotations": {"kubernetes.io/ingress.class": "nginx"}}}
    assert warned("networking.k8s.io/v1", "Ingress", annotated) == [
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
    ]
    assert (
        warned(
            "networking.k8s.io/v1", "Ingress", {**annotated, "spec": {"ingressClassName": "nginx"}}
        )
        == []
    )


@pytest.mark.parametrize(("kubernetes", "count"), [("1.33", 0), ("1.34", 1)])
def test_since_1_34_unused_fields_of_a_headless_service_are_warned_about(
    warned: Warned, kubernetes: str, count: int
) -> None:
    spec = {"clusterIP": "None", "loadBalancerIP": "1.2.3.4"}
    assert (
        len(warned("v1", "Service", {"spec": spec}, kubernetes))
        - len(warned("v1", "Service", {"spec": {"loadBalancerIP": "1.2.3.4"}}, kubernetes))
        == count
    )
