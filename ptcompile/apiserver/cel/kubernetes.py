"""Types and functions that Kubernetes adds to CEL (apiserver `pkg/cel/library`, 1.36).

Quantities, URLs, IP addresses, CIDRs, semantic versions and named formats. Functions such as `url`
and `ip` parse a text; the others work on the parsed values.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from urllib.parse import parse_qs, unquote, urlsplit

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.cel.values import ABSENT, CelError, Optional, spend, to_timestamp
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import Quantity, is_quantity, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.cel.values import StepBudget

    Overloads = dict[tuple[type, ...] | int, Callable[..., Any]]


class Url(NamedTuple):
    """A URL, split into its parts."""

    scheme: str
    host: str
    path: str
    query: str


class Address(NamedTuple):
    """An IP address."""

    ip: Any


class Cidr(NamedTuple):
    """An IP address with a prefix length."""

    ip: Any
    bits: int


class Semver(NamedTuple):
    """A semantic version without build metadata; `order` is its sort key."""

    major: int
    minor: int
    patch: int
    order: tuple[Any, ...]


class NamedFormat(NamedTuple):
    """A named text format."""

    name: str


def _parse_quantity(_budget: StepBudget, text: str) -> Quantity:
    amount = parse(text)
    if amount is None:
        raise CelError(f"quantity parse error during conversion from string: {text[:60]}")
    return amount


def _as_integer(_budget: StepBudget, amount: Quantity) -> int:
    if not amount.is_integer or not -(2**63) <= amount.value < 2**63:
        raise CelError("cannot convert value to integer")
    return amount.value


def _compare(a: Any, b: Any) -> int:
    return int(a > b) - int(a < b)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:").match


def _split_url(text: str) -> Url | None:
    """Split a URL like Go's `url.ParseRequestURI`, or return None if it is invalid."""
    if not text or any(ord(character) < 0x20 or character == "\x7f" for character in text):
        return None
    before_query, _, _ = text.partition("?")
    if re.search(r" |%(?![0-9A-Fa-f]{2})", before_query):
        return None

    scheme = _SCHEME(text)
    if scheme is None and not text.startswith("/"):
        return None

    rest = text[scheme.end() :] if scheme else text
    # an opaque part, such as mailto:a@b
    if scheme and not rest.startswith("/"):
        return Url(text[: scheme.end() - 1].lower(), "", "", rest.partition("?")[2])

    reference = "//" + rest if rest.startswith("//") else rest
    # a request URI has no fragment
    if scheme:
        reference = rest.replace("#", "%23")
    try:
        parts = urlsplit(reference)
        _ = parts.port
    except ValueError:
        return None

    if scheme is None:
        return Url("", "", before_query, parts.query)

    _, _, host = parts.netloc.rpartition("@")
    return Url(text[: scheme.end() - 1].lower(), unquote(host), parts.path, parts.query)


