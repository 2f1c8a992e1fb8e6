"""Warnings about Services, their endpoints, NetworkPolicies and Ingresses.

Source: Kubernetes 1.36, pkg/api/service/warnings.go: GetWarningsForService; the strategies of the
other kinds.
"""

from __future__ import annotations

from ptcompile.apiserver.warnings.addresses import (
    cidr_warnings,
    ip_warnings,
    service_cidr_warnings,
    service_ip_warnings,
)
from ptcompile.apiserver.warnings.header import deprecated, ignored
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import indexed_items, indexed_mappings
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_value

_TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints"
_TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
_INGRESS_CLASS = "kubernetes.io/ingress.class"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_SLICE_CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")


def service_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about a Service."""
    spec = nested_map(manifest, "spec")
    if nested_value(manifest, "metadata", "annotations", _TOPOLOGY_HINTS) is not None:
        text = f"annotation {_TOPOLOGY_HINTS} is deprecated, please use {_TOPOLOGY_MODE} instead"
        yield deprecated(
            ("metadata", "annotations", _TOPOLOGY_HINTS), text, f"use {_TOPOLOGY_MODE}", field=""
        )

    is_headless = (
        spec.get("clusterIP") == "None" and (spec.get("type") or "ClusterIP") == "ClusterIP"
    )
    if is_headless and server.at_least(34):
        yield from _headless_warnings(spec)
    yield from _service_address_warnings(spec, server)
    yield from _service_type_warnings(spec, server, is_headless=is_headless)


def _headless_warnings(spec: Json) -> Problems:
    for key in ("loadBalancerIP", "externalIPs"):
        if spec.get(key):
            yield ignored(
                ("spec", key),
                f"spec.{key} is ignored for headless services",
                f"remove {key}",
                field="",
            )

    if spec.get("sessionAffinity") not in (None, "", "None"):
        text = "spec.SessionAffinity is ignored for headless services"
        yield ignored(("spec", "sessionAffinity"), text, "remove sessionAffinity", field="")


def _service_address_warnings(spec: Json, server: ApiServer) -> Problems:
    cluster_ips = spec.get("clusterIPs")
    if type(cluster_ips) is not list or not cluster_ips:
        path = ("spec", "clusterIP")
        if spec.get("clusterIP") not in (None, "", "None"):
            yield from service_ip_warnings(spec["clusterIP"], path, server)
    elif spec.get("clusterIP") != "None" and cluster_ips[0] != "None":
        for index, address in enumerate(cluster_ips):
            yield from service_ip_warnings(address, ("spec", "clusterIPs", index), server)

    for index, address in indexed_items(spec.get("externalIPs")):
        yield from service_ip_warnings(address, ("spec", "externalIPs", index), server)
    if spec.get("loadBalancerIP"):
        yield from service_ip_warnings(spec["loadBalancerIP"], ("spec", "loadBalancerIP"), server)
    for index, value in indexed_items(spec.get("loadBalancerSourceRanges")):
        yield from service_cidr_warnings(value, ("spec", "loadBalancerSourceRanges", index), server)


def _service_type_warnings(spec: Json, server: ApiServer, *, is_headless: bool) -> Problems:
    is_external_name = spec.get("type") == "ExternalName"
    if spec.get("externalIPs") and is_external_name:
        text = 'spec.externalIPs is ignored when spec.type is "ExternalName"'
        yield ignored(("spec", "externalIPs"), text, "remove externalIPs", field="")
    elif spec.get("externalIPs") and not is_headless and server.at_least(36):
        text = "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
        yield deprecated(
            ("spec", "externalIPs"),
            text,
            "use a Service of type LoadBalancer, or a Gateway",
            field="",
        )

    if spec.get("externalName") and not is_external_name:
        text = 'spec.externalName is ignored when spec.type is not "ExternalName"'
        yield ignored(
            ("spec", "externalName"),
            text,
            "remove externalName, or set type: ExternalName",
            field="",
        )
    if spec.get("trafficDistribution") == "PreferClose" and server.at_least(35):
        text = '"PreferClose" is deprecated; use "PreferSameZone"'
        yield deprecated(("spec", "trafficDistribution"), text, "write PreferSameZone")


def endpoints_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about the addresses of an Endpoints object."""
    for index, subset in indexed_mappings(manifest.get("subsets")):
        for key in ("addresses", "notReadyAddresses"):
            for number, address in indexed_mappings(subset.get(key)):
                yield from ip_warnings(
                    address.get("ip"), ("subsets", index, key, number, "ip"), server
                )


def endpoint_slice_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about an EndpointSlice."""
    if manifest.get("addressType") == "FQDN" and server.at_least(33):
        text = "FQDN endpoints are deprecated"
        help = "list IP addresses, or use a Service of type ExternalName"
        yield deprecated(("addressType",), text, help, field="spec.addressType")
    if nested_value(manifest, "metadata", "labels", _MANAGED_BY) in _SLICE_CONTROLLERS:
        return
    for index, endpoint in indexed_mappings(manifest.get("endpoints")):
        for number, address in indexed_items(endpoint.get("addresses")):
            yield from ip_warnings(address, ("endpoints", index, "addresses", number), server)


def network_policy_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield the warnings about the address ranges of a NetworkPolicy."""
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in indexed_mappings(nested_value(manifest, "spec", direction)):
            for number, peer in indexed_mappings(rule.get(side)):
                path = ("spec", direction, index, side, number, "ipBlock")
                block = nested_map(peer, "ipBlock")
                yield from cidr_warnings(block.get("cidr"), (*path, "cidr"), server)
                for place, value in indexed_items(block.get("except")):
                    yield from cidr_warnings(value, (*path, "except", place), server)


def ingress_warnings(manifest: Json, server: ApiServer) -> Problems:
    """Yield a warning if an annotation names the class of an Ingress."""
    annotation_map = nested_map(manifest, "metadata", "annotations")
    if (
        annotation_map.get(_INGRESS_CLASS) is not None
        and nested_value(manifest, "spec", "ingressClassName") is None
    ):
        text = (
            f"annotation \"{_INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName' "
            "instead"
        )
        path = ("metadata", "annotations", _INGRESS_CLASS)
        yield deprecated(path, text, "set spec.ingressClassName", field="")
