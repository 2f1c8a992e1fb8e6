"""Service, and the Endpoints that people write for Services without selectors.

Source: docs/facts/api-server.md#services-and-configmaps 197 to 208, and `pkg/apis/core/validation` for Endpoints, in
its order and words, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.dns import is_cidr, why_not_ip, why_special_ip
from ptcompile.apiserver.validation.metadata import check_labels, why_not_key
from ptcompile.apiserver.validation.values import PROTOCOLS, check_port_number, check_port_reference
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import (
    FieldErrors,
    forbidden_change,
    immutable,
    indexed_mappings,
    indexed_texts,
    is_empty,
)
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import Json, as_mapping

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_EXTERNAL_TYPES = ("LoadBalancer", "NodePort")
_NODE_PORT_RANGE = (30000, 32767)
"""Default range of nodePort; a cluster may be configured with another."""
_AFFINITY_SECONDS_MAX = 86400
_CHOICES = {
    "type": _TYPES,
    "sessionAffinity": ("ClientIP", "None"),
    "internalTrafficPolicy": ("Cluster", "Local"),
    "ipFamilyPolicy": ("PreferDualStack", "RequireDualStack", "SingleStack"),
    "trafficDistribution": ("PreferClose", "PreferSameNode", "PreferSameZone"),
}


_EMPTY_IS_INVALID = ("internalTrafficPolicy", "ipFamilyPolicy", "trafficDistribution")
"""Fields in which an empty text counts as an invalid choice, not as unset."""
_FAMILIES = ("IPv4", "IPv6")


def check_service(manifest: Any, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Service, except its metadata."""
    spec = manifest.get("spec")
    path = ("spec",)
    spec = {} if spec is None else spec
    if type(spec) is not dict:
        return
    kind = spec.get("type") or "ClusterIP"
    for name, allowed in _CHOICES.items():
        if spec.get(name) or (name in _EMPTY_IS_INVALID and spec.get(name) is not None):
            problems.check_choice((*path, name), spec[name], allowed)
    if spec.get("selector"):
        check_labels(spec["selector"], (*path, "selector"), problems)
    headless = _is_headless(spec)
    _check_ports(spec, path, kind, headless, problems)
    _check_addresses(spec, path, kind, headless, context, problems)
    _check_families(spec, path, kind, headless, problems)
    _check_affinity(spec, path, problems)
    _check_only_external(spec, path, kind, problems)


def _is_headless(spec: Json) -> bool:
    cluster_ips = spec.get("clusterIPs")
    return spec.get("clusterIP") == "None" or (type(cluster_ips) is list and cluster_ips[:1] == ["None"])


def _check_ports(spec: Json, path: Path, kind: str, headless: bool, problems: FieldErrors) -> None:
    ports = spec.get("ports")
    ports_path = (*path, "ports")
    if ports is None or ports == []:
        if not headless and kind != "ExternalName":
            problems.required(ports_path, help="list the ports, or set clusterIP: None")
        return
    entries = list(indexed_mappings(ports))
    seen_names: set[str] = set()
    seen_ports: set[tuple[Any, str]] = set()
    node_ports: set[tuple[Any, str]] = set()
    for index, port in entries:
        port_path = (*ports_path, index)
        _check_port_name(port.get("name"), port_path, len(entries) > 1, seen_names, problems)
        _check_port(port, port_path, kind, problems)
        number = port.get("port")
        protocol = port.get("protocol") or "TCP"
        node = port.get("nodePort")
        if type(number) is int and type(protocol) is str:
            if (number, protocol) in seen_ports:
                problems.duplicate(port_path, f"{protocol}/{number}", "keep one of the two")
            seen_ports.add((number, protocol))
        if node and type(node) is int and type(protocol) is str:
            if (node, protocol) in node_ports:
                problems.duplicate((*port_path, "nodePort"), node)
            node_ports.add((node, protocol))


def _check_port_name(name: Any, path: Path, needed: bool, seen: set[str], problems: FieldErrors) -> None:
    if is_empty(name):
        if needed:
            problems.required((*path, "name"), help="name each port if the Service has two or more")
    elif type(name) is str:
        if why := names.why_not_dns_label(name):
            problems.invalid((*path, "name"), name, why)
        elif name in seen:
            problems.duplicate((*path, "name"), name)
        seen.add(name)


