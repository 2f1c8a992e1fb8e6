"""Endpoints, which people write for Services without selectors.

Source: Kubernetes 1.36 `pkg/apis/core/validation`, in its order and words.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.dns import why_not_ip, why_special_ip
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.apiserver.validation.values import PROTOCOLS, check_port_number
from ptcompile.diagnostics import Path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
