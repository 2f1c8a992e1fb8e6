"""Service, and the Endpoints that people write for Services without selectors.

Source: docs/facts/api-server.md#services-and-configmaps 197 to 208, and `pkg/apis/core/validation`
for Endpoints, in its order and words, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.dns import is_cidr, why_not_ip, why_special_ip
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import check_labels, why_not_key
from ptcompile.apiserver.validation.values import PROTOCOLS, check_port_number, check_port_reference
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import forbidden_change, immutable
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import Json, as_list

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


def check_service(service: FieldValue) -> None:
    """Check a Service, except its metadata."""
    spec = service["spec"]
    if spec.value is not None and not spec.is_mapping:
        return

    kind = spec.get("type") or "ClusterIP"
    for name, allowed in _CHOICES.items():
        if spec.get(name) or name in _EMPTY_IS_INVALID:
            spec[name].check_choice(allowed)
    if spec.get("selector"):
        spec["selector"].check(check_labels)
    headless = "None" in (spec.get("clusterIP"), *as_list(spec.get("clusterIPs"))[:1])
    _check_ports(spec["ports"], kind, headless)
    _check_addresses(spec, kind, headless)
    _check_families(spec, kind, headless)
    # for any other affinity, the server drops the configuration
    if spec.get("sessionAffinity") == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        seconds.check_range(1, _AFFINITY_SECONDS_MAX)
    _check_only_external(spec, kind)


def _check_ports(ports: FieldValue, kind: str, headless: bool) -> None:
    if ports.value in (None, []):
        if not headless and kind != "ExternalName":
            ports.required(help="list the ports, or set clusterIP: None")
        return

    entries = list(ports.objects())
    seen_names: set[str] = set()
    seen_ports: set[tuple[Any, str]] = set()
    node_ports: set[tuple[Any, str]] = set()
    for port in entries:
        _check_port_name(port["name"], len(entries) > 1, seen_names)
        _check_port(port, kind)

        number = port.get("port")
        protocol = port.get("protocol") or "TCP"
        if type(number) is int and type(protocol) is str:
            if (number, protocol) in seen_ports:
                port.replaced(f"{protocol}/{number}").duplicate("keep one of the two")
            seen_ports.add((number, protocol))

        node = port["nodePort"]
        if node.value and node.is_integer and type(protocol) is str:
            if (node.value, protocol) in node_ports:
                node.duplicate()
            node_ports.add((node.value, protocol))


def _check_port_name(name: FieldValue, needed: bool, seen: set[str]) -> None:
    if not name.is_empty:
        name.check_name(names.why_not_dns_label, seen)
    elif needed:
        name.required(help="name each port if the Service has two or more")


def _check_port(port: FieldValue, kind: str) -> None:
    node = port["nodePort"]
    check_port_number(port["port"])
    port["protocol"].check_optional_choice(PROTOCOLS)
    # an absent targetPort is the port
    if port.get("targetPort"):
        check_port_reference(port["targetPort"])
    port["appProtocol"].check_text(why_not_key)
    if node.is_integer and node.value:
        low, high = _NODE_PORT_RANGE
        if kind == "ClusterIP":
            node.forbidden("may not be used when `type` is 'ClusterIP'")
        elif not low <= node.value <= high:
            node.invalid(
                f"provided port is not in the valid range. The range of valid ports is {low}-{high}"
            )


def _check_families(spec: FieldValue, kind: str, headless: bool) -> None:
    """Check `ipFamilies`: each family at most once, and two only with a dual-stack policy."""
    families = spec["ipFamilies"]
    if not families.is_list or kind == "ExternalName":
        return

    family_names = ["" if family is None else family for family in families.value]
    for index, family in enumerate(families.items(family_names)):
        family.check_choice(_FAMILIES)
        if family.is_text and family.value in _FAMILIES and family.value in family_names[:index]:
            family.duplicate()

    if len(family_names) > len(_FAMILIES):
        families.replaced(family_names).invalid("may only hold up to 2 values")
    is_selectorless = headless and not spec.get("selector")
    policy = spec["ipFamilyPolicy"].or_default(
        "RequireDualStack" if is_selectorless else "SingleStack"
    )
    if len(family_names) > 1 and policy.value == "SingleStack":
        why = (
            "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are "
            "specified"
        )
        policy.invalid(why, "set ipFamilyPolicy: PreferDualStack")


def _check_addresses(spec: FieldValue, kind: str, headless: bool) -> None:
    address = spec["clusterIP"]
    addresses = spec["clusterIPs"]
    if headless and kind in _EXTERNAL_TYPES:
        why = f"may not be set to 'None' for {kind} services"
        field = address if address.value else addresses
        field.replaced("None").invalid(
            why, "remove clusterIP, or use type: ClusterIP", "spec.clusterIPs[0]"
        )
    if kind == "ExternalName":
        _check_external_name(spec)
        return

    listed = as_list(addresses.value)
    if address.value and listed and listed[0] != address.value:
        addresses.invalid("first value must match `clusterIP`")
    elif not address.value and listed:
        addresses.invalid(
            "must be empty when `clusterIP` is not specified", "set clusterIP to the first of them"
        )

    for index, item in enumerate([address] if address.value else addresses.items(listed)):
        ip = item.value
        if (
            type(ip) is str
            and ip not in ("", "None")
            and (why := why_not_ip(ip, spec.server) or "")
        ):
            item.invalid(why, field=f"spec.clusterIPs[{index}]")

    for external in spec["externalIPs"].texts():
        _check_reachable_ip(external)


def _check_reachable_ip(ip: FieldValue) -> None:
    ip.check_text(lambda text: why_not_ip(text, ip.server) or why_special_ip(text))


def _check_external_name(spec: FieldValue) -> None:
    for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(key):
            spec[key].forbidden("may not be set for ExternalName services")
    spec["externalName"].check_required_text(
        lambda name: names.why_not_dns_subdomain(name.removesuffix("."))
    )


def _check_only_external(spec: FieldValue, kind: str) -> None:
    policy = spec["externalTrafficPolicy"]
    is_external = kind in _EXTERNAL_TYPES or bool(spec.get("externalIPs"))
    if policy.value:
        if is_external:
            policy.check_choice(("Cluster", "Local"))
        else:
            policy.invalid("may only be set for externally-accessible services", "remove it")

    health = spec["healthCheckNodePort"]
    if health.value and health.is_integer and (kind != "LoadBalancer" or policy.value != "Local"):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        health.invalid(why, "remove it")

    _check_load_balancer(spec, kind)


def _check_load_balancer(spec: FieldValue, kind: str) -> None:
    for source in spec["loadBalancerSourceRanges"].texts():
        if not is_cidr(source.value.strip()):
            source.invalid("must be a valid CIDR value", "write it as a range, such as 10.0.0.0/8")
    if kind == "LoadBalancer":
        spec["loadBalancerClass"].check_text(why_not_key)
        return

    why = "may only be used when `type` is 'LoadBalancer'"
    for name in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
        spec[name].check_unset(why)
    if spec.get("loadBalancerSourceRanges"):
        spec["loadBalancerSourceRanges"].forbidden(why)


def check_endpoints(endpoints: FieldValue) -> None:
    """Check Endpoints, except their metadata."""
    for subset in endpoints["subsets"].objects():
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            why = "must specify `addresses` or `notReadyAddresses`"
            subset.required(why, "add an address, or remove the subset")
        for key in ("addresses", "notReadyAddresses"):
            for address in subset[key].objects():
                _check_reachable_ip(address["ip"].or_default(""))
                address["hostname"].check_optional_text(names.why_not_dns_label)
                address["nodeName"].check_text(names.why_not_dns_subdomain)
        for port in subset["ports"].objects():
            _check_subset_port(port, len(subset.get("ports")) > 1)


def _check_subset_port(port: FieldValue, needs_name: bool) -> None:
    name = port["name"]
    if needs_name:
        name.check_filled(help="name each port if there are several")
    name.check_optional_text(names.why_not_dns_label)
    check_port_number(port["port"])
    port["protocol"].or_default("TCP").check_choice(PROTOCOLS)
    port["appProtocol"].check_text(why_not_key)


def service_update(update: Update) -> Problems:
    """Yield a problem if the first cluster IP changes, unless the Service becomes or was an
    ExternalName, or if the class or the health check of a load balancer does.
    """
    old, new = update.maps("spec")
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


def _first_cluster_ip(spec: Json) -> str | None:
    """Return the first requested cluster IP, or None if the server assigns it."""
    first = next(iter(as_list(spec.get("clusterIPs"))), None)
    return spec.get("clusterIP") or first or None
