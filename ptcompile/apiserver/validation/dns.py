"""Names and name resolution of a pod: hostname, dnsConfig, hostAliases.

Source: docs/facts/api-server.md#scheduling-and-the-pod 151 to 156, 161, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.diagnostics.field_errors import label_help
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer

POLICIES = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_SERVERS_MAX = 3
_SEARCHES_MAX = 32
_SEARCH_CHARACTERS_MAX = 2048
_HOSTNAME_OVERRIDE_MAX = 64
_is_v4 = Pattern(
    r"(?:0*(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})\.){3}0*(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})"
).fullmatch


def has_leading_zero(text: str) -> bool:
    """Return whether an IPv4 address has a number with a leading zero, which other programs read
    as octal.
    """
    return ":" not in text and any(len(part) > 1 and part[0] == "0" for part in text.split("."))


def why_not_ip(text: str, context: ApiServer) -> str | None:
    """Return why a text is not an IP address, or None. Since 1.36 the server rejects forms that
    other programs read differently.
    """
    if not is_ip(text):
        return "must be a valid IP address"
    if context.has_gate("StrictIPCIDRValidation", 36):
        if has_leading_zero(text):
            return "must not have leading 0s"
        if is_mapped_ip(text):
            return "must not be an IPv4-mapped IPv6 address"
    return None


def why_not_canonical_ip(text: str) -> str | None:
    """Return why a text cannot be the name of an IPAddress, or None: it must be an IP address in
    canonical form.
    """
    import ipaddress

    if not is_ip(text):
        return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    if is_mapped_ip(text):
        return "must not be an IPv4-mapped IPv6 address"

    try:
        canonical = str(ipaddress.ip_address(text))
    except ValueError:
        return "must not have leading 0s"

    if canonical == text:
        return None

    return f'must be in canonical form ("{canonical}")'


def is_mapped_ip(text: str) -> bool:
    """Return whether an IP address is an IPv4 address written as IPv6, such as `::ffff:1.2.3.4` or
    `::ffff:0102:0304`. Go counts it as IPv4.
    """
    import ipaddress

    return ":" in text and ipaddress.IPv6Address(text).ipv4_mapped is not None


def why_special_ip(text: str) -> str | None:
    """Return why an endpoint or a Service may not have this IP address, or None
    (`ValidateNonSpecialIP`).
    """
    import ipaddress

    if not is_ip(text):
        return "must be a valid IP address"

    plain = text if ":" in text else ".".join(str(int(part)) for part in text.split("."))
    ip = ipaddress.ip_address(plain)
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.is_unspecified:
        return f"may not be unspecified ({text})"
    if ip.is_loopback:
        return "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    if ip.is_link_local:
        return "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
    if ip in ipaddress.ip_network("224.0.0.0/24" if ip.version == 4 else "ff02::/16"):
        return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"

    return None


def why_not_cidr(text: str, context: ApiServer) -> str | None:
    """Return why a text is not an address range, or None. Since 1.36 its address must be the
    first of the range.
    """
    if not is_cidr(text):
        return "must be a valid CIDR value"

    address, _, bits = text.partition("/")
    if not context.has_gate("StrictIPCIDRValidation", 36):
        return None
    if why := why_not_ip(address, context):
        return why

    import ipaddress

    if len(bits) > 1 and bits[0] == "0":
        return "must not have leading 0s in the prefix length"

    network = ipaddress.ip_network(text, strict=False)
    if network.network_address == ipaddress.ip_address(address):
        return None

    return "must not have bits set beyond the prefix length"


def is_ip(text: str) -> bool:
    """Return whether a text is an IP address: IPv4, leading zeros allowed, or IPv6 without a
    zone.
    """
    if ":" not in text:
        return len(text) < 64 and _is_v4(text) is not None
    import ipaddress

    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def is_cidr(text: str) -> bool:
    """Return whether a text is an address range such as `10.0.0.0/8`."""
    address, _, bits = text.partition("/")
    wide = 128 if ":" in address else 32

    return is_short_number(bits, 4) and int(bits) <= wide and is_ip(address)


def check_dns_policy(policy: FieldValue) -> None:
    """Check `spec.dnsPolicy`, and `dnsConfig` if the policy is None."""
    if not policy.value:
        return

    policy.check_choice(POLICIES)
    if policy.value != "None":
        return

    config = policy.pod["dnsConfig"]
    config.check_set("must provide `dnsConfig` when `dnsPolicy` is None", "name the servers to ask")
    if config.is_mapping and not config.get("nameservers"):
        config["nameservers"].required(
            "must provide at least one DNS nameserver when `dnsPolicy` is None"
        )


def check_dns_config(config: FieldValue) -> None:
    """Check `spec.dnsConfig`."""
    servers = config["nameservers"]
    if servers.is_list and len(servers.value) > _SERVERS_MAX:
        servers.invalid(f"must not have more than {_SERVERS_MAX} nameservers")
    for server in servers.texts():
        _check_ip(server)
    _check_searches(config["searches"])
    for option in config["options"].objects():
        if option["name"].is_empty:
            option.required("must not be empty", "name the option, for example ndots")


def _check_ip(ip: FieldValue) -> None:
    ip.check_text(lambda text: why_not_ip(text, ip.server))


def _check_searches(searches: FieldValue) -> None:
    if not searches.is_list:
        return

    texts = searches.strings
    if len(texts) > _SEARCHES_MAX:
        searches.replaced(texts).invalid(f"must not have more than {_SEARCHES_MAX} search paths")
    if len(" ".join(texts)) > _SEARCH_CHARACTERS_MAX:
        searches.replaced(texts).invalid(
            f"must not have more than {_SEARCH_CHARACTERS_MAX} characters"
        )

    # the gate allows '_' and a lone '.'
    relaxed = searches.server.has_gate("RelaxedDNSSearchValidation", 33)
    for search in searches.items(texts):
        if relaxed and search.value == ".":
            continue
        text = search.value.removesuffix(".")
        if relaxed:
            text = text.replace("_", "a")
        if why := names.why_not_dns_subdomain(text):
            search.invalid(why)


def check_host_aliases(aliases: FieldValue) -> None:
    """Check `spec.hostAliases`."""
    for alias in aliases.objects():
        _check_ip(alias["ip"].or_default(""))
        for host in alias["hostnames"].texts():
            host.check_text(names.why_not_dns_subdomain)


def check_label_field(label: FieldValue) -> None:
    """Check `spec.hostname` and `spec.subdomain`: one DNS label each."""
    text = label.value
    if type(text) is str and text and (why := names.why_not_dns_label(text)):
        label.invalid(why, label_help(text))


def check_hostname_override(hostname: FieldValue) -> None:
    """Check `spec.hostnameOverride` (Kubernetes 1.35 and later; older servers drop it)."""
    if not hostname.is_text or not hostname.server.has_gate("HostnameOverride", 35):
        return

    for key in ("setHostnameAsFQDN", "hostNetwork"):
        if hostname.pod.get(key) is True:
            hostname.forbidden(f"may not be specified when {key} is true")
    if len(hostname.value) > _HOSTNAME_OVERRIDE_MAX:
        hostname.too_long(_HOSTNAME_OVERRIDE_MAX)
    else:
        hostname.check_text(names.why_not_dns_subdomain)
