"""Ingress, IngressClass, NetworkPolicy, IPAddress and ServiceCIDR."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.dns import is_cidr, is_ip, is_mapped_ip, why_not_cidr
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.apiserver.validation.values import (
    PORT_MAX,
    PROTOCOLS,
    check_port_number,
    check_port_reference,
    service_name_rule,
    why_not_path_segment,
)
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import immutable, key_path, quote_value
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import as_strings

_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_ENDINGS = ("/..", "/.")
_CONTROLLER_MAX = 250


def check_ingress(ingress: FieldValue) -> None:
    """Check an Ingress, except its metadata."""
    spec = ingress["spec"]
    backend = spec["defaultBackend"]
    class_name = spec["ingressClassName"]
    if backend.value is None and not spec.get("rules"):
        why = "either `defaultBackend` or `rules` must be specified"
        spec.replaced(spec.mapping).invalid(why, "add a rule")
    if backend.is_mapping:
        _check_backend(backend)
    for rule in spec["rules"].objects():
        _check_rule(rule)
    for tls in spec["tls"].objects():
        for host in tls["hosts"].texts():
            _check_host(host)
        tls["secretName"].check_optional_text(names.why_not_dns_subdomain)

    class_name.check_text(names.why_not_dns_subdomain)

    annotation = ingress["metadata"]["annotations"][_CLASS_ANNOTATION]
    if class_name.value is not None and annotation.value:
        why = "can not be set when the class field is also set"
        annotation.invalid(why, "remove the annotation", key_path(annotation.path))


def _check_host(host: FieldValue) -> None:
    host.check_text(lambda text: names.why_not_dns_subdomain(text.removeprefix("*.")))


def _check_rule(rule: FieldValue) -> None:
    host = rule["host"]
    if host.is_text and host.value:
        if is_ip(host.value):
            host.invalid("must be a DNS name, not an IP address")
        else:
            _check_host(host)
    if not rule["http"].is_mapping:
        return

    paths = rule["http"]["paths"]
    if not paths.value:
        paths.required()
    for http_path in paths.objects():
        _check_path(http_path)
        _check_backend(http_path["backend"])


def _check_path(http_path: FieldValue) -> None:
    kind = http_path["pathType"]
    path = http_path["path"].or_default("")
    if kind.value is None:
        kind.required("pathType must be specified", "use Prefix, or Exact")
        return

    text = path.value
    if not kind.is_text or type(text) is not str:
        return

    kind.check_choice(_PATH_TYPES)
    strict = kind.value in ("Exact", "Prefix")
    if (strict or text) and not text.startswith("/"):
        path.invalid("must be an absolute path", f"write /{text}")
    elif strict:
        for part in _SEQUENCES:
            if part in text:
                path.invalid(f"must not contain '{part}'")
        for end in _ENDINGS:
            if text.endswith(end):
                path.invalid(f"cannot end with '{end}'")


def _check_backend(backend: FieldValue) -> None:
    service = backend["service"]
    resource = backend["resource"]
    if service.value is not None and resource.value is not None:
        backend.replaced("").invalid(
            "cannot set both resource and service backends", "keep one of the two"
        )
    elif resource.is_mapping:
        _check_object(resource)
    elif service.value is None:
        backend.required("resource or service backend is required", "name the service and its port")
    elif service.is_mapping:
        service["name"].check_required_text(service_name_rule(backend.server))
        _check_port(service["port"])


def _check_port(port: FieldValue) -> None:
    name = port["name"]
    number = port["number"]
    if name.value and number.value:
        port.replaced("").invalid("cannot set both port name & port number", "keep one of the two")
    elif name.is_text and name.value:
        name.check_text(names.why_not_port_name)
    elif number.value:
        check_port_number(number)
    else:
        port.required("port name or number is required")


def _check_object(reference: FieldValue) -> None:
    reference["apiGroup"].check_text(names.why_not_dns_subdomain)
    reference.require("kind", "name")


def check_ingress_class(ingress_class: FieldValue) -> None:
    """Check an IngressClass, except its metadata."""
    controller = ingress_class["spec"]["controller"].or_default("")
    parameters = ingress_class["spec"]["parameters"]
    if controller.is_text and len(controller.value) > _CONTROLLER_MAX:
        controller.too_long(_CONTROLLER_MAX)
    controller.check_text(names.why_not_domain_prefixed_path)
    if not parameters.is_mapping:
        return

    _check_object(parameters)
    scope = parameters["scope"].replaced(parameters.mapping.get("scope", "Cluster"))
    namespace = parameters["namespace"]
    scope.check_choice(("Cluster", "Namespace"))
    if scope.value == "Namespace":
        if not namespace.value:
            namespace.required("`parameters.scope` is set to 'Namespace'")
        else:
            namespace.check_text(names.why_not_dns_label)
    elif namespace.value is not None and scope.value == "Cluster":
        namespace.forbidden("`parameters.scope` is set to 'Cluster'")


def check_ip_address(address: FieldValue) -> None:
    """Check an IPAddress, except its metadata."""
    parent = address["spec"]["parentRef"]
    parent.check_set(help="name the Service that has the address")
    if not parent.is_mapping:
        return

    parent["group"].check_optional_text(names.why_not_dns_subdomain)
    for key in ("resource", "name"):
        parent[key].check_required_text(why_not_path_segment)
    parent["namespace"].check_optional_text(why_not_path_segment)


def check_service_cidr(service_cidr: FieldValue) -> None:
    """Check a ServiceCIDR, except its metadata."""
    field = service_cidr["spec"]["cidrs"]
    if field.value in (None, []):
        field.required("at least one CIDR required", "add a range, such as 10.0.0.0/16")
    if not field.is_list:
        return

    cidrs = ["" if item is None else item for item in field.value]
    if len(cidrs) > 2:
        field.invalid("may only hold up to 2 values", "keep one range of each IP family")
    elif not all(type(cidr) is str for cidr in cidrs):
        return
    elif len(cidrs) == 2 and all(map(is_cidr, cidrs)) and not is_dual_stack(cidrs):
        why = (
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
            "2001:db8::/64"
        )
        field.invalid(why, "keep one range of each IP family")
    else:
        for cidr in field.items(cidrs):
            cidr.check_text(_why_not_canonical_cidr)


def is_dual_stack(cidrs: list[str]) -> bool:
    """Return whether all texts are address ranges, and of both IP families
    (`IsDualStackCIDRStrings`).
    """
    return all(map(is_cidr, cidrs)) and len({_is_v6_range(cidr) for cidr in cidrs}) == 2


def _is_v6_range(cidr: str) -> bool:
    address, _, _ = cidr.partition("/")
    return ":" in address and not is_mapped_ip(address)


def _why_not_canonical_cidr(text: str) -> str | None:
    import ipaddress

    # this kind never accepted the looser form of a CIDR
    if why := why_not_cidr(text, ApiServer((1, 36))):
        return why
    canonical = str(ipaddress.ip_network(text))
    if canonical == text:
        return None
    return f'must be in canonical form ("{canonical}")'


def service_cidr_update(update: Update) -> Problems:
    """Yield a problem if a ServiceCIDR loses or changes a range; a second range may be added."""
    old, new = map(as_strings, update.values("spec", "cidrs"))
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        if before != after:
            yield immutable(("spec", "cidrs", index), after)
    if len(new) < len(old):
        yield immutable(("spec", "cidrs"))


_TYPES = ("Egress", "Ingress")


def check_network_policy(policy: FieldValue) -> None:
    """Check a NetworkPolicy, except its metadata."""
    spec = policy["spec"]
    spec["podSelector"].check(check_selector)
    for side, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec[side].objects():
            for port in rule["ports"].objects():
                _check_policy_port(port)
            for peer in rule[peers].objects():
                _check_peer(peer)

    kinds = spec["policyTypes"]
    if not kinds.is_list:
        return
    if len(kinds.value) > len(_TYPES):
        kinds.invalid("may not specify more than two policyTypes", "name each type once")
        return

    for kind in kinds.texts():
        kind.check_choice(_TYPES)


def _check_policy_port(port: FieldValue) -> None:
    number = port["port"]
    end = port["endPort"]
    port["protocol"].check_choice(PROTOCOLS)
    if number.value is not None:
        check_port_reference(number)
    if not end.is_integer:
        return

    if number.value is None:
        number.required("must be specified when `endPort` is specified")
    elif number.is_text:
        end.invalid("may not be specified when `port` is non-numeric", "use a port number")
    elif number.is_integer and end.value < number.value:
        end.invalid("must be greater than or equal to `port`")
    elif number.is_integer and end.value > PORT_MAX:
        end.invalid(f"must be between 1 and {PORT_MAX}")


def _check_peer(peer: FieldValue) -> None:
    selectors = peer.set_fields(("podSelector", "namespaceSelector"))
    block = peer["ipBlock"]
    if not selectors and block.value is None:
        peer.required("must specify a peer", "select pods, namespaces or an ipBlock")
    for selector in selectors:
        selector.check(check_selector)
    if block.value is not None:
        if selectors:
            peer.forbidden("may not specify both ipBlock and another peer", "split the peer in two")
        _check_block(block)


def _check_block(block: FieldValue) -> None:
    cidr = block["cidr"]
    help = "write it as 10.0.0.0/8"
    cidr.check_filled(help=help)
    if not cidr.is_text or cidr.is_empty:
        return
    if why := why_not_cidr(cidr.value, block.server):
        cidr.invalid(why, help)
        return

    network = _parse_network(cidr.value)
    for hole in block["except"].texts():
        if why := why_not_cidr(hole.value, block.server):
            hole.invalid(why)
            continue

        inner = _parse_network(hole.value)
        if (
            inner.version != network.version
            or inner.prefixlen <= network.prefixlen
            or inner[0] not in network
        ):
            hole.invalid(f"must be a strict subset of `cidr` {quote_value(cidr.value)}")


def _parse_network(text: str) -> Any:
    """Return an address range. The server accepts leading zeros, which Python's `ipaddress` does
    not.
    """
    import ipaddress

    address, _, bits = text.partition("/")
    if ":" not in address:
        address = ".".join(str(int(part)) for part in address.split("."))
    return ipaddress.ip_network(f"{address}/{int(bits)}", strict=False)
