"""Ingress, IngressClass and NetworkPolicy."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.dns import is_ip, why_not_cidr
from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.apiserver.validation.service import why_not_service_name
from ptcompile.apiserver.validation.values import PORT_MAX, PROTOCOLS, check_port_number, check_port_reference
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_SEQUENCES: Final = ("//", "/./", "/../", "%2f", "%2F")
_ENDS: Final = ("/..", "/.")
_CONTROLLER_MAX: Final = 250


def check_ingress(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """An Ingress without its metadata."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    backend, rules, name = spec.get("defaultBackend"), spec.get("rules"), spec.get("ingressClassName")
    if backend is None and not rules:
        f.invalid(found, path, spec, "either `defaultBackend` or `rules` must be specified", "add a rule")
    if type(backend) is dict:
        _check_backend(backend, (*path, "defaultBackend"), context, found)
    for index, rule in f.indexed_mappings(rules):
        _check_rule(rule, (*path, "rules", index), context, found)
    for index, tls in f.indexed_mappings(spec.get("tls")):
        hosts = tls.get("hosts")
        for number, host in enumerate(hosts if type(hosts) is list else ()):
            if type(host) is str:
                _check_host(host, (*path, "tls", index, "hosts", number), found)
        secret = tls.get("secretName")
        if type(secret) is str and secret and (why := names.why_not_dns_subdomain(secret)):
            f.invalid(found, (*path, "tls", index, "secretName"), secret, why)
    if type(name) is str and (why := names.why_not_dns_subdomain(name)):
        f.invalid(found, (*path, "ingressClassName"), name, why)
    notes = f.as_field_mapping(f.as_field_mapping(manifest.get("metadata")).get("annotations"))
    if name is not None and notes.get(_CLASS_ANNOTATION):
        here = ("metadata", "annotations", _CLASS_ANNOTATION)
        why = "can not be set when the class field is also set"
        f.invalid(found, here, notes[_CLASS_ANNOTATION], why, "remove the annotation", f.key_path(here))


def _check_host(host: str, path: Path, found: f.Problems) -> None:
    why = names.why_not_dns_subdomain(host.removeprefix("*."))
    if why:
        f.invalid(found, path, host, why)


def _check_rule(rule: dict[str, Any], path: Path, context: ApiServer, found: f.Problems) -> None:
    host = rule.get("host")
    if type(host) is str and host:
        if is_ip(host):
            f.invalid(found, (*path, "host"), host, "must be a DNS name, not an IP address")
        else:
            _check_host(host, (*path, "host"), found)
    http = rule.get("http")
    if type(http) is not dict:
        return
    if not http.get("paths"):
        f.required(found, (*path, "http", "paths"))
    for index, one in f.indexed_mappings(http.get("paths")):
        _check_path(one, (*path, "http", "paths", index), found)
        _check_backend(
            f.as_field_mapping(one.get("backend")), (*path, "http", "paths", index, "backend"), context, found
        )


def _check_path(one: dict[str, Any], path: Path, found: f.Problems) -> None:
    kind, text = one.get("pathType"), one.get("path") or ""
    if kind is None:
        f.required(found, (*path, "pathType"), "pathType must be specified", "use Prefix, or Exact")
        return
    if type(kind) is not str or type(text) is not str:
        return
    f.check_choice(found, (*path, "pathType"), kind, _PATH_TYPES)
    strict = kind in ("Exact", "Prefix")
    if (strict or text) and not text.startswith("/"):
        f.invalid(found, (*path, "path"), text, "must be an absolute path", f"write /{text}")
    elif strict:
        for part in _SEQUENCES:
            if part in text:
                f.invalid(found, (*path, "path"), text, f"must not contain '{part}'")
        for end in _ENDS:
            if text.endswith(end):
                f.invalid(found, (*path, "path"), text, f"cannot end with '{end}'")


def _check_backend(backend: dict[str, Any], path: Path, context: ApiServer, found: f.Problems) -> None:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        f.invalid(found, path, "", "cannot set both resource and service backends", "keep one of the two")
    elif type(resource) is dict:
        _check_object(resource, (*path, "resource"), found)
    elif service is None:
        f.required(found, path, "resource or service backend is required", "name the service and its port")
    elif type(service) is dict:
        name, port = service.get("name"), f.as_field_mapping(service.get("port"))
        if name is None or name == "":
            f.required(found, (*path, "service", "name"))
        elif type(name) is str and (why := why_not_service_name(name, context)):
            f.invalid(found, (*path, "service", "name"), name, why)
        _check_port(port, (*path, "service", "port"), found)


def _check_port(port: dict[str, Any], path: Path, found: f.Problems) -> None:
    name, number = port.get("name"), port.get("number")
    if name and number:
        f.invalid(found, path, "", "cannot set both port name & port number", "keep one of the two")
    elif type(name) is str and name:
        if why := names.why_not_port_name(name):
            f.invalid(found, (*path, "name"), name, why)
    elif number:
        check_port_number(found, (*path, "number"), number)
    else:
        f.required(found, path, "port name or number is required")


def _check_object(reference: dict[str, Any], path: Path, found: f.Problems) -> None:
    group = reference.get("apiGroup")
    if type(group) is str and (why := names.why_not_dns_subdomain(group)):
        f.invalid(found, (*path, "apiGroup"), group, why)
    for name in ("kind", "name"):
        if f.is_empty(reference.get(name)):
            f.required(found, (*path, name))


