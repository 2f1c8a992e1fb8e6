"""Ingress, IngressClass, NetworkPolicy, IPAddress and ServiceCIDR."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.dns import is_cidr, is_ip, is_mapped_ip, why_not_cidr
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.apiserver.validation.values import (
    PORT_MAX,
    PROTOCOLS,
    check_port_number,
    check_port_reference,
    service_name_rule,
    why_not_path_segment,
)
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import (
    FieldErrors,
    immutable,
    indexed_mappings,
    indexed_texts,
    is_empty,
    key_path,
    quote_value,
)
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings, nested_map

_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_ENDINGS = ("/..", "/.")
_CONTROLLER_MAX = 250


def check_ingress(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check an Ingress, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    backend = spec.get("defaultBackend")
    rules = spec.get("rules")
    name = spec.get("ingressClassName")
    if backend is None and not rules:
        problems.invalid(path, spec, "either `defaultBackend` or `rules` must be specified", "add a rule")
    if type(backend) is dict:
        _check_backend(backend, (*path, "defaultBackend"), context, problems)
    for index, rule in indexed_mappings(rules):
        _check_rule(rule, (*path, "rules", index), context, problems)
    for index, tls in indexed_mappings(spec.get("tls")):
        for host_index, host in indexed_texts(tls.get("hosts")):
            _check_host(host, (*path, "tls", index, "hosts", host_index), problems)
        secret_path = (*path, "tls", index, "secretName")
        problems.check_optional_text(secret_path, tls.get("secretName"), names.why_not_dns_subdomain)
    problems.check_text((*path, "ingressClassName"), name, names.why_not_dns_subdomain)
    object_annotations = nested_map(manifest, "metadata", "annotations")
    if name is not None and object_annotations.get(_CLASS_ANNOTATION):
        annotation_path = ("metadata", "annotations", _CLASS_ANNOTATION)
        why = "can not be set when the class field is also set"
        problems.invalid(
            annotation_path,
            object_annotations[_CLASS_ANNOTATION],
            why,
            "remove the annotation",
            key_path(annotation_path),
        )


def _check_host(host: str, path: Path, problems: FieldErrors) -> None:
    why = names.why_not_dns_subdomain(host.removeprefix("*."))
    if why:
        problems.invalid(path, host, why)


def _check_rule(rule: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    host = rule.get("host")
    if type(host) is str and host:
        if is_ip(host):
            problems.invalid((*path, "host"), host, "must be a DNS name, not an IP address")
        else:
            _check_host(host, (*path, "host"), problems)
    http = rule.get("http")
    if type(http) is not dict:
        return
    if not http.get("paths"):
        problems.required((*path, "http", "paths"))
    for index, http_path in indexed_mappings(http.get("paths")):
        _check_path(http_path, (*path, "http", "paths", index), problems)
        _check_backend(nested_map(http_path, "backend"), (*path, "http", "paths", index, "backend"), context, problems)


def _check_path(http_path: Json, path: Path, problems: FieldErrors) -> None:
    kind = http_path.get("pathType")
    text = http_path.get("path") or ""
    if kind is None:
        problems.required((*path, "pathType"), "pathType must be specified", "use Prefix, or Exact")
        return
    if type(kind) is not str or type(text) is not str:
        return
    problems.check_choice((*path, "pathType"), kind, _PATH_TYPES)
    strict = kind in ("Exact", "Prefix")
    if (strict or text) and not text.startswith("/"):
        problems.invalid((*path, "path"), text, "must be an absolute path", f"write /{text}")
    elif strict:
        for part in _SEQUENCES:
            if part in text:
                problems.invalid((*path, "path"), text, f"must not contain '{part}'")
        for end in _ENDINGS:
            if text.endswith(end):
                problems.invalid((*path, "path"), text, f"cannot end with '{end}'")


def _check_backend(backend: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    service = backend.get("service")
    resource = backend.get("resource")
    if service is not None and resource is not None:
        problems.invalid(path, "", "cannot set both resource and service backends", "keep one of the two")
    elif type(resource) is dict:
        _check_object(resource, (*path, "resource"), problems)
    elif service is None:
        problems.required(path, "resource or service backend is required", "name the service and its port")
    elif type(service) is dict:
        name_path = (*path, "service", "name")
        problems.check_required_text(name_path, service.get("name"), service_name_rule(context))
        _check_port(nested_map(service, "port"), (*path, "service", "port"), problems)


def _check_port(port: Json, path: Path, problems: FieldErrors) -> None:
    name = port.get("name")
    number = port.get("number")
    if name and number:
        problems.invalid(path, "", "cannot set both port name & port number", "keep one of the two")
    elif type(name) is str and name:
        problems.check_text((*path, "name"), name, names.why_not_port_name)
    elif number:
        check_port_number(problems, (*path, "number"), number)
    else:
        problems.required(path, "port name or number is required")


def _check_object(reference: Json, path: Path, problems: FieldErrors) -> None:
    problems.check_text((*path, "apiGroup"), reference.get("apiGroup"), names.why_not_dns_subdomain)
    problems.check_required(reference, path, "kind", "name")


def check_ingress_class(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check an IngressClass, except its metadata."""
    spec = nested_map(manifest, "spec")
    controller = spec.get("controller") or ""
    parameters = spec.get("parameters")
    controller_path = ("spec", "controller")
    if type(controller) is str and len(controller) > _CONTROLLER_MAX:
        problems.too_long(controller_path, _CONTROLLER_MAX)
    problems.check_text(controller_path, controller, names.why_not_domain_prefixed_path)
    if type(parameters) is not dict:
        return
    path = ("spec", "parameters")
    _check_object(parameters, path, problems)
    scope = parameters.get("scope", "Cluster")
    namespace = parameters.get("namespace")
    problems.check_choice((*path, "scope"), scope, ("Cluster", "Namespace"))
    if scope == "Namespace":
        if not namespace:
            problems.required((*path, "namespace"), "`parameters.scope` is set to 'Namespace'")
        else:
            problems.check_text((*path, "namespace"), namespace, names.why_not_dns_label)
    elif namespace is not None and scope == "Cluster":
        problems.forbidden((*path, "namespace"), "`parameters.scope` is set to 'Cluster'")