def _check_port(port: Json, path: Path, kind: str, problems: FieldErrors) -> None:
    number = port.get("port")
    target = port.get("targetPort")
    node = port.get("nodePort")
    check_port_number(problems, (*path, "port"), 0 if number is None else number)
    if port.get("protocol"):
        problems.check_choice((*path, "protocol"), port["protocol"], PROTOCOLS)
    if target:  # an absent targetPort is the port
        check_port_reference(problems, (*path, "targetPort"), target)
    problems.check_text((*path, "appProtocol"), port.get("appProtocol"), why_not_key)
    if type(node) is int and node:
        low, high = _NODE_PORT_RANGE
        if kind == "ClusterIP":
            problems.forbidden((*path, "nodePort"), "may not be used when `type` is 'ClusterIP'")
        elif not low <= node <= high:
            why = f"provided port is not in the valid range. The range of valid ports is {low}-{high}"
            problems.invalid((*path, "nodePort"), node, why)


def _check_families(spec: Json, path: Path, kind: str, headless: bool, problems: FieldErrors) -> None:
    """Check `ipFamilies`: each family at most once, and two only with a dual-stack policy."""
    families = spec.get("ipFamilies")
    ip_families_path = (*path, "ipFamilies")
    if type(families) is not list or kind == "ExternalName":
        return
    family_names = ["" if family is None else family for family in families]
    for index, family in enumerate(family_names):
        problems.check_choice((*ip_families_path, index), family, _FAMILIES)
        if type(family) is str and family in _FAMILIES and family in family_names[:index]:
            problems.duplicate((*ip_families_path, index), family)
    if len(family_names) > len(_FAMILIES):
        problems.invalid(ip_families_path, family_names, "may only hold up to 2 values")
    is_selectorless = headless and not spec.get("selector")
    policy = spec.get("ipFamilyPolicy") or ("RequireDualStack" if is_selectorless else "SingleStack")
    if len(family_names) > 1 and policy == "SingleStack":
        why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"
        problems.invalid((*path, "ipFamilyPolicy"), policy, why, "set ipFamilyPolicy: PreferDualStack")


def _check_addresses(
    spec: Json, path: Path, kind: str, headless: bool, context: ApiServer, problems: FieldErrors
) -> None:
    cluster_ip = spec.get("clusterIP")
    cluster_ips = spec.get("clusterIPs")
    key = "clusterIP" if cluster_ip else "clusterIPs"
    if headless and kind in _EXTERNAL_TYPES:
        why = f"may not be set to 'None' for {kind} services"
        problems.invalid((*path, key), "None", why, "remove clusterIP, or use type: ClusterIP", "spec.clusterIPs[0]")
    if kind == "ExternalName":
        _check_external_name(spec, path, problems)
        return
    if cluster_ip and type(cluster_ips) is list and cluster_ips and cluster_ips[0] != cluster_ip:
        problems.invalid((*path, "clusterIPs"), cluster_ips, "first value must match `clusterIP`")
    elif not cluster_ip and type(cluster_ips) is list and cluster_ips:
        why = "must be empty when `clusterIP` is not specified"
        problems.invalid((*path, "clusterIPs"), cluster_ips, why, "set clusterIP to the first of them")
    addresses = cluster_ips if type(cluster_ips) is list else []
    if cluster_ip:
        addresses = [cluster_ip]
    for index, ip in enumerate(addresses):
        if type(ip) is str and ip not in ("", "None") and (why := why_not_ip(ip, context) or ""):
            address_path = (*path, "clusterIP") if cluster_ip else (*path, "clusterIPs", index)
            problems.invalid(address_path, ip, why, field=f"spec.clusterIPs[{index}]")
    for index, ip in indexed_texts(spec.get("externalIPs")):
        if why_not := why_not_ip(ip, context) or why_special_ip(ip):
            problems.invalid((*path, "externalIPs", index), ip, why_not)


def _check_external_name(spec: Json, path: Path, problems: FieldErrors) -> None:
    for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name):
            problems.forbidden((*path, name), "may not be set for ExternalName services")
    value = spec.get("externalName")
    external_name_path = (*path, "externalName")
    if is_empty(value):
        problems.required(external_name_path)
    elif type(value) is str and (why := names.why_not_dns_subdomain(value.removesuffix("."))):
        problems.invalid(external_name_path, value, why)


def _check_affinity(spec: Json, path: Path, problems: FieldErrors) -> None:
    config = spec.get("sessionAffinityConfig")
    config_path = (*path, "sessionAffinityConfig")
    if spec.get("sessionAffinity") != "ClientIP":  # the server drops the configuration
        return
    client = as_mapping(as_mapping(config).get("clientIP"))
    problems.check_range(
        (*config_path, "clientIP", "timeoutSeconds"), client.get("timeoutSeconds"), 1, _AFFINITY_SECONDS_MAX
    )