def check_ingress_class(manifest: Mapping[str, Any], context: ApiServer, found: f.Problems) -> None:
    """An IngressClass without its metadata."""
    spec = f.as_field_mapping(manifest.get("spec"))
    controller, parameters = spec.get("controller") or "", spec.get("parameters")
    here = ("spec", "controller")
    if type(controller) is str and len(controller) > _CONTROLLER_MAX:
        f.too_long(found, here, _CONTROLLER_MAX)
    if type(controller) is str and (why := names.why_not_domain_prefixed_path(controller)):
        f.invalid(found, here, controller, why)
    if type(parameters) is not dict:
        return
    path = ("spec", "parameters")
    _check_object(parameters, path, found)
    scope, namespace = parameters.get("scope", "Cluster"), parameters.get("namespace")
    f.check_choice(found, (*path, "scope"), scope, ("Cluster", "Namespace"))
    if scope == "Namespace":
        if not namespace:
            f.required(found, (*path, "namespace"), "`parameters.scope` is set to 'Namespace'")
        elif type(namespace) is str and (why := names.why_not_dns_label(namespace)):
            f.invalid(found, (*path, "namespace"), namespace, why)
    elif namespace is not None and scope == "Cluster":
        f.forbidden(found, (*path, "namespace"), "`parameters.scope` is set to 'Cluster'")


_TYPES: Final = ("Egress", "Ingress")


def check_network_policy(manifest: Any, context: ApiServer, found: f.Problems) -> None:
    """A NetworkPolicy without its metadata."""
    spec, path = f.as_field_mapping(manifest.get("spec")), ("spec",)
    check_selector(spec.get("podSelector"), (*path, "podSelector"), found)
    for side, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in f.indexed_mappings(spec.get(side)):
            here = (*path, side, index)
            for number, port in f.indexed_mappings(rule.get("ports")):
                _check_policy_port(port, (*here, "ports", number), found)
            for number, peer in f.indexed_mappings(rule.get(peers)):
                _check_peer(peer, (*here, peers, number), context, found)
    kinds = spec.get("policyTypes")
    if type(kinds) is list:
        if len(kinds) > len(_TYPES):
            why = "may not specify more than two policyTypes"
            f.invalid(found, (*path, "policyTypes"), kinds, why, "name each type once")
            return
        for index, kind in enumerate(kinds):
            f.check_choice(found, (*path, "policyTypes", index), "" if kind is None else kind, _TYPES)


def _check_policy_port(port: dict[str, Any], path: Path, found: f.Problems) -> None:
    number, end = port.get("port"), port.get("endPort")
    if port.get("protocol") is not None:
        f.check_choice(found, (*path, "protocol"), port["protocol"], PROTOCOLS)
    if number is not None:
        check_port_reference(found, (*path, "port"), number)
    if type(end) is not int:
        return
    here = (*path, "endPort")
    if number is None:
        f.required(found, (*path, "port"), "must be specified when `endPort` is specified")
    elif type(number) is str:
        f.invalid(found, here, end, "may not be specified when `port` is non-numeric", "use a port number")
    elif type(number) is int and not number <= end <= PORT_MAX:
        why = "must be greater than or equal to `port`" if end < number else f"must be between 1 and {PORT_MAX}"
        f.invalid(found, here, end, why)


def _check_peer(peer: dict[str, Any], path: Path, context: ApiServer, found: f.Problems) -> None:
    given = [key for key in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(key) is not None]
    if not given:
        f.required(found, path, "must specify a peer", "select pods, namespaces or an ipBlock")
    for key in given:
        if key != "ipBlock":
            check_selector(peer[key], (*path, key), found)
    if "ipBlock" in given:
        if len(given) > 1:
            f.forbidden(found, path, "may not specify both ipBlock and another peer", "make two peers of them")
        _check_block(f.as_field_mapping(peer["ipBlock"]), (*path, "ipBlock"), context, found)


def _check_block(block: dict[str, Any], path: Path, context: ApiServer, found: f.Problems) -> None:
    text = block.get("cidr")
    if f.is_empty(text):
        f.required(found, (*path, "cidr"), help="write it as 10.0.0.0/8")
        return
    if type(text) is not str:
        return
    if why := why_not_cidr(text, context):
        f.invalid(found, (*path, "cidr"), text, why, "write it as 10.0.0.0/8")
        return
    network = _network(text)
    holes = block.get("except")
    for index, hole in enumerate(holes if type(holes) is list else ()):
        here, hole = (*path, "except", index), "" if hole is None else hole
        if type(hole) is not str:
            continue
        if why := why_not_cidr(hole, context):
            f.invalid(found, here, hole, why)
            continue
        inner = _network(hole)
        if inner.version != network.version or inner.prefixlen <= network.prefixlen or inner[0] not in network:
            f.invalid(found, here, hole, f"must be a strict subset of `cidr` {f.quote_value(text)}")


def _network(text: str) -> Any:
    """A range of addresses; the server takes leading zeros, which Python does not."""
    import ipaddress

    address, _, bits = text.partition("/")
    if ":" not in address:
        address = ".".join(str(int(part)) for part in address.split("."))
    return ipaddress.ip_network(f"{address}/{int(bits)}", strict=False)
