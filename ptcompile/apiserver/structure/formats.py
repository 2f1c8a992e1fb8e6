"""String formats that the API server checks in CRDs (apiextensions-apiserver; go-openapi's
`strfmt`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.structure.scalars import check_base64, check_crd_time
from ptcompile.apiserver.structure.violations import (
    SchemaViolation,
    ValueCheck,
    Violations,
    format_value,
)
from ptcompile.kubernetes.names import is_dns_label, is_dns_subdomain
from ptcompile.kubernetes.versions import Version

FormatCheck = Callable[[str], bool]

_UUID = "[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"


def _match_whole_text(text: str) -> FormatCheck:
    match = re.compile(text, re.ASCII | re.IGNORECASE).fullmatch
    return lambda value: match(value) is not None


def _is_date(value: str) -> bool:
    from datetime import date

    # fromisoformat also reads dates without dashes and weeks
    if len(value) != 10 or value[7] != "-":
        return False

    try:
        date.fromisoformat(value)
    except ValueError:
        return False

    return True


def _is_address(version: int) -> FormatCheck:
    def is_valid(value: str) -> bool:
        import ipaddress

        try:
            return ipaddress.ip_address(value).version == version
        except ValueError:
            return False

    return is_valid


def _is_cidr(value: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return False
    return "/" in value


def _is_uri(value: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(value) and " " not in value and (bool(parts.scheme) or value.startswith("/"))


FORMATS: dict[str, FormatCheck] = {
    "datetime": lambda value: check_crd_time(value) is None,
    "byte": lambda value: check_base64(value) is None,
    "date": _is_date,
    "duration": _match_whole_text(
        r"[+-]?(?:\d+\s*(?:ns|us|µs|μs|ms|s|m|h|d|w|[a-z]+)\s*)+|[+-]?(?:[0-9]*(?:\.[0-9]*)?[a-zµμ]+)+|0"
    ),
    "email": _match_whole_text(r"(?:[^<>]*<)?[^@\s<>]+@[^@\s<>]+>?"),
    "hostname": _match_whole_text(
        r"(?=.{1,255})[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.?"
    ),
    "ipv4": _is_address(4),
    "ipv6": _is_address(6),
    "cidr": _is_cidr,
    "uri": _is_uri,
    "mac": _match_whole_text(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}"),
    "uuid": _match_whole_text(_UUID % ("[0-9a-f]", "[0-9a-f]")),
    "uuid3": _match_whole_text(_UUID % ("3", "[0-9a-f]")),
    "uuid4": _match_whole_text(_UUID % ("4", "[89ab]")),
    "uuid5": _match_whole_text(_UUID % ("5", "[89ab]")),
    "hexcolor": _match_whole_text(r"#?(?:[0-9a-f]{3}|[0-9a-f]{6})"),
    "bsonobjectid": _match_whole_text(r"[0-9a-f]{24}"),
}
"""Checks keyed by format name without dashes. The API server ignores all other formats, too."""

_FORMATS_BY_VERSION: dict[str, tuple[Version, FormatCheck]] = {
    "k8sshortname": ((1, 34), is_dns_label),
    "k8slongname": ((1, 34), is_dns_subdomain),
}
"""Formats that older servers ignore, with the first version that checks them."""


def compile_format(name: str, server: Version) -> ValueCheck | None:
    """Return the check of a format, or None if the server does not check it."""
    key = name.replace("-", "")
    since, is_valid = _FORMATS_BY_VERSION.get(key, ((1, 0), FORMATS.get(key)))
    if is_valid is None or server < since:
        return None

    def check(value: Any) -> Violations:
        if is_valid(value):
            return None
        return [
            SchemaViolation(
                "invalid-value",
                f"Invalid value: {format_value(value)}: must be of type {name}",
                f"write a {name}",
            )
        ]

    return check
