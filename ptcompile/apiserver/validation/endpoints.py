"""Endpoints and EndpointSlice.

Source: Kubernetes 1.36 `pkg/apis/core/validation` and `pkg/apis/discovery/validation`, in their order and words.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.dns import is_ip, is_mapped_ip, why_not_ip, why_special_ip
from ptcompile.apiserver.validation.metadata import why_not_key, why_not_value
from ptcompile.apiserver.validation.values import PROTOCOLS, check_port_number
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_ENDPOINTS_MAX: Final = 1000
_ADDRESSES_MAX: Final = 100
_PORTS_MAX: Final = 20_000
_HINTS_MAX: Final = 8


def check_endpoints(manifest: Mapping[str, Any], context: ApiServer, problems: f.Problems) -> None:
    """Check Endpoints, except their metadata."""
    for index, subset in f.indexed_mappings(manifest.get("subsets")):
        path = ("subsets", index)
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            why = "must specify `addresses` or `notReadyAddresses`"
            f.required(problems, path, why, "add an address, or remove the subset")
        for key in ("addresses", "notReadyAddresses"):
            for number, address in f.indexed_mappings(subset.get(key)):
                _check_address(address, (*path, key, number), context, problems)
        ports = subset.get("ports")
        for number, port in f.indexed_mappings(ports):
            _check_subset_port(port, len(ports or ()) > 1, (*path, "ports", number), problems)


def _check_address(address: dict[str, Any], path: Path, context: ApiServer, problems: f.Problems) -> None:
    ip, host = address.get("ip") or "", address.get("hostname")
    if type(ip) is str and (why := why_not_ip(ip, context) or why_special_ip(ip)):
        f.invalid(problems, (*path, "ip"), ip, why)
    if type(host) is str and host and (why := names.why_not_dns_label(host)):
        f.invalid(problems, (*path, "hostname"), host, why)
    _check_node(address.get("nodeName"), (*path, "nodeName"), problems)


def _check_node(name: Any, path: Path, problems: f.Problems) -> None:
    if type(name) is str and (why := names.why_not_dns_subdomain(name)):
        f.invalid(problems, path, name, why)


def _check_subset_port(port: dict[str, Any], needs_name: bool, path: Path, problems: f.Problems) -> None:
    name, number, protocol = port.get("name"), port.get("port"), port.get("protocol") or "TCP"
    if needs_name and f.is_empty(name):
        f.required(problems, (*path, "name"), help="name each port if there are several")
    elif type(name) is str and name and (why := names.why_not_dns_label(name)):
        f.invalid(problems, (*path, "name"), name, why)
    check_port_number(problems, (*path, "port"), 0 if number is None else number)
    f.check_choice(problems, (*path, "protocol"), protocol, PROTOCOLS)
    _check_application(port.get("appProtocol"), (*path, "appProtocol"), problems)


def _check_application(protocol: Any, path: Path, problems: f.Problems) -> None:
    if type(protocol) is str and (why := why_not_key(protocol)):
        f.invalid(problems, path, protocol, why)


def check_endpoint_slice(manifest: Mapping[str, Any], context: ApiServer, problems: f.Problems) -> None:
    """Check an EndpointSlice, except its metadata."""
    kind, endpoints = manifest.get("addressType"), manifest.get("endpoints")
    if f.is_empty(kind):
        f.required(problems, ("addressType",))
    else:
        f.check_choice(problems, ("addressType",), kind, ("FQDN", "IPv4", "IPv6"))
    if type(endpoints) is list and len(endpoints) > _ENDPOINTS_MAX:
        f.too_many(problems, ("endpoints",), len(endpoints), _ENDPOINTS_MAX)
    else:
        for index, endpoint in f.indexed_mappings(endpoints):
            _check_endpoint(endpoint, kind, ("endpoints", index), context, problems)
    ports = manifest.get("ports")
    if type(ports) is list and len(ports) > _PORTS_MAX:
        f.too_many(problems, ("ports",), len(ports), _PORTS_MAX)
        return
    seen: set[str] = set()
    for index, port in f.indexed_mappings(ports):
        _check_slice_port(port, ("ports", index), seen, problems)


def _check_endpoint(endpoint: dict[str, Any], kind: Any, path: Path, context: ApiServer, problems: f.Problems) -> None:
    addresses, addresses_path = endpoint.get("addresses"), (*path, "addresses")
    if not addresses:
        f.required(problems, addresses_path, "must contain at least 1 address")
    elif type(addresses) is list and len(addresses) > _ADDRESSES_MAX:
        f.too_many(problems, addresses_path, len(addresses), _ADDRESSES_MAX)
    for index, text in f.indexed_texts(addresses):
        if why := _why_not_address(text, kind, context):
            f.invalid(problems, (*addresses_path, index), text, why)
    _check_node(endpoint.get("nodeName"), (*path, "nodeName"), problems)
    host = endpoint.get("hostname")
    if type(host) is str and (why := names.why_not_dns_label(host)):
        f.invalid(problems, (*path, "hostname"), host, why)
    hints = f.as_field_mapping(endpoint.get("hints"))
    _check_hints(hints.get("forZones"), (*path, "hints", "forZones"), why_not_value, problems)
    if context.has_gate("PreferSameTrafficDistribution", 34):
        _check_hints(hints.get("forNodes"), (*path, "hints", "forNodes"), names.why_not_dns_subdomain, problems)


def _why_not_address(text: str, kind: Any, context: ApiServer) -> str | None:
    """Return why a text cannot be an address of this type, or None. The server accepts any text of unknown types."""
    if kind == "FQDN":
        return _why_not_full_name(text)
    if kind not in ("IPv4", "IPv6"):
        return None
    if not is_ip(text) or (":" in text and not is_mapped_ip(text)) != (kind == "IPv6"):
        return f"must be a valid {kind} address"
    return why_not_ip(text, context) or why_special_ip(text)


def _why_not_full_name(text: str) -> str | None:
    name = text.removesuffix(".")
    if why := names.why_not_dns_subdomain(name):
        return why
    labels = name.split(".")
    if len(labels) < 2:
        return "should be a domain with at least two segments separated by dots"
    return next((why for label in labels if (why := names.why_not_dns_label(label))), None)


def _check_hints(hints: Any, path: Path, why_not_name: Any, problems: f.Problems) -> None:
    if type(hints) is list and len(hints) > _HINTS_MAX:
        f.too_many(problems, path, len(hints), _HINTS_MAX)
        return
    seen: set[str] = set()
    for index, hint in f.indexed_mappings(hints):
        name = hint.get("name") or ""
        if type(name) is not str:
            continue
        if name in seen:
            f.duplicate(problems, (*path, index, "name"), name)
        seen.add(name)
        if why := why_not_name(name):
            f.invalid(problems, (*path, index, "name"), name, why)


def _check_slice_port(port: dict[str, Any], path: Path, seen: set[str], problems: f.Problems) -> None:
    name = port.get("name") or ""
    if type(name) is str:
        if name and (why := names.why_not_dns_label(name)):
            f.invalid(problems, (*path, "name"), name, why)
        if name in seen:
            f.duplicate(problems, (*path, "name"), name, "name each port differently")
        seen.add(name)
    protocol = port.get("protocol")
    f.check_choice(problems, (*path, "protocol"), "TCP" if protocol is None else protocol, PROTOCOLS)
    _check_application(port.get("appProtocol"), (*path, "appProtocol"), problems)