def _parse_url(budget: StepBudget, text: str) -> Url:
    spend(budget, len(text) // 10)
    url = _split_url(text)
    if url is None:
        raise CelError(
            f'URL parse error during conversion from string: parse "{text[:60]}": invalid URI for '
            "request"
        )
    return url


def _is_url(budget: StepBudget, text: str) -> bool:
    spend(budget, len(text) // 10)
    return _split_url(text) is not None


def _hostname(_budget: StepBudget, url: Url) -> str:
    if url.host.startswith("["):
        return url.host[1:].partition("]")[0]
    name, colon, _ = url.host.rpartition(":")
    return name if colon else url.host


def _port(_budget: StepBudget, url: Url) -> str:
    _, colon, port = url.host.rpartition("]")[2].rpartition(":")
    return port if colon else ""


def _query(budget: StepBudget, url: Url) -> dict[str, list[str]]:
    spend(budget, len(url.query))
    try:
        return parse_qs(url.query, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        return {}


def _read_ip(text: str) -> Any:
    """Parse an IP address without zone and without IPv4 in IPv6, or return None."""
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return None
    if "%" in text or (ip.version == 6 and ip.ipv4_mapped is not None):
        return None
    return ip


def _parse_ip(_budget: StepBudget, text: str) -> Address:
    ip = _read_ip(text)
    if ip is None:
        raise CelError(f'IP Address "{text[:60]}" parse error during conversion from string')
    return Address(ip)


def _read_cidr(text: str) -> Cidr | None:
    address, _, bits = text.partition("/")
    ip = _read_ip(address)
    if ip is None or not is_short_number(bits, 4) or (bits[0] == "0" and bits != "0"):
        return None
    return Cidr(ip, int(bits)) if int(bits) <= ip.max_prefixlen else None


def _parse_cidr(_budget: StepBudget, text: str) -> Cidr:
    cidr = _read_cidr(text)
    if cidr is None:
        raise CelError(f"network address parse error during conversion from string: {text[:60]}")
    return cidr


def _network(budget: StepBudget, cidr: Cidr) -> Any:
    spend(budget, 10)
    return ipaddress.ip_network(
        (int(cidr.ip), cidr.bits) if cidr.ip.version == 6 else f"{cidr.ip}/{cidr.bits}", False
    )


def _contains_ip(budget: StepBudget, cidr: Cidr, address: Address) -> bool:
    return address.ip.version == cidr.ip.version and address.ip in _network(budget, cidr)


def _contains_cidr(budget: StepBudget, cidr: Cidr, inner: Cidr) -> bool:
    return inner.bits >= cidr.bits and _contains_ip(budget, cidr, Address(inner.ip))


_SEMVER = re.compile(
    r"(0|[1-9]\d{0,18})\.(0|[1-9]\d{0,18})\.(0|[1-9]\d{0,18})"
    r"(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)


def _read_semver(text: str, normalize: bool = False) -> Semver | None:
    if normalize:
        numbers = text.removeprefix("v")
        number, *_ = re.split("[-+]", numbers, maxsplit=1)
        suffix = numbers.removeprefix(number)
        parts = [part.lstrip("0") or "0" for part in number.split(".")]
        if len(parts) < 3 and suffix:
            return None

        text = ".".join([*parts, *["0"] * (3 - len(parts))]) + suffix

    match = _SEMVER.fullmatch(text) if len(text) <= 256 else None
    if match is None:
        return None

    major, minor, patch = map(int, match.groups()[:3])
    prerelease = match.group(4)
    identifiers = prerelease.split(".") if prerelease else ()
    keys = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in identifiers)

    return Semver(major, minor, patch, (major, minor, patch, prerelease is None, keys))


def _parse_semver(_budget: StepBudget, text: str, normalize: bool = False) -> Semver:
    version = _read_semver(text, normalize)
    if version is None:
        raise CelError(f"semver parse error during conversion from string: {text[:60]}")
    return version


_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_FORMATS: dict[str, Callable[[str], object]] = {
    "dns1123Label": names.why_not_dns_label,
    "dns1123LabelPrefix": lambda text: names.why_not_dns_label(names.mask_dash(text)),
    "dns1123Subdomain": names.why_not_dns_subdomain,
    "dns1123SubdomainPrefix": lambda text: names.why_not_dns_subdomain(names.mask_dash(text)),
    "dns1035Label": names.why_not_dns_1035_label,
    "dns1035LabelPrefix": lambda text: names.why_not_dns_1035_label(names.mask_dash(text)),
    "qualifiedName": names.why_not_qualified_name,
    "labelValue": names.why_not_label_value,
    "uri": lambda text: None if _split_url(text) else "invalid URI",
    "uuid": lambda text: None if _UUID.fullmatch(text) else "does not match the UUID pattern",
    "byte": lambda text: None if _is_base64(text) else "invalid base64",
    "date": lambda text: _why_not_time(text + "T00:00:00Z", "invalid date"),
    "datetime": lambda text: _why_not_time(text, "invalid datetime"),
}
"""Functions that return why a text does not have the format, or None if it does."""


def _is_base64(text: str) -> bool:
    import base64
    import binascii

    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _why_not_time(text: str, problem: str) -> str | None:
    try:
        to_timestamp(text)
    except CelError:
        return problem
    return None


def _validate(budget: StepBudget, form: NamedFormat, text: str) -> Optional:
    spend(budget, len(text) // 10)
    why = _FORMATS[form.name](text)
    return ABSENT if why is None else Optional(True, [str(why)])


def _is_global_unicast(_budget: StepBudget, address: Address) -> bool:
    ip = address.ip
    is_broadcast = ip.version == 4 and int(ip) == 2**32 - 1
    return not (
        ip.is_unspecified or ip.is_loopback or ip.is_multicast or ip.is_link_local or is_broadcast
    )


def _is_link_local_multicast(_budget: StepBudget, address: Address) -> bool:
    ip = address.ip
    return bool(
        ip in _IPV4_LOCAL_MULTICAST if ip.version == 4 else int(ip) >> 112 & 0xFF0F == 0xFF02
    )


_IPV4_LOCAL_MULTICAST = ipaddress.ip_network("224.0.0.0/24")


def _order_overloads(orders: tuple[int, ...]) -> Overloads:
    return {
        (Quantity, Quantity): lambda _budget, a, b: _compare(a, b) in orders,
        (Semver, Semver): lambda _budget, a, b: _compare(a.order, b.order) in orders,
    }


GLOBALS: dict[str, Overloads] = {
    "quantity": {(str,): _parse_quantity},
    "isQuantity": {(str,): lambda _budget, text: is_quantity(text)},
    "url": {(str,): _parse_url},
    "isURL": {(str,): _is_url},
    "ip": {(str,): _parse_ip},
    "isIP": {(str,): lambda _budget, text: _read_ip(text) is not None},
    "ip.isCanonical": {(str,): lambda budget, text: str(_parse_ip(budget, text).ip) == text},
    "cidr": {(str,): _parse_cidr},
    "isCIDR": {(str,): lambda _budget, text: _read_cidr(text) is not None},
    "semver": {(str,): _parse_semver, (str, bool): _parse_semver},
    "isSemver": {
        (str,): lambda _budget, text: _read_semver(text) is not None,
        (str, bool): lambda _budget, text, normalize: _read_semver(text, normalize) is not None,
    },
    "format.named": {
        (str,): lambda _budget, name: (
            Optional(True, NamedFormat(name)) if name in _FORMATS else ABSENT
        )
    },
    **{f"format.{name}": {0: lambda _budget, name=name: NamedFormat(name)} for name in _FORMATS},
}
MEMBERS: dict[str, Overloads] = {
    "asInteger": {(Quantity,): _as_integer},
    "isInteger": {
        (Quantity,): lambda _budget, value: value.is_integer and -(2**63) <= value.value < 2**63
    },
    "asApproximateFloat": {(Quantity,): lambda _budget, value: value.nano / 10**9},
    "sign": {(Quantity,): lambda _budget, amount: _compare(amount.nano, 0)},
    "add": {
        (Quantity, Quantity): lambda _budget, a, b: a + b,
        (Quantity, int): lambda _budget, a, b: a + Quantity(b * 10**9),
    },
    "sub": {
        (Quantity, Quantity): lambda _budget, a, b: a - b,
        (Quantity, int): lambda _budget, a, b: a - Quantity(b * 10**9),
    },
    "isLessThan": _order_overloads((-1,)),
    "isGreaterThan": _order_overloads((1,)),
    "compareTo": {
        (Quantity, Quantity): lambda _budget, a, b: _compare(a, b),
        (Semver, Semver): lambda _budget, a, b: _compare(a.order, b.order),
    },
    "major": {(Semver,): lambda _budget, value: value.major},
    "minor": {(Semver,): lambda _budget, value: value.minor},
    "patch": {(Semver,): lambda _budget, value: value.patch},
    "getScheme": {(Url,): lambda _budget, value: value.scheme},
    "getHost": {(Url,): lambda _budget, value: value.host},
    "getHostname": {(Url,): _hostname},
    "getPort": {(Url,): _port},
    "getEscapedPath": {(Url,): lambda _budget, value: value.path},
    "getQuery": {(Url,): _query},
    "family": {(Address,): lambda _budget, value: value.ip.version},
    "isUnspecified": {(Address,): lambda _budget, value: value.ip.is_unspecified},
    "isLoopback": {(Address,): lambda _budget, value: value.ip.is_loopback},
    "isLinkLocalMulticast": {(Address,): _is_link_local_multicast},
    "isLinkLocalUnicast": {(Address,): lambda _budget, value: value.ip.is_link_local},
    "isGlobalUnicast": {(Address,): _is_global_unicast},
    "containsIP": {
        (Cidr, Address): _contains_ip,
        (Cidr, str): lambda budget, cidr, text: _contains_ip(budget, cidr, _parse_ip(budget, text)),
    },
    "containsCIDR": {
        (Cidr, Cidr): _contains_cidr,
        (Cidr, str): lambda budget, cidr, text: _contains_cidr(
            budget, cidr, _parse_cidr(budget, text)
        ),
    },
    "ip": {(Cidr,): lambda _budget, cidr: Address(cidr.ip)},
    "masked": {
        (Cidr,): lambda budget, cidr: Cidr(_network(budget, cidr).network_address, cidr.bits)
    },
    "prefixLength": {(Cidr,): lambda _budget, value: value.bits},
    "validate": {(NamedFormat, str): _validate},
}
STRING_OVERLOADS: Overloads = {
    (Address,): lambda _budget, address: str(address.ip),
    (Cidr,): lambda _budget, cidr: f"{cidr.ip}/{cidr.bits}",
}
"""Overloads of `string()` for these types."""
