"""Warnings about IP addresses and ranges that are not in canonical form.

Source: Kubernetes 1.36, apimachinery/pkg/util/validation/ip.go: GetWarningsForIP,
GetWarningsForCIDR (1.33); before, pkg/api/service/warnings.go.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.dns import has_leading_zero, is_cidr, is_ip
from ptcompile.apiserver.warnings.header import warning
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.diagnostics.field_errors import quote_value
from ptcompile.kubernetes.requests import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
    from typing import Any

    IpAddress = IPv4Address | IPv6Address
    IpNetwork = IPv4Network | IPv6Network

_FUTURE = "will be considered invalid in a future Kubernetes release: use"
_FUTURE_BEFORE_33 = "was accepted, but will be invalid in a future Kubernetes release"
_LOOPS_BEFORE_33 = "which may cause controller apply-loops"


def _warn(path: Path, text: str, canonical: str, field: str | None = None) -> Problem:
    return warning("noncanonical-address", path, text, f"write {canonical}", field=field)


def ip_warnings(value: Any, path: Path, server: ApiServer) -> Problems:
    """Yield a warning if an IP address is not in canonical form (Kubernetes 1.33 and later)."""
    if type(value) is not str or not server.at_least(33) or not is_ip(value):
        return

    canonical = _canonical_ip(value)
    if _is_nonstandard(value):
        yield _warn(
            path,
            f"non-standard IP address {quote_value(value)} {_FUTURE} {quote_value(canonical)}",
            canonical,
        )
    elif ":" in value and canonical != value:
        form = f"should be in RFC 5952 canonical format ({quote_value(canonical)})"
        yield _warn(path, f"IPv6 address {quote_value(value)} {form}", canonical)


def cidr_warnings(
    value: Any, path: Path, server: ApiServer, *, field: str | None = None
) -> Problems:
    """Yield warnings about an address range: bits after the prefix, a form to avoid (Kubernetes
    1.33 and later).

    `field` is the server's own notation of the path if it differs.
    """
    if type(value) is not str or not server.at_least(33) or not is_cidr(value):
        return

    address, _, bits = value.partition("/")
    is_clear = True
    ip = _parse_ip(address)
    network = _network(value)
    if int(ip) != int(network.network_address):
        is_clear = False
        single = f"{_canonical_ip(address)}/{128 if ':' in address else 32}"
        canonical = _canonical_network(network)
        choices = f"(should be {quote_value(canonical)} or {quote_value(single)}?)"
        yield _warn(
            path,
            f"CIDR value {quote_value(value)} is ambiguous in this context {choices}",
            canonical,
            field,
        )

    if _is_nonstandard(address) or bits != str(int(bits)):
        is_clear = False
        canonical = _canonical_network(network)
        text = f"non-standard CIDR value {quote_value(value)} {_FUTURE} {quote_value(canonical)}"
        yield _warn(path, text, canonical, field)
    if is_clear and ":" in address and str(network) != value:
        form = f"should be in RFC 5952 canonical format ({quote_value(str(network))})"
        yield _warn(path, f"IPv6 CIDR value {quote_value(value)} {form}", str(network), field)


def service_ip_warnings(value: Any, path: Path, server: ApiServer) -> Problems:
    """Yield the warnings about an address of a Service, which servers before 1.33 word
    differently.
    """
    if server.at_least(33) or type(value) is not str:
        yield from ip_warnings(value, path, server)
    elif not is_ip(value) or has_leading_zero(value):
        why = "IPv4 field has octet with leading zero" if is_ip(value) else "unable to parse IP"
        canonical = _canonical_ip(value) if is_ip(value) else "an IP address"
        yield _warn(
            path,
            f"IP address {_FUTURE_BEFORE_33}: ParseAddr({quote_value(value)}): {why}",
            canonical,
        )
    elif ":" in value and (canonical := _plain_ip(value)) != value:
        form = f"is not in RFC 5952 canonical format ({quote_value(canonical)}), {_LOOPS_BEFORE_33}"
        yield _warn(path, f"IPv6 address {quote_value(value)} {form}", canonical)


def service_cidr_warnings(value: Any, path: Path, server: ApiServer) -> Problems:
    """Yield the warnings about an address range of a Service, which servers before 1.33 word
    differently.
    """
    if server.at_least(33) or type(value) is not str or not is_cidr(value):
        yield from cidr_warnings(value, path, server)
        return

    address, _, bits = value.partition("/")
    if has_leading_zero(address) or bits != str(int(bits)):
        text = f"IP prefix {_FUTURE_BEFORE_33}: netip.ParsePrefix({quote_value(value)})"
        yield _warn(path, text, _canonical_network(_network(value)))
    elif ":" in address and (canonical := f"{_plain_ip(address)}/{bits}") != value:
        form = f"is not in RFC 5952 canonical format ({quote_value(canonical)}), {_LOOPS_BEFORE_33}"
        yield _warn(path, f"IPv6 prefix {quote_value(value)} {form}", canonical)


def _is_nonstandard(text: str) -> bool:
    return has_leading_zero(text) or _mapped_ip(text) is not None


def _mapped_ip(text: str) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address contains (`::ffff:1.2.3.4`), or None."""
    from ipaddress import IPv6Address

    return IPv6Address(text).ipv4_mapped if ":" in text else None


def _parse_ip(text: str) -> IpAddress:
    from ipaddress import IPv4Address, IPv6Address

    if ":" in text:
        return IPv6Address(text)
    return IPv4Address(".".join(str(int(part)) for part in text.split(".")))


def _canonical_ip(text: str) -> str:
    """Return an address as Go's `net.IP` prints it."""
    return str(_mapped_ip(text) or _parse_ip(text))


def _plain_ip(text: str) -> str:
    """Return an address as Go's `netip.Addr` prints it."""
    mapped = _mapped_ip(text)
    return f"::ffff:{mapped}" if mapped else str(_parse_ip(text))


def _network(value: str) -> IpNetwork:
    from ipaddress import ip_network

    address, _, bits = value.partition("/")
    return ip_network(f"{_parse_ip(address)}/{int(bits)}", strict=False)


def _canonical_network(network: IpNetwork) -> str:
    """Return a network as Go's `net.IPNet` prints it: one of mapped addresses as an IPv4
    network.
    """
    address = network.network_address
    mapped = address.ipv4_mapped if address.version == 6 else None
    if mapped and network.prefixlen >= 96:
        return f"{mapped}/{network.prefixlen - 96}"
    return str(network)
