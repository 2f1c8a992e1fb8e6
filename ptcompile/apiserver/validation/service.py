"""Service: creation and updates.

Source: docs/facts/api-server.md#services-and-configmaps 197 to 208, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.dns import is_cidr, why_not_ip
from ptcompile.apiserver.validation.field_errors import immutable
from ptcompile.apiserver.validation.metadata import check_labels, why_not_key
from ptcompile.apiserver.validation.values import PROTOCOLS, check_port_number, check_port_reference
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.registry.model import Update


_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_EXTERNAL: Final = ("LoadBalancer", "NodePort")
_NODE_PORTS: Final = (30000, 32767)
"""The range that nodePort is taken from unless the cluster was set up with another."""
_AFFINITY_SECONDS: Final = 86400
_CHOICES: Final = {
    "type": _TYPES,
    "sessionAffinity": ("ClientIP", "None"),
    "internalTrafficPolicy": ("Cluster", "Local"),
    "ipFamilyPolicy": ("PreferDualStack", "RequireDualStack", "SingleStack"),
    "trafficDistribution": ("PreferClose", "PreferSameNode", "PreferSameZone"),
}


_POINTERS: Final = ("internalTrafficPolicy", "ipFamilyPolicy", "trafficDistribution")
"""Of these an empty text is a choice, and a wrong one."""
_FAMILIES: Final = ("IPv4", "IPv6")


def why_not_service_name(name: str, context: ApiServer) -> str | None:
    """Why a Service may not have a name. Until 1.35 it had to begin with a letter."""
    return names.why_not_dns_label(name) if context.at_least(36) else names.why_not_dns_1035_label(name)


def check_service(manifest: Any, context: ApiServer, found: f.Problems) -> None:
    """A Service without its metadata."""
    spec, path = manifest.get("spec"), ("spec",)
    spec = {} if spec is None else spec
    if type(spec) is not dict:
        return
    kind = spec.get("type") or "ClusterIP"
    for name, allowed in _CHOICES.items():
        if spec.get(name) or (name in _POINTERS and spec.get(name) is not None):
            f.check_choice(found, (*path, name), spec[name], allowed)
    if spec.get("selector"):
        check_labels(spec["selector"], (*path, "selector"), found)
    headless = _is_headless(spec)
    _check_ports(spec, path, kind, headless, found)
    _check_addresses(spec, path, kind, headless, context, found)
    _check_families(spec, path, kind, headless, found)
    _check_affinity(spec, path, found)
    _check_only_external(spec, path, kind, found)


def _is_headless(spec: dict[str, Any]) -> bool:
    many = spec.get("clusterIPs")
    return spec.get("clusterIP") == "None" or (type(many) is list and many[:1] == ["None"])


def _check_ports(spec: dict[str, Any], path: Path, kind: str, headless: bool, found: f.Problems) -> None:
    ports, here = spec.get("ports"), (*path, "ports")
    if ports is None or ports == []:
        if not headless and kind != "ExternalName":
            f.required(found, here, help="list the ports, or set clusterIP: None")
        return
    entries = list(f.indexed_mappings(ports))
    seen: set[str] = set()
    pairs: set[tuple[Any, str]] = set()
    nodes: set[tuple[Any, str]] = set()
    for index, port in entries:
        at = (*here, index)
        _check_port_name(port.get("name"), at, len(entries) > 1, seen, found)
        _check_port(port, at, kind, found)
        number, protocol, node = port.get("port"), port.get("protocol") or "TCP", port.get("nodePort")
        if type(number) is int and type(protocol) is str:
            if (number, protocol) in pairs:
                f.duplicate(found, at, f"{protocol}/{number}", "keep one: a Service has each port once")
            pairs.add((number, protocol))
        if node and type(node) is int and type(protocol) is str:
            if (node, protocol) in nodes:
                f.duplicate(found, (*at, "nodePort"), node)
            nodes.add((node, protocol))


def _check_port_name(name: Any, path: Path, needed: bool, seen: set[str], found: f.Problems) -> None:
    if f.is_empty(name):
        if needed:
            f.required(found, (*path, "name"), help="name each port where there are two or more")
    elif type(name) is str:
        if why := names.why_not_dns_label(name):
            f.invalid(found, (*path, "name"), name, why)
        elif name in seen:
            f.duplicate(found, (*path, "name"), name)
        seen.add(name)


def _check_port(port: dict[str, Any], path: Path, kind: str, found: f.Problems) -> None:
    number, target, node = port.get("port"), port.get("targetPort"), port.get("nodePort")
    check_port_number(found, (*path, "port"), 0 if number is None else number)
    if port.get("protocol"):
        f.check_choice(found, (*path, "protocol"), port["protocol"], PROTOCOLS)
    if target:  # otherwise it is the port
        check_port_reference(found, (*path, "targetPort"), target)
    protocol = port.get("appProtocol")
    if type(protocol) is str and (why := why_not_key(protocol)):
        f.invalid(found, (*path, "appProtocol"), protocol, why)
    if type(node) is int and node:
        low, high = _NODE_PORTS
        if kind == "ClusterIP":
            f.forbidden(found, (*path, "nodePort"), "may not be used when `type` is 'ClusterIP'")
        elif not low <= node <= high:
            why = f"provided port is not in the valid range. The range of valid ports is {low}-{high}"
            f.invalid(found, (*path, "nodePort"), node, why)


def _check_families(spec: dict[str, Any], path: Path, kind: str, headless: bool, found: f.Problems) -> None:
    """`ipFamilies`: at most one of each, and two only where the policy wants two."""
    families, here = spec.get("ipFamilies"), (*path, "ipFamilies")
    if type(families) is not list or kind == "ExternalName":
        return
    named = ["" if family is None else family for family in families]
    for index, family in enumerate(named):
        f.check_choice(found, (*here, index), family, _FAMILIES)
        if type(family) is str and family in _FAMILIES and family in named[:index]:
            f.duplicate(found, (*here, index), family)
    if len(named) > len(_FAMILIES):
        f.invalid(found, here, named, "may only hold up to 2 values")
    free = headless and not spec.get("selector")
    policy = spec.get("ipFamilyPolicy") or ("RequireDualStack" if free else "SingleStack")
    if len(named) > 1 and policy == "SingleStack":
        why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"
        f.invalid(found, (*path, "ipFamilyPolicy"), policy, why, "set ipFamilyPolicy: PreferDualStack")


def _why_not_outside(ip: str) -> str | None:
    """Why an address of `externalIPs` cannot be one that others reach."""
    import ipaddress

    address = ipaddress.ip_address(".".join(str(int(part)) for part in ip.split(".")) if ":" not in ip else ip)
    if address.is_unspecified:
        return f"may not be unspecified ({ip})"
    if address.is_loopback:
        return "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    if address.is_link_local:
        return "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
    if ip.startswith("224.0.0.") or ip.lower().startswith("ff02:"):
        return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
    return None


def _check_addresses(
    spec: dict[str, Any], path: Path, kind: str, headless: bool, context: ApiServer, found: f.Problems
) -> None:
    one, many = spec.get("clusterIP"), spec.get("clusterIPs")
    key = "clusterIP" if one else "clusterIPs"
    if headless and kind in _EXTERNAL:
        why = f"may not be set to 'None' for {kind} services"
        f.invalid(found, (*path, key), "None", why, "remove clusterIP, or use type: ClusterIP", "spec.clusterIPs[0]")
    if kind == "ExternalName":
        _check_external_name(spec, path, found)
        return
    if one and type(many) is list and many and many[0] != one:
        f.invalid(found, (*path, "clusterIPs"), many, "first value must match `clusterIP`")
    elif not one and type(many) is list and many:
        why = "must be empty when `clusterIP` is not specified"
        f.invalid(found, (*path, "clusterIPs"), many, why, "set clusterIP to the first of them")
    for index, ip in enumerate([one] if one else many if type(many) is list else []):
        if type(ip) is str and ip not in ("", "None") and (why := why_not_ip(ip, context) or ""):
            here = (*path, "clusterIP") if one else (*path, "clusterIPs", index)
            f.invalid(found, here, ip, why, at=f"spec.clusterIPs[{index}]")
    outside = spec.get("externalIPs")
    for index, ip in enumerate(outside if type(outside) is list else ()):
        if type(ip) is str and (why := why_not_ip(ip, context) or _why_not_outside(ip) or ""):
            f.invalid(found, (*path, "externalIPs", index), ip, why)


def _check_external_name(spec: dict[str, Any], path: Path, found: f.Problems) -> None:
    for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name):
            f.forbidden(found, (*path, name), "may not be set for ExternalName services")
    value, here = spec.get("externalName"), (*path, "externalName")
    if f.is_empty(value):
        f.required(found, here)
    elif type(value) is str and (why := names.why_not_dns_subdomain(value.removesuffix("."))):
        f.invalid(found, here, value, why)


def _check_affinity(spec: dict[str, Any], path: Path, found: f.Problems) -> None:
    config, here = spec.get("sessionAffinityConfig"), (*path, "sessionAffinityConfig")
    if spec.get("sessionAffinity") != "ClientIP":
        if config is not None and spec.get("sessionAffinity") == "None":
            f.forbidden(found, here, "must not be set when sessionAffinity is None")
        return  # left out, the server makes it None, and drops the configuration
    client = f.as_field_mapping(f.as_field_mapping(config).get("clientIP"))
    f.check_range(found, (*here, "clientIP", "timeoutSeconds"), client.get("timeoutSeconds"), 1, _AFFINITY_SECONDS)


def _check_only_external(spec: dict[str, Any], path: Path, kind: str, found: f.Problems) -> None:
    policy = spec.get("externalTrafficPolicy")
    outside = kind in _EXTERNAL or bool(spec.get("externalIPs"))
    if policy:
        if outside:
            f.check_choice(found, (*path, "externalTrafficPolicy"), policy, ("Cluster", "Local"))
        else:
            why = "may only be set for externally-accessible services"
            f.invalid(found, (*path, "externalTrafficPolicy"), policy, why, "remove it")
    health = spec.get("healthCheckNodePort")
    if health and type(health) is int and (kind != "LoadBalancer" or policy != "Local"):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        f.invalid(found, (*path, "healthCheckNodePort"), health, why, "remove it")
    ranges = spec.get("loadBalancerSourceRanges")
    for index, text in enumerate(ranges if type(ranges) is list else ()):
        if type(text) is str and not is_cidr(text.strip()):
            here = (*path, "loadBalancerSourceRanges", index)
            f.invalid(found, here, text, "must be a valid CIDR value", "write it as 10.0.0.0/8")
    if kind != "LoadBalancer":
        for name in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if spec.get(name) is not None:
                f.forbidden(found, (*path, name), "may only be used when `type` is 'LoadBalancer'")
        if spec.get("loadBalancerSourceRanges"):
            f.forbidden(found, (*path, "loadBalancerSourceRanges"), "may only be used when `type` is 'LoadBalancer'")


def service_update(update: Update) -> Iterator[Problem]:
    """A Service: its first address stays what it is, None among them, unless the Service becomes an ExternalName."""
    old, new = (_spec(one) for one in (update.old, update.new))
    if "ExternalName" in (old.get("type"), new.get("type")):
        return
    before, after = _address(old), _address(new)
    if before == after or after is None or (before is None and after != "None"):
        return
    help = "delete the Service and apply again: an address is assigned once"
    yield immutable(("spec", "clusterIP"), after, help, "may not change once set")


def _spec(manifest: Any) -> dict[str, Any]:
    spec = manifest.get("spec")
    return spec if isinstance(spec, dict) else {}


def _address(spec: dict[str, Any]) -> str | None:
    """The first address that is asked for; None where the server gives one."""
    many = spec.get("clusterIPs")
    first = many[0] if isinstance(many, list) and many else None
    return spec.get("clusterIP") or first or None