def _check_only_external(spec: Json, path: Path, kind: str, problems: FieldErrors) -> None:
    policy = spec.get("externalTrafficPolicy")
    is_external = kind in _EXTERNAL_TYPES or bool(spec.get("externalIPs"))
    if policy:
        if is_external:
            problems.check_choice((*path, "externalTrafficPolicy"), policy, ("Cluster", "Local"))
        else:
            why = "may only be set for externally-accessible services"
            problems.invalid((*path, "externalTrafficPolicy"), policy, why, "remove it")
    health = spec.get("healthCheckNodePort")
    if health and type(health) is int and (kind != "LoadBalancer" or policy != "Local"):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        problems.invalid((*path, "healthCheckNodePort"), health, why, "remove it")
    _check_load_balancer(spec, path, kind, problems)


def _check_load_balancer(spec: Json, path: Path, kind: str, problems: FieldErrors) -> None:
    for index, text in indexed_texts(spec.get("loadBalancerSourceRanges")):
        if not is_cidr(text.strip()):
            range_path = (*path, "loadBalancerSourceRanges", index)
            problems.invalid(range_path, text, "must be a valid CIDR value", "write it as a range, such as 10.0.0.0/8")
    if kind != "LoadBalancer":
        for name in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if spec.get(name) is not None:
                problems.forbidden((*path, name), "may only be used when `type` is 'LoadBalancer'")
        if spec.get("loadBalancerSourceRanges"):
            problems.forbidden((*path, "loadBalancerSourceRanges"), "may only be used when `type` is 'LoadBalancer'")
    else:
        problems.check_text((*path, "loadBalancerClass"), spec.get("loadBalancerClass"), why_not_key)


def check_endpoints(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check Endpoints, except their metadata."""
    for index, subset in indexed_mappings(manifest.get("subsets")):
        path = ("subsets", index)
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            why = "must specify `addresses` or `notReadyAddresses`"
            problems.required(path, why, "add an address, or remove the subset")
        for key in ("addresses", "notReadyAddresses"):
            for number, address in indexed_mappings(subset.get(key)):
                _check_endpoint(address, (*path, key, number), context, problems)
        ports = subset.get("ports")
        for number, port in indexed_mappings(ports):
            _check_subset_port(port, len(ports or ()) > 1, (*path, "ports", number), problems)


def _check_endpoint(address: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    ip = address.get("ip") or ""
    if type(ip) is str and (why := why_not_ip(ip, context) or why_special_ip(ip)):
        problems.invalid((*path, "ip"), ip, why)
    problems.check_optional_text((*path, "hostname"), address.get("hostname"), names.why_not_dns_label)
    problems.check_text((*path, "nodeName"), address.get("nodeName"), names.why_not_dns_subdomain)


def _check_subset_port(port: Json, needs_name: bool, path: Path, problems: FieldErrors) -> None:
    name = port.get("name")
    number = port.get("port")
    protocol = port.get("protocol") or "TCP"
    if needs_name and is_empty(name):
        problems.required((*path, "name"), help="name each port if there are several")
    else:
        problems.check_optional_text((*path, "name"), name, names.why_not_dns_label)
    check_port_number(problems, (*path, "port"), 0 if number is None else number)
    problems.check_choice((*path, "protocol"), protocol, PROTOCOLS)
    problems.check_text((*path, "appProtocol"), port.get("appProtocol"), why_not_key)


def service_update(update: Update) -> Problems:
    """Yield a problem if the first cluster IP changes, unless the Service becomes or was an ExternalName, or if the
    class or the health check of a load balancer does.
    """
    old, new = (_spec_of(manifest) for manifest in (update.old, update.new))
    yield from _load_balancer_update(old, new)
    if "ExternalName" in (old.get("type"), new.get("type")):
        return
    before = _first_cluster_ip(old)
    after = _first_cluster_ip(new)
    if before == after or after is None or (before is None and after != "None"):
        return
    help = "delete the Service and apply again: a Service keeps its address"
    yield immutable(("spec", "clusterIP"), after, help, "may not change once set")


def _load_balancer_update(old: Json, new: Json) -> Problems:
    if any(spec.get("type") != "LoadBalancer" for spec in (old, new)):
        return
    name = new.get("loadBalancerClass")
    if old.get("loadBalancerClass") != name:
        yield immutable(("spec", "loadBalancerClass"), name, why="may not change once set")
    port = new.get("healthCheckNodePort")
    has_port = all(spec.get("externalTrafficPolicy") == "Local" for spec in (old, new))
    if has_port and port and port != old.get("healthCheckNodePort"):
        help = "remove it: the Service has a port already"
        yield forbidden_change(("spec", "healthCheckNodePort"), "field is immutable", help)


def _spec_of(manifest: Any) -> Json:
    spec = manifest.get("spec")
    return spec if isinstance(spec, dict) else {}


def _first_cluster_ip(spec: Json) -> str | None:
    """Return the first requested cluster IP, or None if the server assigns it."""
    cluster_ips = spec.get("clusterIPs")
    first = cluster_ips[0] if isinstance(cluster_ips, list) and cluster_ips else None
    return spec.get("clusterIP") or first or None