def check_ip_address(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check an IPAddress, except its metadata."""
    path = ("spec", "parentRef")
    parent = nested_map(manifest, "spec").get("parentRef")
    if parent is None:
        problems.required(path, help="name the Service that has the address")
    if type(parent) is not dict:
        return
    problems.check_optional_text((*path, "group"), parent.get("group"), names.why_not_dns_subdomain)
    for key in ("resource", "name"):
        problems.check_required_text((*path, key), parent.get(key), why_not_path_segment)
    problems.check_optional_text((*path, "namespace"), parent.get("namespace"), why_not_path_segment)


def check_service_cidr(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ServiceCIDR, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec", "cidrs")
    value = spec.get("cidrs")
    if value is None or value == []:
        problems.required(path, "at least one CIDR required", "add a range, such as 10.0.0.0/16")
    if type(value) is not list:
        return
    cidrs = ["" if item is None else item for item in value]
    if len(cidrs) > 2:
        problems.invalid(path, value, "may only hold up to 2 values", "keep one range of each IP family")
    elif not all(type(cidr) is str for cidr in cidrs):
        return
    elif len(cidrs) == 2 and all(map(is_cidr, cidrs)) and not is_dual_stack(cidrs):
        why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        problems.invalid(path, value, why, "keep one range of each IP family")
    else:
        for index, cidr in enumerate(cidrs):
            problems.check_text((*path, index), cidr, _why_not_canonical_cidr)


def is_dual_stack(cidrs: list[str]) -> bool:
    """Return whether all texts are address ranges, and of both IP families (`IsDualStackCIDRStrings`)."""
    return all(map(is_cidr, cidrs)) and len({_is_v6_range(cidr) for cidr in cidrs}) == 2


def _is_v6_range(cidr: str) -> bool:
    address = cidr.partition("/")[0]
    return ":" in address and not is_mapped_ip(address)


def _why_not_canonical_cidr(text: str) -> str | None:
    import ipaddress

    if why := why_not_cidr(text, ApiServer((1, 36))):  # this kind never had the looser form
        return why
    canonical = str(ipaddress.ip_network(text))
    return None if canonical == text else f'must be in canonical form ("{canonical}")'


def service_cidr_update(update: Update) -> Problems:
    """Yield a problem if a ServiceCIDR loses or changes a range; a second range may be added."""
    old, new = (as_strings(nested_map(item, "spec").get("cidrs")) for item in (update.old, update.new))
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        if before != after:
            yield immutable(("spec", "cidrs", index), after)
    if len(new) < len(old):
        yield immutable(("spec", "cidrs"))


_TYPES = ("Egress", "Ingress")


def check_network_policy(manifest: Any, context: ApiServer, problems: FieldErrors) -> None:
    """Check a NetworkPolicy, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    check_selector(spec.get("podSelector"), (*path, "podSelector"), problems)
    for side, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in indexed_mappings(spec.get(side)):
            rule_path = (*path, side, index)
            for entry_index, port in indexed_mappings(rule.get("ports")):
                _check_policy_port(port, (*rule_path, "ports", entry_index), problems)
            for entry_index, peer in indexed_mappings(rule.get(peers)):
                _check_peer(peer, (*rule_path, peers, entry_index), context, problems)
    kinds = spec.get("policyTypes")
    if type(kinds) is list:
        if len(kinds) > len(_TYPES):
            why = "may not specify more than two policyTypes"
            problems.invalid((*path, "policyTypes"), kinds, why, "name each type once")
            return
        for index, kind in enumerate(kinds):
            problems.check_choice((*path, "policyTypes", index), "" if kind is None else kind, _TYPES)


def _check_policy_port(port: Json, path: Path, problems: FieldErrors) -> None:
    number = port.get("port")
    end = port.get("endPort")
    if port.get("protocol") is not None:
        problems.check_choice((*path, "protocol"), port["protocol"], PROTOCOLS)
    if number is not None:
        check_port_reference(problems, (*path, "port"), number)
    if type(end) is not int:
        return
    end_port_path = (*path, "endPort")
    if number is None:
        problems.required((*path, "port"), "must be specified when `endPort` is specified")
    elif type(number) is str:
        problems.invalid(end_port_path, end, "may not be specified when `port` is non-numeric", "use a port number")
    elif type(number) is int and not number <= end <= PORT_MAX:
        why = "must be greater than or equal to `port`" if end < number else f"must be between 1 and {PORT_MAX}"
        problems.invalid(end_port_path, end, why)


def _check_peer(peer: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    set_fields = [key for key in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(key) is not None]
    if not set_fields:
        problems.required(path, "must specify a peer", "select pods, namespaces or an ipBlock")
    for key in set_fields:
        if key != "ipBlock":
            check_selector(peer[key], (*path, key), problems)
    if "ipBlock" in set_fields:
        if len(set_fields) > 1:
            problems.forbidden(path, "may not specify both ipBlock and another peer", "split the peer in two")
        _check_block(as_mapping(peer["ipBlock"]), (*path, "ipBlock"), context, problems)


def _check_block(block: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    text = block.get("cidr")
    if is_empty(text):
        problems.required((*path, "cidr"), help="write it as 10.0.0.0/8")
        return
    if type(text) is not str:
        return
    if why := why_not_cidr(text, context):
        problems.invalid((*path, "cidr"), text, why, "write it as 10.0.0.0/8")
        return
    network = _parse_network(text)
    for index, hole in indexed_texts(block.get("except")):
        hole_path = (*path, "except", index)
        if why := why_not_cidr(hole, context):
            problems.invalid(hole_path, hole, why)
            continue
        inner = _parse_network(hole)
        if inner.version != network.version or inner.prefixlen <= network.prefixlen or inner[0] not in network:
            problems.invalid(hole_path, hole, f"must be a strict subset of `cidr` {quote_value(text)}")


def _parse_network(text: str) -> Any:
    """Return an address range. The server accepts leading zeros, which Python's `ipaddress` does not."""
    import ipaddress

    address, _, bits = text.partition("/")
    if ":" not in address:
        address = ".".join(str(int(part)) for part in address.split("."))
    return ipaddress.ip_network(f"{address}/{int(bits)}", strict=False)
